package mcpserve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"conclave/internal/event"
)

// A client gives up a call because its user no longer wants it, or because its
// own patience is at an end. It says both with the same notification, and only
// the reason tells them apart. The first ends the run; after the second the run
// goes on, and the client finds it again.

// A leaving is how a call was given up.
type leaving int

const (
	stayed    leaving = iota // it was not
	unwanted                 // nobody wants it any more
	impatient                // its client, or its connection, did not last
	unclear                  // either: the run ends if nobody comes back to it
)

var reasons = []struct {
	says *regexp.Regexp
	how  leaving
}{
	// "Request timed out", "request timeout", "-32001".
	{regexp.MustCompile(`(?i)time[sd]?[ _-]?out|-32001|deadline`), impatient},
	// Codex says "MCP response future dropped" whether its user or its patience
	// has ended the call.
	{regexp.MustCompile(`(?i)dropped`), unclear},
	{regexp.MustCompile(``), unwanted},
}

// givenUp knows of the newest calls how they were given up, if they were. The
// protocol's library keeps neither the reason nor the number of a call, so both
// are noted as messages come in. A call may be given up after its end, too: client
// and server speak at the same time.
type givenUp struct {
	mu    sync.Mutex
	calls map[string]*noted
	order []string // oldest first
}

type noted struct {
	how  leaving
	over bool
}

// maxCalls is how many calls are remembered.
const maxCalls = 1000

const (
	methodCall      = "tools/call"
	methodCancelled = "notifications/cancelled"
	// metaCall is where the name of a call is put for its handler to find.
	metaCall = "conclave/call"
)

// mind looks at a message that came in. Of a call it returns its name, and the
// parameters with that in them; scope is what numbers are unique in.
func (g *givenUp) mind(scope, method string, id, params json.RawMessage) (name string, with json.RawMessage) {
	switch method {
	case methodCancelled:
		var c struct {
			RequestID json.RawMessage `json:"requestId"`
			Reason    string          `json:"reason"`
		}
		if json.Unmarshal(params, &c) == nil {
			g.note(callName(scope, c.RequestID), c.Reason)
		}
	case methodCall:
		var p, meta map[string]json.RawMessage
		if json.Unmarshal(params, &p) != nil || p == nil || len(p["_meta"]) > 0 && json.Unmarshal(p["_meta"], &meta) != nil {
			break // the library says what is wrong
		}
		if meta == nil {
			meta = map[string]json.RawMessage{}
		}
		name = callName(scope, id)
		meta[metaCall], _ = json.Marshal(name)
		p["_meta"], _ = json.Marshal(meta)
		if out, err := json.Marshal(p); err == nil {
			g.begin(name)
			return name, out
		}
	}
	return "", params
}

// callName names a call: by its number as that is written, for there are clients
// whose numbers are long and clients whose numbers are texts.
func callName(scope string, id json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(id))
	d.UseNumber()
	var v any
	_ = d.Decode(&v)
	p, _ := json.Marshal([]any{scope, v})
	return string(event.HashOf(p))
}

// begin remembers a call, and forgets the oldest.
func (g *givenUp) begin(call string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.calls == nil {
		g.calls = map[string]*noted{}
	}
	if _, ok := g.calls[call]; !ok {
		g.order = append(g.order, call)
	}
	g.calls[call] = &noted{}
	if len(g.order) > maxCalls {
		delete(g.calls, g.order[0])
		g.order = g.order[1:]
	}
}

// note takes down that a call was given up. What is not known was never called.
func (g *givenUp) note(call, reason string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n, ok := g.calls[call]
	if !ok {
		return
	}
	for _, r := range reasons {
		if r.says.MatchString(reason) {
			n.how = r.how
			return
		}
	}
}

// lost takes down that nobody can be told any more what a call comes to.
func (g *givenUp) lost(call string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n, ok := g.calls[call]; ok && !n.over && n.how == stayed {
		n.how = impatient
	}
}

// over says that a call has come to its end, and how it was given up by then.
func (g *givenUp) over(call string) leaving {
	g.mu.Lock()
	defer g.mu.Unlock()
	n, ok := g.calls[call]
	if !ok {
		return stayed
	}
	n.over = true
	return n.how
}

// has reports whether a call was given up.
func (g *givenUp) has(call string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	n, ok := g.calls[call]
	return ok && n.how != stayed
}

// while is how long a model may take to come back.
const while = time.Minute

// reconsider ends the run of a call that was given up later, unless another call
// has come to it since.
func (s *Server) reconsider(c call) {
	s.later.Go(func() {
		timer := time.NewTimer(s.while)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-s.ending.Done():
			return // whoever goes on with the run goes on with it
		}
		s.launching.Lock()
		back := c.ends.joined != c.joined || c.ends.waiting > 0
		s.launching.Unlock()
		if !back {
			s.endRun(context.Background(), c.ends)
		}
	})
}

// endRun ends the run of a call that was given up.
func (s *Server) endRun(ctx context.Context, m *made) {
	if err := s.withdraw(ctx, m.place, "gave up the call"); err != nil {
		s.o.Say(fmt.Sprintf("the run of a call that was given up could not be ended: %v", err))
	}
}

// A call is what is known of a tool call, from its coming in to its end: the
// library may ask the client something in between. Its handler sets the fields.
type call struct {
	waits *made // the run it waits for
	// joined is which of the calls that have waited for that run it is. The next
	// one may come in before anybody has noticed that this one was given up.
	joined int
	ends   *made // the run that ends with the call, if it is given up
	tells  *made // whose result it tells
}

type callKey struct{}

// callOf is the call that ctx is of.
func callOf(ctx context.Context) *call {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c
	}
	return &call{}
}

// join says that a call waits for a run.
func (s *Server) join(c *call, m *made) {
	s.launching.Lock()
	defer s.launching.Unlock()
	if c.waits == m {
		return // it has come back from asking
	}
	if c.waits != nil {
		c.waits.waiting--
	}
	m.joined++
	m.waiting++
	c.waits, c.joined = m, m.joined
}

// quit says that a call waits no longer, and whether others do.
func (s *Server) quit(c *call) (others bool) {
	s.launching.Lock()
	defer s.launching.Unlock()
	if c.waits == nil {
		return false
	}
	c.waits.waiting--
	return c.waits.waiting > 0
}

// minding is around every call, whatever happens in it.
func (s *Server) minding(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		if method == "resources/list" {
			return s.listResources(ctx, r)
		}
		if method != methodCall {
			return next(ctx, method, r)
		}
		var c call
		handling, done := context.WithCancel(context.WithValue(ctx, callKey{}, &c))
		defer done()
		defer context.AfterFunc(s.ending, done)()
		res, err := next(handling, method, r)
		name := ""
		if p, ok := r.GetParams().(*sdk.CallToolParamsRaw); ok {
			name, _ = p.Meta[metaCall].(string)
		}
		s.minded(ctx, c, name, err)
		return res, err
	}
}

// minded decides what becomes of the run of a call that is at its end.
func (s *Server) minded(ctx context.Context, c call, name string, err error) {
	how, others := s.givenUp.over(name), s.quit(&c)
	switch {
	case how == stayed && ctx.Err() == nil:
		if err == nil {
			s.told(c.tells, name)
		}
	case c.ends == nil, s.ending.Err() != nil, how == impatient:
	case how == unwanted:
		if !others {
			s.endRun(context.WithoutCancel(ctx), c.ends)
		}
	// In the newer era clients hang up, for whatever reason. That a connection
	// breaks on a pipe has another cause and says nothing about the run.
	case how == unclear, errors.Is(context.Cause(ctx), context.Canceled):
		s.reconsider(c)
	}
}

// decode reads JSON and knows every field.
func decode(p []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(p))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
