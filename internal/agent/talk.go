package agent

import (
	"context"
	"fmt"
	"slices"

	"conclave/internal/backend"
	"conclave/internal/dialog"
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
	// Only: the agent has the tools of its Desk and no others, and launches no
	// runs.
	Only bool
	// Prompt is the system prompt, for an agent that is told something else than
	// how to launch runs: that of a job's companion.
	Prompt func(ctx context.Context, w talk.Work) (string, error)
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
	if err := t.equip(ctx, Need{Role: event.RoleWork, Planning: k.Only}); err != nil {
		return err
	}
	if err := t.lay(ctx, k, w); err != nil {
		return err
	}
	t.conv = &conversation{t: t, round: w.Round, most: w.Staffed.Rules.MaxCalls, picture: k.Picture}
	if err := t.conv.load(ctx, dialog.Part{Summary: w.Summary, Pins: w.Pins, History: w.History}); err != nil {
		return err
	}
	if err := t.takeUp(ctx); err != nil {
		return err
	}
	return t.discuss(ctx)
}

// lay puts the system prompt and the tools in place. None of the tools with which
// the agents of a run coordinate is among them, whoever offers it.
func (t *turn) lay(ctx context.Context, k *Talker, w talk.Work) error {
	t.in.Thread, t.in.Room = threadTalk, t.hand.Room()
	t.tools = map[string]tool.Tool{}
	t.runs = newLaunchRun(t, k, w)
	var tools []tool.Tool
	if !k.Only {
		t.bind(t.runs)
		tools = t.bound(false, false)
	}
	if k.Desk != nil {
		tools = append(tools, k.Desk(t.record)...)
	}
	t.offer(append(tools, readResult{t})...)
	var err error
	if k.Prompt != nil {
		t.in.System, err = k.Prompt(ctx, w)
		t.in.System = t.clean(t.in.System)
		return err
	}
	t.in.System, err = t.system(ctx, k, w)
	return err
}

// offer binds tools, but for those of runs and names that are taken.
func (t *turn) offer(tools ...tool.Tool) {
	for _, x := range tools {
		if !slices.Contains(coordinating, x.Name()) && t.tools[x.Name()] == nil {
			t.bind(x)
		}
	}
}

// coordinating are the tools of runs.
var coordinating = []string{event.ToolNewAnswer, event.ToolVote, "ask_others"}

// record takes in what a tool has to say of the session.
func (t *turn) record(ctx context.Context, b event.Body) error {
	_, err := t.port.Submit(ctx, t.fact("desk", b))
	return err
}
