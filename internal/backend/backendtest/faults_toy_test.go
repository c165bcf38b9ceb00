package backendtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"conclave/internal/backend"
	"conclave/internal/event"
)

// A toy is a small engine with a small protocol. Its faults are what the suite
// about the wire must notice.
type toy struct {
	url, key string
	clocks   backend.Clocks
	client   *http.Client
	fault    fault
}

const (
	acceptsCut    fault = "takes a cut stream for complete"
	noClocks      fault = "waits for ever"
	triesForEver  fault = "tries again and again"
	triesOnce     fault = "gives up at once"
	triesRefused  fault = "tries again what was refused"
	showsKey      fault = "shows the key"
	forgetsAfter  fault = "forgets what Retry-After says"
	anyType       fault = "takes a page for an empty stream"
	takesAll      fault = "takes in a line of any length"
	noCR          fault = "cannot read CRLF"
	noComments    fault = "cannot read comments"
	noNovelty     fault = "fails at events it does not know"
	dropsFirst    fault = "drops an event behind a byte order mark"
	wrongCut      fault = "calls a cut broken"
	staysOn       fault = "does not hang up"
	hidesCanceled fault = "calls a cancelled turn cut"
	sameCall      fault = "makes a call twice"
)

type toyEvent struct {
	Think, Text string
	Call        *event.ToolCall
	End         *struct {
		Stop  string
		Usage event.Usage
	}
}

// serveToy plays the first reply of a scene.
func serveToy(s Scene) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		send := func(v any) {
			p, err := json.Marshal(v)
			if err != nil {
				panic(err)
			}
			fmt.Fprintf(w, "data: %s\n\n", p)
			flush(w)
		}
		r, _ := s.Reply(0)
		for i, p := range r.Parts {
			e := map[string]any{"Think": p.Thinking, "Text": p.Text}
			if p.Call != nil {
				e["Call"] = event.ToolCall{ID: fmt.Sprint("c", i), Name: p.Call.Name, Input: backend.Arguments(p.Call.Input)}
			}
			send(e)
		}
		send(map[string]any{"End": map[string]any{"Stop": r.StopReason(), "Usage": r.Usage}})
	})
}

func toyWire(f fault) Wire {
	return Wire{serveToy, func(tb testing.TB, url, key string, c backend.Clocks) backend.Backend {
		tr := &http.Transport{}
		tb.Cleanup(tr.CloseIdleConnections)
		return &toy{url, key, c, &http.Client{Transport: tr}, f}
	}}
}

func (y *toy) Traits() backend.Traits { return backend.Traits{} }

func (y *toy) Turn(ctx context.Context, _ backend.Input, _ backend.ToolHost) iter.Seq2[backend.Delta, error] {
	return func(yield func(backend.Delta, error) bool) {
		inner, cancel := context.WithCancel(ctx)
		defer func() {
			if y.fault != staysOn {
				cancel()
			}
		}()
		idle := time.Minute
		if y.clocks.Idle > 0 && y.fault != noClocks {
			idle = time.Duration(y.clocks.Idle)
		}
		var late atomic.Bool
		clock := time.AfterFunc(idle, func() { late.Store(true); cancel() })
		defer clock.Stop()

		err := y.speak(inner, func(d backend.Delta) bool { return yield(d, nil) })
		switch {
		case err == nil:
			return
		case ctx.Err() != nil && y.fault == hidesCanceled:
			err = &backend.Error{Kind: backend.Truncated, Message: "cut"}
		case ctx.Err() != nil:
			err = ctx.Err()
		case late.Load():
			err = &backend.Error{Kind: backend.TimedOut, Message: "nothing came"}
		case !errors.As(err, new(*backend.Error)):
			err = &backend.Error{Kind: backend.Truncated, Message: "cut", Err: err}
			if y.fault == wrongCut {
				err = &backend.Error{Kind: backend.Broken, Message: "cut", Err: err}
			}
		}
		yield(backend.Delta{}, err)
	}
}

// speak sends the request until it is answered and reads the answer.
func (y *toy) speak(ctx context.Context, yield func(backend.Delta) bool) error {
	most := 3
	switch y.fault {
	case triesForEver:
		most = 20
	case triesOnce:
		most = 1
	}
	var last error
	for range most {
		req, err := http.NewRequestWithContext(ctx, "POST", y.url, strings.NewReader("{}"))
		if err != nil {
			return err
		}
		res, err := y.client.Do(req)
		if err != nil {
			last = err
			continue
		}
		if res.StatusCode == 200 {
			if y.fault == staysOn {
				return y.read(res, yield)
			}
			defer res.Body.Close()
			return y.read(res, yield)
		}
		e := y.status(res)
		if last = e; e.RetryAfter > 0 || e.Kind.Final() && y.fault != triesRefused {
			break
		}
	}
	return last
}

func (y *toy) status(res *http.Response) *backend.Error {
	body, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	e := &backend.Error{Kind: backend.Overloaded, Message: strings.ReplaceAll(string(body), y.key, "[key]")}
	if y.fault == showsKey {
		e.Message = string(body)
	}
	switch res.StatusCode {
	case 401, 403:
		e.Kind = backend.Auth
	case 400, 404:
		e.Kind = backend.Invalid
	case 429:
		e.Kind = backend.RateLimited
	}
	after := res.Header.Get("Retry-After")
	if n, err := strconv.Atoi(after); err == nil && y.fault != forgetsAfter {
		e.RetryAfter = time.Duration(n) * time.Second
	} else if at, err := http.ParseTime(after); err == nil {
		e.RetryAfter = time.Until(at)
	}
	return e
}

// read reads the answer's events.
func (y *toy) read(res *http.Response, yield func(backend.Delta) bool) error {
	if res.Header.Get("Content-Type") == "text/html" && y.fault != anyType {
		return &backend.Error{Kind: backend.Garbled, Message: "a page"}
	}
	in := bufio.NewReader(res.Body)
	var data []byte
	ids := map[string]bool{"": true}
	for {
		line, err := y.line(in)
		if err != nil {
			if y.fault == acceptsCut && err == io.EOF {
				yield(backend.Delta{Done: &backend.Done{Stop: "end"}})
				return nil
			}
			return err
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case len(line) == 0 && len(data) > 0:
			over, err := y.event(data, ids, yield)
			if over || err != nil {
				return err
			}
			data = nil
		case string(name) == "data":
			data = append(data, value...)
		case y.fault == noComments && len(line) > 0 && len(name) == 0, y.fault == noNovelty && string(name) == "event":
			return &backend.Error{Kind: backend.Garbled, Message: "what is this?"}
		case bytes.HasPrefix(line, []byte("\uFEFF")) && y.fault != dropsFirst:
			return &backend.Error{Kind: backend.Garbled, Message: "a byte order mark"}
		}
	}
}

// line is the next line of the answer.
func (y *toy) line(in *bufio.Reader) ([]byte, error) {
	var out []byte
	for {
		part, err := in.ReadSlice('\n')
		out = append(out, part...)
		switch {
		case err == nil && y.fault == noCR:
			return out[:len(out)-1], nil
		case err == nil:
			return bytes.TrimSuffix(out[:len(out)-1], []byte("\r")), nil
		case err != bufio.ErrBufferFull:
			return nil, err
		case len(out) > 1<<20 && y.fault != takesAll:
			return nil, &backend.Error{Kind: backend.Garbled, Message: "a line too long"}
		}
	}
}

// event yields what one event says and reports whether it was the last.
func (y *toy) event(data []byte, ids map[string]bool, yield func(backend.Delta) bool) (over bool, err error) {
	var e toyEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return false, &backend.Error{Kind: backend.Garbled, Message: "no JSON", Err: err}
	}
	for _, d := range []backend.Delta{{Thinking: e.Think}, {Text: e.Text}} {
		if d != (backend.Delta{}) && !yield(d) {
			return true, nil
		}
	}
	if e.Call != nil {
		if e.Call.Name == "" || ids[e.Call.ID] {
			return false, &backend.Error{Kind: backend.Garbled, Message: "a call without a name, or one made before"}
		}
		ids[e.Call.ID] = y.fault != sameCall
		e.Call.Input = backend.Arguments(string(e.Call.Input))
		return !yield(backend.Delta{Call: e.Call}), nil
	}
	if e.End == nil {
		return false, nil
	}
	if e.End.Stop != "tools" && e.End.Stop != "end" {
		return false, &backend.Error{Kind: backend.Garbled, Message: "it stops and does not say why"}
	}
	yield(backend.Delta{Done: &backend.Done{Stop: e.End.Stop, Usage: e.End.Usage}})
	return true, nil
}
