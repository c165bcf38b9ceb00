package wire

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"conclave/internal/backend"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A plug is a network of one server, in memory, so that time can be made up.
type plug struct {
	conns chan net.Conn
	done  chan struct{}
	dials atomic.Int32
	down  atomic.Bool // nobody answers
}

func (p *plug) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *plug) Close() error   { return nil }
func (p *plug) Addr() net.Addr { return &net.UnixAddr{Name: "plug"} }

func (p *plug) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	p.dials.Add(1)
	if p.down.Load() {
		return nil, &net.OpError{Op: "dial", Err: fmt.Errorf("connection refused")}
	}
	here, there := net.Pipe()
	select {
	case p.conns <- there:
		return here, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// listen is pools whose every request goes to a handler. The cleanup belongs
// to the caller, because a bubble of synctest has to be empty before it ends.
func listen(pools *Pools, h http.HandlerFunc) (p *plug, stop func()) {
	p = &plug{conns: make(chan net.Conn), done: make(chan struct{})}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // until then a server does not notice that the client goes
		r.Body = io.NopCloser(bytes.NewReader(body))
		h(w, r)
	})}
	var wg sync.WaitGroup
	wg.Go(func() { _ = srv.Serve(p) })
	pools.Base = &http.Transport{DialContext: p.dial, MaxIdleConnsPerHost: 16}
	return p, func() {
		pools.Close()
		close(p.done)
		_ = srv.Close()
		wg.Wait()
	}
}

const (
	testKey = "sk-secret-0123456789"
	sent    = `{"model":"claude-x","stream":true}`
)

// post sends a request and reads the whole answer.
func post(ctx context.Context, c *http.Client) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://provider/v1/messages", strings.NewReader(sent))
	if err != nil {
		return "", err
	}
	resp, err := c.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	p, err := io.ReadAll(resp.Body)
	return string(p), err
}

func client(p *Pools) *http.Client { return p.Client("claude", "", testKey, backend.Clocks{}) }

// say sends a piece of a stream.
func say(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, text)
	_ = http.NewResponseController(w).Flush()
}

// reject answers with a status.
func reject(w http.ResponseWriter, code int, header ...string) {
	for i := 0; i < len(header); i += 2 {
		w.Header().Set(header[i], header[i+1])
	}
	w.WriteHeader(code)
}

// since is the time that has passed, on a clock that only moves when everybody
// waits.
func since(t time.Time) time.Duration { return time.Since(t).Round(time.Millisecond) }
