package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"conclave/internal/backend"
)

// Bounds of what is taken in.
const (
	maxError = 64 << 10  // of a body that is an error
	maxLine  = 8 << 20   // of one line of a stream
	maxEvent = 16 << 20  // of the lines up to an empty one
	maxBody  = 256 << 20 // of everything
)

// A stream is a body under the idle clock and the bounds above.
type stream struct {
	ctx    context.Context // of this attempt; its cause is the clock that ran out
	cancel context.CancelCauseFunc
	caller context.Context
	end    func() // stops the clock over all
	body   io.ReadCloser
	timer  *time.Timer // runs until the first byte, then during each read
	idle   time.Duration
	lines  bool // bounds of lines apply

	busy              sync.Mutex // held by whoever reads
	head              []byte     // read ahead
	line, event, size int
	err               error // what every further read returns
}

var bom = []byte("\xef\xbb\xbf")

// begin waits for the first byte, under the first clock, and drops a byte order
// mark. A body without any byte is no error of ours.
func (s *stream) begin() error {
	head := make([]byte, len(bom))
	n, err := io.ReadAtLeast(s.body, head[:1], 1)
	switch {
	case err == io.EOF:
		s.err = io.EOF
	case err != nil:
		return broken(err)
	case head[0] == bom[0]:
		more, _ := io.ReadFull(s.body, head[1:]) // an error comes again with the next read
		n += more
	}
	s.timer.Stop()
	if s.head = head[:n]; bytes.Equal(s.head, bom) {
		s.head = nil
	}
	s.timer = time.AfterFunc(time.Hour, func() { s.cancel(clock("the next piece of the reply", s.idle)) })
	s.timer.Stop()
	return nil
}

func broken(err error) error {
	return &backend.Error{Kind: backend.Truncated, Message: "the connection was lost in the middle of the reply", Err: err}
}

// Read reads under the idle clock, which runs only while somebody waits.
func (s *stream) Read(p []byte) (int, error) {
	s.busy.Lock()
	defer s.busy.Unlock()
	if len(s.head) > 0 {
		n := copy(p, s.head)
		s.head = s.head[n:]
		return n, s.measure(p[:n])
	}
	if s.err != nil {
		return 0, s.err
	}
	s.timer.Reset(s.idle)
	n, err := s.body.Read(p)
	s.timer.Stop()
	if over := s.measure(p[:n]); over != nil {
		s.err = over
	} else if err == io.EOF {
		s.err = io.EOF
	} else if err != nil {
		s.err = why(s.caller, s.ctx, broken(err))
	}
	if s.err != nil {
		s.release()
	}
	return n, s.err
}

// Close ends the request, also one that somebody is reading from. If the answer
// is as good as over its rest is read, so that the connection can be used again.
func (s *stream) Close() error {
	if s.busy.TryLock() {
		defer s.busy.Unlock()
		if s.err == nil {
			s.drain()
			s.err = http.ErrBodyReadAfterClose
		}
	}
	err := s.body.Close()
	s.release()
	return err
}

func (s *stream) drain() {
	if s.line > 0 { // in the middle of something
		return
	}
	late := time.AfterFunc(linger, func() { s.cancel(nil) })
	defer late.Stop()
	_, _ = io.CopyN(io.Discard, s.body, maxError)
}

const (
	linger = 20 * time.Millisecond // for the end of an answer, after its last event
	soon   = 5 * time.Second       // for the body of an error
)

// release stops the clocks of the request.
func (s *stream) release() {
	s.cancel(nil)
	s.end()
}

// measure holds what was read against the bounds.
func (s *stream) measure(p []byte) error {
	s.size += len(p)
	if s.size > maxBody {
		return tooLarge("the reply", maxBody)
	}
	for s.lines && len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			s.line += len(p)
			break
		}
		line := s.line + i
		if s.event += line; line <= 1 { // nothing, or a carriage return
			s.event = 0
		}
		s.line, p = 0, p[i+1:]
		if line > maxLine {
			return tooLarge("a line of the reply", maxLine)
		}
	}
	switch {
	case s.line > maxLine:
		return tooLarge("a line of the reply", maxLine)
	case s.event > maxEvent:
		return tooLarge("an event of the reply", maxEvent)
	}
	return nil
}

func tooLarge(what string, most int) error {
	return &backend.Error{Kind: backend.Garbled, Message: fmt.Sprintf("%s has more than %d MiB", what, most>>20)}
}

// excerpt is the beginning of a body that is no good, as much as comes soon.
func (s *stream) excerpt() []byte {
	s.timer.Stop()
	late := time.AfterFunc(soon, func() { s.cancel(nil) })
	defer late.Stop()
	p, _ := io.ReadAll(io.LimitReader(s.body, maxError))
	return p
}

func isJSON(resp *http.Response) bool {
	t, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return t == "application/json"
}

// foreign is an error about a body that cannot be an answer by its type. Types
// that servers give streams by mistake are let pass.
func foreign(resp *http.Response, sent []byte) *backend.Error {
	t, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch t {
	case "text/html", "application/xhtml+xml", "application/xml", "text/xml", "application/pdf":
	case "application/json":
		if !streaming(resp.Request, sent) {
			return nil
		}
	default:
		if kind, _, _ := strings.Cut(t, "/"); kind != "image" && kind != "audio" && kind != "video" {
			return nil
		}
	}
	return &backend.Error{Kind: backend.Garbled, Message: "answered with " + t + " where a stream was asked for; is the base URL right?"}
}

// streaming reports whether a request asks for a stream.
func streaming(req *http.Request, sent []byte) bool {
	if strings.Contains(req.Header.Get("Accept"), "event-stream") || req.URL.Query().Get("alt") == "sse" {
		return true
	}
	var b struct{ Stream bool }
	return json.Unmarshal(sent, &b) == nil && b.Stream
}

// model is the model a request is for, from its body or its address.
func model(req *http.Request, sent []byte) string {
	var b struct{ Model string }
	if json.Unmarshal(sent, &b) == nil && b.Model != "" {
		return b.Model
	}
	_, name, _ := strings.Cut(req.URL.Path, "/models/")
	name, _, _ = strings.Cut(name, ":")
	return name
}
