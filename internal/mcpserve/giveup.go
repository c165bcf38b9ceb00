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
)

// A client gives up a call because its user no longer wants it, or because its
// own patience is at an end. It says both with the same notification, and only
// the reason tells them apart. The first ends the run; after the second the run
// goes on, and the client finds it again.

// givenUp holds the reasons with which calls were given up, until those calls
// have ended. The protocol's library keeps neither the reason nor the number of a
// call, so both are noted as messages come in.
type givenUp struct {
	mu      sync.Mutex
	reasons map[string]string
}

// maxReasons bounds what a client can have us keep with made-up notifications.
const maxReasons = 1000

const (
	methodCall      = "tools/call"
	methodCancelled = "notifications/cancelled"
	// metaCall is where the number of a call is put for its handler to find.
	metaCall = "conclave/call"
)

// mind looks at a message that came in. Of a call it returns the parameters with
// its number in them; scope is what numbers are unique in.
func (g *givenUp) mind(scope, method string, id any, params json.RawMessage) json.RawMessage {
	switch method {
	case methodCancelled:
		var c struct {
			RequestID any    `json:"requestId"`
			Reason    string `json:"reason"`
		}
		if json.Unmarshal(params, &c) == nil {
			g.note(callName(scope, c.RequestID), c.Reason)
		}
	case methodCall:
		var p, meta map[string]json.RawMessage
		if json.Unmarshal(params, &p) != nil || p == nil || len(p["_meta"]) > 0 && json.Unmarshal(p["_meta"], &meta) != nil {
			return params // the library says what is wrong
		}
		if meta == nil {
			meta = map[string]json.RawMessage{}
		}
		meta[metaCall], _ = json.Marshal(callName(scope, id))
		p["_meta"], _ = json.Marshal(meta)
		if out, err := json.Marshal(p); err == nil {
			return out
		}
	}
	return params
}

// callName names a call. Numbers come as whole ones or, out of JSON, as floats.
func callName(scope string, id any) string { return fmt.Sprintf("%s %v", scope, id) }

func (g *givenUp) note(call, reason string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reasons == nil || len(g.reasons) >= maxReasons {
		g.reasons = map[string]string{}
	}
	g.reasons[call] = reason
}

// take is the reason with which a call was given up, if it was, and forgets it.
func (g *givenUp) take(call string) (reason string, given bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	defer delete(g.reasons, call)
	reason, given = g.reasons[call]
	return reason, given
}

// has reports whether a call was given up, be it after its end: client and server
// may speak at the same time.
func (g *givenUp) has(call string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, given := g.reasons[call]
	return given
}

// impatient reads in a reason that it was the client's patience: "Request timed
// out", "request timeout", "-32001".
var impatient = regexp.MustCompile(`(?i)time[sd]?[ _-]?out|-32001|deadline`)

// unclear reads in a reason that it may be either: Codex says "MCP response future
// dropped" whether its user or its patience has ended the call. Then the run goes
// on for a while, and ends if nobody comes back to it.
var unclear = regexp.MustCompile(`(?i)dropped`)

// while is how long a model may take to come back.
const while = time.Minute

// reconsider ends the run of a call that was given up later, unless another call
// has come to it since.
func (s *Server) reconsider(c call) {
	s.later.Go(func() {
		timer := time.NewTimer(while)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-s.ending.Done():
			return // whoever goes on with the run goes on with it
		}
		s.launching.Lock()
		back := c.ends.joined != c.joined
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
	ends *made // the run that ends with the call, if it is given up
	// joined is which of the calls that have waited for that run it is. The next
	// one may come in before anybody has noticed that this one was given up.
	joined int
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

// minding is around every call, whatever happens in it.
func (s *Server) minding(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		if method == "resources/list" {
			s.refresh(ctx)
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
		reason, given := s.givenUp.take(name)
		switch {
		case !given && ctx.Err() == nil && err == nil:
			s.told(c.tells, name)
		// A connection that is lost says nothing about the run.
		case c.ends == nil, !errors.Is(context.Cause(ctx), context.Canceled), s.ending.Err() != nil, impatient.MatchString(reason):
		case unclear.MatchString(reason):
			s.reconsider(c)
		default:
			s.endRun(context.WithoutCancel(ctx), c.ends)
		}
		return res, err
	}
}

// decode reads JSON and knows every field.
func decode(p []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(p))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
