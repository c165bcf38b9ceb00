package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// maxStream is how much of one response is read: a stream of events may hold
// more than one message.
const maxStream = maxLine

// A road is how a server is reached by HTTP. It adds the user's headers to
// requests to the server itself and to nobody else, bounds what comes back, and
// ends whatever is under way when it is closed.
type road struct {
	base    *http.Transport
	origin  string
	headers map[string]string
	ctx     context.Context
	close   context.CancelFunc
}

func newRoad(address string, headers map[string]string) (*road, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("its url is no address that begins with http:// or https://")
	}
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.MaxResponseHeaderBytes = 256 << 10
	r := &road{base: base, origin: origin(u), headers: headers}
	r.ctx, r.close = context.WithCancel(context.Background())
	return r, nil
}

// client is what the SDK sends its requests with.
func (r *road) client() *http.Client {
	return &http.Client{Transport: r, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		switch {
		case origin(req.URL) != r.origin:
			return fmt.Errorf("it leads on to %s, and what is meant for one server is not sent to another; give that address as url if it is the right one", origin(req.URL))
		case len(via) > 5:
			return errors.New("it leads on and on")
		}
		return nil
	}}
}

// origin is what has to be the same for two addresses to be one server.
func origin(u *url.URL) string { return strings.ToLower(u.Scheme + "://" + u.Host) }

// RoundTrip implements [http.RoundTripper].
func (r *road) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	stop := context.AfterFunc(r.ctx, cancel)
	end := func() {
		stop()
		cancel()
	}
	req = req.Clone(ctx)
	if origin(req.URL) == r.origin {
		for name, value := range r.headers {
			req.Header.Set(name, value)
		}
	}
	resp, err := r.base.RoundTrip(req)
	if err != nil {
		end()
		return nil, err
	}
	resp.Body = &body{ReadCloser: resp.Body, end: end, events: strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")}
	return resp, nil
}

// A body is a response as far as it is read.
type body struct {
	io.ReadCloser
	end    func()
	events bool
	trim   trimmer
	held   []byte // trimmed and not read yet
	buf    [32 << 10]byte
	read   int // of all
	kept   int // of this message
}

var errTooMuch = fmt.Errorf("the answer had more than %d bytes, which is the most that is read; ask for less", maxMessage)

// Read gives the response with long strings cut.
func (b *body) Read(p []byte) (int, error) {
	for len(b.held) == 0 {
		n, err := b.ReadCloser.Read(b.buf[:])
		b.read += n
		b.held = b.take(b.held[:0], b.buf[:n])
		switch {
		case b.kept > maxMessage || b.read > maxStream:
			return 0, errTooMuch
		case len(b.held) > 0:
		case err != nil:
			return 0, err
		}
	}
	n := copy(p, b.held)
	b.held = b.held[n:]
	return n, nil
}

// take trims what was read. In a stream of events a line is a message.
func (b *body) take(out, p []byte) []byte {
	if !b.events {
		out = b.trim.add(out, p)
		b.kept += len(out)
		return out
	}
	for line := range strings.Lines(string(p)) {
		before := len(out)
		if text, whole := strings.CutSuffix(line, "\n"); whole {
			out = append(b.trim.add(out, []byte(text)), '\n')
			b.trim, b.kept = trimmer{}, 0
			continue
		}
		out = b.trim.add(out, []byte(line))
		b.kept += len(out) - before
	}
	return out
}

// Close implements [io.Closer].
func (b *body) Close() error {
	b.end()
	return b.ReadCloser.Close()
}
