package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/flow"
	"conclave/internal/talk"
	"conclave/internal/tool"
)

// A Talker is the agent of a session, and does its turns: [talk.Work]. What it is
// sent is built from the facts of the session, its own replies as its provider
// gave them, so that a program started tomorrow sends what this one would have.
type Talker struct {
	Flow  event.FlowID
	Blobs Blobs
	Agent *Agent
	// Redact is as that of a [Crew].
	Redact func(string) string
	// Desk are the tools with which the agent keeps projects; what they change of
	// the session they record with submit. It may be nil, as may the others.
	Desk func(submit func(context.Context, event.Body) error) []tool.Tool
	// Estimate guesses what a run comes to.
	Estimate func(context.Context, event.Launch) *event.Estimate
	// Context is what a project's CONTEXT.md says.
	Context func(ctx context.Context, project string) (string, error)
	// Picture reads a picture that came with something said and was not kept with
	// it.
	Picture func(ctx context.Context, file string) (backend.Image, error)
}

var _ engine.Doer = (*Talker)(nil)

// Do takes one turn, or goes on with it.
func (k *Talker) Do(ctx context.Context, cmd flow.Command, p engine.Port) []event.Fact {
	w, ok := cmd.(talk.Work)
	if !ok {
		panic(fmt.Sprintf("agent: no way to do %T in a session", cmd))
	}
	t := newTurn(k.Agent, w.Agent, w.Turn, p, texts{k.Blobs, k.Redact})
	t.metered, t.left = w.Metered, w.Calls
	return t.run(ctx, func(ctx context.Context) error { return t.converse(ctx, k, w) })
}

// converse takes a turn of a session: the model speaks until it calls nothing
// more. One that was cut goes on after its last recorded call.
func (t *turn) converse(ctx context.Context, k *Talker, w talk.Work) error {
	if err := t.equip(ctx, Need{Role: event.RoleWork}); err != nil {
		return err
	}
	if err := t.lay(ctx, k, w); err != nil {
		return err
	}
	t.conv = &conversation{t: t, round: w.Round, most: w.Staffed.Rules.MaxCalls, picture: k.Picture}
	if err := t.conv.load(ctx, w); err != nil {
		return err
	}
	if err := t.takeUp(ctx); err != nil {
		return err
	}
	for {
		if t.conv.answered() { // and cut before it could say that this was all
			return t.concluded(ctx)
		}
		if err := t.hear(ctx); err != nil {
			return err
		}
		if t.calls >= t.left {
			return &limitError{t.conv.most}
		}
		reply, called, err := t.speak(ctx)
		if err != nil {
			return err
		}
		over, err := t.heed(ctx, reply, called)
		if err != nil || over {
			return err
		}
	}
}

// lay puts the system prompt and the tools in place. None of the tools with which
// the agents of a run coordinate is among them, whoever offers it.
func (t *turn) lay(ctx context.Context, k *Talker, w talk.Work) error {
	t.tools = map[string]tool.Tool{}
	t.runs = newLaunchRun(t, k, w)
	t.bind(t.runs)
	tools := t.bound(false, false)
	if k.Desk != nil {
		tools = append(tools, k.Desk(t.record)...)
	}
	for _, x := range append(tools, readResult{t}) {
		if !slices.Contains(coordinating, x.Name()) && t.tools[x.Name()] == nil {
			t.bind(x)
		}
	}
	var err error
	t.in.System, err = t.system(ctx, k, w)
	return err
}

// coordinating are the tools of runs.
var coordinating = []string{event.ToolNewAnswer, event.ToolVote, "ask_others"}

// record takes in what a tool has to say of the session.
func (t *turn) record(ctx context.Context, b event.Body) error {
	_, err := t.port.Submit(ctx, t.fact("desk", b))
	return err
}

// heed acts on a reply: tools, or the end of the turn.
func (t *turn) heed(ctx context.Context, r backend.Reply, called event.Fact) (over bool, err error) {
	body := called.Body.(event.Called)
	if len(body.Tools) == 0 {
		if strings.TrimSpace(r.Text) == "" && !t.conv.spoke {
			t.granted, t.spent = body.Request, r.Usage
			return false, &backend.Error{Kind: backend.Garbled, Message: "the model said nothing"}
		}
		return true, t.concluded(ctx, called)
	}
	if _, err := t.port.Submit(ctx, called); err != nil {
		return false, err
	}
	if err := t.conv.add(ctx, talk.Entry{ID: called.ID, Turn: t.turn, Called: &body}); err != nil {
		return false, err
	}
	if t.calls < t.left {
		_, err = t.carryOut(ctx, body.Tools)
		return false, err
	}
	for _, c := range body.Tools {
		if _, err := t.returned(ctx, c, tool.Failed(noCallsLeft)); err != nil {
			return false, err
		}
	}
	return false, &limitError{t.conv.most}
}

// concluded ends the turn, together with the reply that does.
func (t *turn) concluded(ctx context.Context, with ...event.Fact) error {
	_, err := t.port.Submit(ctx, append(with, t.fact("concluded", event.Concluded{Turn: t.turn}))...)
	return err
}

// takeUp finishes the calls of a turn that was cut. A run that was wanted is
// waited for; of anything else nobody knows whether it took effect, but for what
// stood after a run, which had not begun.
func (t *turn) takeUp(ctx context.Context) error {
	begun := true
	for _, c := range slices.Clone(t.conv.open) {
		begun = begun && c.Name != event.ToolLaunchRun
		var err error
		if begun {
			_, err = t.returned(ctx, c, tool.Failed(outcomeUnknown))
		} else {
			_, err = t.use(ctx, c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A limitError says that a turn has made all the model calls it may.
type limitError struct{ calls int }

func (e *limitError) Error() string {
	return fmt.Sprintf("the turn has made all of its %d model calls; say something to have the agent go on", e.calls)
}
