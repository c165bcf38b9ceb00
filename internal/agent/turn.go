package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"conclave/internal/backend"
	"conclave/internal/coord"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/live"
	"conclave/internal/prompt"
	"conclave/internal/tool"
)

// errTurnOver says that the run wants nothing more from this turn.
var errTurnOver = errors.New("the turn is over")

// turn is one take of a round.
type turn struct {
	texts
	crew  *Crew // nil in a session, a job or a team
	port  engine.Port
	agent *Agent
	id    event.AgentID
	turn  event.Turn
	key   string
	fence string

	metered bool
	left    int // model calls left in the round

	in    backend.Input
	hand  Hand
	idle  bool // the hand was closed
	write bool // the user's files may be written in this turn
	// ending: time is over, and whatever the agent wants to do by itself is refused.
	ending bool
	blind  bool           // it has been said that what was written cannot be told
	wrote  *event.Written // as it was recorded last
	tools  map[string]tool.Tool
	shown  []prompt.Answer          // every answer the agent has been shown
	long   map[string]event.Content // results shown in part, by call
	box    *mailbox                 // what it is told
	conv   *conversation            // of a session, a job or a team; nil in a run
	runs   *launchRun               // of a session
	phase  *phase                   // of a job
	duty   *duty                    // of a team
	sent   sent                     // what of the last request is not in the log anyway
	// filled is how many tokens the last call took of the model's window.
	filled int64

	calls   int
	granted string      // reservation of the call in progress
	spent   event.Usage // by a call that failed, where that is known
	begun   bool        // something of the call in progress has come
	partial string      // said so far in the call in progress

	// mu serialises what a backend's own loop calls. While the backend speaks it
	// guards everything here but calls, begun and partial.
	mu     sync.Mutex
	facts  atomic.Int64
	closed bool // an outcome was accepted, or the run wants no more
	// account is the call of a turn that was closed in the middle of it: its last fact,
	// also if it is stopped.
	account *event.Fact
	trouble error // what failed on our side of a backend's own loop
}

// fact makes the turn's next fact.
func (t *turn) fact(what string, b event.Body) event.Fact {
	return event.Fact{ID: fmt.Sprintf("%s/%s/%d", t.key, what, t.facts.Add(1)), Agent: t.id, Body: b}
}

// failed is the fact that ends a turn which could not be finished. What was
// said until then is kept as partial.
func (t *turn) failed(err error) []event.Fact {
	kind := backend.KindOf(err)
	f := event.Failed{
		Turn: t.turn, Code: string(kind), Message: t.clean(err.Error()), Final: kind.Final(),
		Partial: event.Inline(clip(t.partial, event.InlineMax)),
	}
	if e, ok := errors.AsType[*backend.Error](err); ok {
		f.RetryAfter = event.Duration(e.RetryAfter)
	}
	if _, ok := errors.AsType[*limitError](err); ok {
		f.Code, f.Final = "limit", true
	}
	if !t.begun && turnedAway(kind) || t.spent != (event.Usage{}) {
		f.Request, f.Usage = t.granted, t.spent
	}
	return []event.Fact{t.fact("failed", f)}
}

// turnedAway reports whether a failure says that the model never began. Such a
// call cost nothing, and its reservation is settled so; of any other nobody
// knows the cost, and what it holds when its turn ends counts as spent.
func turnedAway(k backend.ErrorKind) bool {
	switch k {
	case backend.Auth, backend.Invalid, backend.TooLong, backend.RateLimited, backend.Overloaded, backend.Unreachable:
		return true
	}
	return false
}

func (t *turn) stopped(ctx context.Context) []event.Fact {
	f := event.Failed{
		Turn: t.turn, Code: "stopped", Message: context.Cause(ctx).Error(),
		Partial: event.Inline(clip(t.partial, event.InlineMax)),
	}
	if t.granted == "" { // else what was reserved counts: the call in progress may have cost more
		f.Usage = t.spent
	}
	return []event.Fact{t.fact("failed", f)}
}

// speak has the backend speak once and records what came of it, without sending
// the facts: they go together with what follows from them.
//
// A conversation that has grown too long for the model is put into fewer words
// first, or when the provider says so, once.
func (t *turn) speak(ctx context.Context) (backend.Reply, event.Fact, error) {
	if t.calls > 0 {
		if err := t.noteWritten(ctx); err != nil {
			return backend.Reply{}, event.Fact{}, err
		}
	}
	if err := t.makeRoom(ctx); err != nil {
		return backend.Reply{}, event.Fact{}, err
	}
	reply, called, err := t.call(ctx)
	if err == nil || !tooLong(err) {
		return reply, called, err
	}
	if t.begun {
		t.granted = "" // nobody knows what it cost
	}
	if made, errRoom := t.compact(ctx); errRoom != nil || !made {
		return reply, called, cmp.Or(errRoom, err)
	}
	return t.call(ctx)
}

// call has the backend speak once.
func (t *turn) call(ctx context.Context) (backend.Reply, event.Fact, error) {
	if err := t.reserve(ctx); err != nil {
		return backend.Reply{}, event.Fact{}, err
	}
	if err := t.box.standby(ctx); err != nil {
		return backend.Reply{}, event.Fact{}, err
	}
	t.calls++
	t.begun, t.partial = false, ""
	h := &host{t: t, ctx: ctx}
	reply, err := t.hearOut(ctx, h)
	h.leave()
	if t.trouble != nil {
		err = t.trouble
	}
	if err == nil {
		err = t.complete(reply)
	}
	if err != nil {
		t.spent = reply.Usage
		return reply, event.Fact{}, err
	}
	text, err := t.content(ctx, reply.Text)
	if err != nil {
		return reply, event.Fact{}, err
	}
	thinking, err := t.content(ctx, reply.Thinking)
	if err != nil {
		return reply, event.Fact{}, err
	}
	native, err := t.content(ctx, string(reply.Native))
	if err != nil {
		return reply, event.Fact{}, err
	}
	c := t.bill(reply.Usage)
	c.Text, c.Thinking, c.Native, c.Did = text, thinking, native, steps(reply.Did)
	t.filled = reply.Usage.Input + reply.Usage.Output
	if t.conv != nil {
		c.Backend = t.agent.Seat.Backend
		if c.Sent, err = t.request(ctx); err != nil {
			return reply, event.Fact{}, err
		}
	}
	if !t.agent.Backend.Traits().OwnsLoop {
		c.Tools = t.intents(reply.Calls)
	}
	t.granted, t.partial = "", ""
	return reply, t.fact("call", c), nil
}

// bill is a call with what it has used, and nothing of what came of it.
func (t *turn) bill(used event.Usage) event.Called {
	traits := t.agent.Backend.Traits()
	return event.Called{
		Turn: t.turn, Call: t.calls, Model: traits.Model, Window: traits.Window,
		Usage: used, Request: t.granted, Unpriced: t.unpriced(used),
	}
}

// hearOut has the backend speak, and tells whoever watches when it has ended:
// before the fact is there, so that nobody is given what they can read.
func (t *turn) hearOut(ctx context.Context, h *host) (backend.Reply, error) {
	defer func() { t.port.Live(live.Delta{Agent: t.id, Turn: t.turn, Kind: live.End, Call: t.calls}) }()
	return backend.Collect(t.agent.Backend.Turn(ctx, t.in, h), t.show)
}

// complete reports a reply that is none: the model would not go on, or was cut
// off by its length with nothing that could be acted on. What it cost is booked.
func (t *turn) complete(r backend.Reply) error {
	switch {
	case r.Stop == "refusal":
		t.spent = r.Usage
		return &backend.Error{Kind: backend.Declined, Message: "the model would not answer"}
	case r.Stop == "length" && len(r.Calls) == 0:
		t.spent = r.Usage
		return &backend.Error{Kind: backend.Truncated, Message: "the reply was cut off at its longest"}
	}
	return nil
}

// intents are calls as they are recorded. What an outcome says is in the
// proposal that follows, so it is not said twice.
func (t *turn) intents(calls []event.ToolCall) []event.ToolCall {
	if t.conv != nil {
		return plain(calls)
	}
	out := slices.Clone(calls)
	for i := range out {
		if event.IsOutcome(out[i].Name) {
			out[i].Input = nil
		}
	}
	return out
}

// unpriced reports whether tokens were used of which nobody knows the price.
func (t *turn) unpriced(u event.Usage) bool {
	return u.Tokens() > 0 && u.Cost == 0 && !t.agent.Backend.Traits().Price
}

// steps are what the provider did, bounded as they are recorded.
func steps(did []event.Step) []event.Step {
	out := slices.Clone(did)
	for i := range out {
		out[i].Input, out[i].Result = clip(out[i].Input, event.InlineMax), clip(out[i].Result, event.InlineMax)
	}
	return out
}

// show passes deltas on to whoever watches.
func (t *turn) show(d backend.Delta) {
	t.begun = true
	if len(t.partial) < event.InlineMax { // more is never kept
		t.partial += d.Text
	}
	out := live.Delta{Agent: t.id, Turn: t.turn, Kind: live.Text, Text: d.Text, Call: t.calls}
	switch {
	case d.Thinking != "":
		out.Kind, out.Text = live.Thinking, d.Thinking
	case d.Call != nil:
		out.Kind, out.Text = live.Tool, d.Call.Name
	case d.Did != nil:
		out.Kind, out.Text = live.Tool, d.Did.Name
	case d.Text == "":
		return
	}
	t.port.Live(out)
}

// reserve asks for leave before a call where the run has a budget.
func (t *turn) reserve(ctx context.Context) error {
	if !t.metered || t.granted != "" { // as it is after a call that was turned away
		return nil
	}
	if t.in.MaxOutput == 0 {
		t.in.MaxOutput = defaultOutput // what is reserved is what may be said
	}
	for {
		f := t.fact("request", event.Requested{Turn: t.turn, Amount: estimate(t.agent.Backend, t.in)})
		events, err := t.port.Submit(ctx, f)
		if err != nil {
			return err
		}
		wait := false
		for _, e := range events {
			switch b := e.Body.(type) {
			case event.Granted:
				if b.Request == f.ID {
					t.granted = f.ID
					return nil
				}
			case event.Refused:
				wait = wait || b.Ref == f.ID && b.Code == event.RefusedWait
			}
		}
		if !wait {
			return errTurnOver
		}
		// Other calls hold what this one may cost: ask again when it is worth it.
		if _, err := t.box.await(ctx, func(n note) bool { return n.Kind == coord.NoteBudget }); err != nil {
			return err
		}
	}
}

// reply tokens to expect of a call when nobody says.
const defaultOutput = 16 << 10

// imageTokens is about what a picture takes.
const imageTokens = 1600

func estimate(b backend.Backend, in backend.Input) event.Amount {
	if e, ok := b.(backend.Estimator); ok && b != nil {
		return e.Estimate(in)
	}
	n := len(in.System)
	for _, m := range in.Messages {
		n += len(m.Text) + len(m.Native) + imageTokens*3*len(m.Images)
		for _, r := range m.Results {
			n += len(r.Text) + imageTokens*3*len(r.Images)
		}
		for _, c := range m.Calls {
			n += len(c.Input)
		}
	}
	for _, s := range in.Tools {
		n += len(s.Description) + len(s.Schema)
	}
	return event.Amount{Tokens: int64(n/3 + in.MaxOutput)}
}

// say adds a user message, to the last one if that is the user's.
func (t *turn) say(text string) {
	if n := len(t.in.Messages); n > 0 && t.in.Messages[n-1].From == backend.User {
		t.in.Messages[n-1].Text += "\n\n" + text
		return
	}
	t.in.Messages = append(t.in.Messages, backend.Message{From: backend.User, Text: text})
}

// listen adds the assistant's reply and the results of its calls.
func (t *turn) listen(r backend.Reply, results []backend.ToolResult) {
	t.in.Messages = append(t.in.Messages, backend.Message{From: backend.Assistant, Text: r.Text, Calls: r.Calls, Native: r.Native})
	if len(results) > 0 {
		t.in.Messages = append(t.in.Messages, backend.Message{From: backend.Tool, Results: results})
	}
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
