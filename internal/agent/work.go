package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"conclave/internal/backend"
	"conclave/internal/coord"
	"conclave/internal/event"
	"conclave/internal/prompt"
	"conclave/internal/tool"
)

// work takes a turn that ends with an answer or a vote.
func (t *turn) work(ctx context.Context, w coord.Work) error {
	err := t.equip(ctx, Need{Role: event.RoleWork, Planning: w.Planning, Write: w.Write, Snapshot: w.Snapshot, Peers: peers(w.Answers)})
	if err != nil {
		return err
	}
	in, err := t.brief(ctx, w.Answers, w.Said)
	if err != nil {
		return err
	}
	in.MayAnswer, in.MayVote, in.Closing = w.MayAnswer, w.MayVote, w.Closing
	in.Planning, in.Write, in.Unknown = w.Planning, w.Write, unknown(w.Unknown)
	in.Undone, t.ending = t.remembers() && t.turn.Take > 1 && !w.Write, w.Closing
	tools := t.bound(w.Planning, w.Closing)
	in.Done = done(w.Done, tools, tool.World)
	if err := t.open(ctx, in, tools); err != nil {
		return err
	}
	if w.Hurry && !w.Closing {
		t.say(prompt.WrapUp) // it was told before this take began
	}
	t.in.Tools = append(t.in.Tools, t.outcomeTools(in)...)
	for {
		if err := t.hear(ctx); err != nil {
			return err
		}
		reply, called, err := t.speak(ctx)
		if err != nil {
			return t.unlessClosed(err)
		}
		over, err := t.follow(ctx, reply, called)
		if err != nil || over {
			return err
		}
	}
}

// follow acts on a reply: tools first, then the outcome. A reply without tool
// calls has to bring one; so has the last call of the round.
func (t *turn) follow(ctx context.Context, r backend.Reply, called event.Fact) (over bool, err error) {
	if t.agent.Backend.Traits().OwnsLoop {
		return t.after(ctx, r, called)
	}
	tools, outcomes := split(r.Calls)
	var results []backend.ToolResult
	if len(tools) > 0 {
		if _, err := t.port.Submit(ctx, called); err != nil {
			return false, err
		}
		if results, err = t.carryOut(ctx, tools); err != nil {
			return false, err
		}
		if len(outcomes) == 0 && t.calls < t.left {
			t.listen(r, results)
			return false, nil
		}
		called = event.Fact{}
	}
	why, over, err := t.propose(ctx, called, outcomes)
	if err != nil || over {
		return over, err
	}
	for _, c := range outcomes {
		results = append(results, backend.ToolResult{Call: c.ID, Name: c.Name, Text: why, Error: true})
	}
	t.listen(r, results)
	if len(outcomes) == 0 {
		t.say(why)
	}
	return false, nil
}

// after ends a turn of a backend that runs its own loop. If it brought no
// outcome through the host, that is what it proposes: nothing.
func (t *turn) after(ctx context.Context, r backend.Reply, called event.Fact) (bool, error) {
	if t.closed {
		t.account = &called
		return true, nil
	}
	why, over, err := t.propose(ctx, called, nil)
	if err != nil || over {
		return over, err
	}
	t.listen(r, nil)
	t.say(why)
	return false, nil
}

// unlessClosed forgives an error of a backend after its outcome was accepted. The
// run waits for what the turn has cost, and is told as much as is known.
func (t *turn) unlessClosed(err error) error {
	if !t.closed {
		return err
	}
	c := t.bill(t.spent)
	if t.spent == (event.Usage{}) {
		c.Request = "" // nobody knows: what was reserved counts
	}
	f := t.fact("call", c)
	t.account = &f
	return nil
}

// propose puts outcomes forward, together with the call they came from, and
// returns the verdict: over, or why they are refused.
func (t *turn) propose(ctx context.Context, called event.Fact, calls []event.ToolCall) (why string, over bool, err error) {
	p := event.Proposed{Turn: t.turn, Follows: called.Body == nil && t.agent.Backend.Traits().OwnsLoop}
	snapshot, err := t.snapshot(ctx, calls)
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		if called.Body != nil {
			_, err = t.port.Submit(ctx, called)
		} else {
			err = nil
		}
		return refusal.Why, false, err
	}
	if err != nil {
		return "", false, err
	}
	for _, c := range calls {
		o, wrong := t.outcome(ctx, c)
		if wrong != nil {
			return "", false, wrong
		}
		if o.Answer != nil {
			o.Answer.Snapshot = snapshot
		}
		p.Outcomes = append(p.Outcomes, o)
	}
	f := t.fact("proposed", p)
	facts := append(t.written(ctx), f)
	if called.Body != nil {
		facts = append([]event.Fact{called}, facts...)
	}
	events, err := t.port.Submit(ctx, facts...)
	if err != nil {
		return "", false, err
	}
	why, over = verdict(events, f)
	return why, over, nil
}

// verdict finds what became of a proposal.
func verdict(events []event.Event, f event.Fact) (why string, over bool) {
	over = true
	for _, e := range events {
		switch b := e.Body.(type) {
		case event.Refused:
			if b.Ref == f.ID {
				why, over = b.Why, b.Over
			}
		case event.Lost:
			if e.Agent == f.Agent {
				return why, true
			}
		case event.Finished:
			return why, true
		}
	}
	return why, over
}

// snapshot keeps the workspace as it is where an answer is put forward.
func (t *turn) snapshot(ctx context.Context, calls []event.ToolCall) (string, error) {
	if len(calls) != 1 || calls[0].Name != event.ToolNewAnswer {
		return "", nil
	}
	return t.hand.Snapshot(ctx)
}

// brief is what every prompt of a turn shares.
func (t *turn) brief(ctx context.Context, shown []coord.Shown, said []coord.Message) (prompt.In, error) {
	task, err := t.text(ctx, t.crew.Spec.Task)
	if err != nil {
		return prompt.In{}, err
	}
	background, err := t.text(ctx, t.crew.Spec.Context)
	if err != nil {
		return prompt.In{}, err
	}
	answers, err := t.answers(ctx, shown)
	if err != nil {
		return prompt.In{}, err
	}
	messages, err := t.messages(ctx, said)
	if err != nil {
		return prompt.In{}, err
	}
	t.shown = answers
	return prompt.In{
		Task: task, Context: background, Answers: answers, Messages: messages, Alone: len(t.crew.Agents) == 1,
		Extra: t.agent.Seat.Prompt, Fence: t.fence, Scene: t.scene(),
	}, nil
}

// scene is the agent's surroundings; files that are quoted in it come from
// outside like any others.
func (t *turn) scene() prompt.Scene {
	s := t.hand.Scene()
	clean := func(texts []prompt.Text) []prompt.Text {
		out := slices.Clone(texts)
		for i := range out {
			out[i].Text = t.clean(out[i].Text)
		}
		return out
	}
	s.Instructions, s.Memory = clean(s.Instructions), clean(s.Memory)
	return s
}

// open begins the conversation of a turn.
func (t *turn) open(ctx context.Context, in prompt.In, tools []tool.Tool) error {
	images, err := t.pictures(ctx, t.crew.Spec.Images)
	if err != nil {
		return err
	}
	t.in = backend.Input{Thread: threadRun, Room: t.hand.Room(), System: prompt.System(in), Messages: []backend.Message{{From: backend.User, Text: prompt.User(in), Images: images}}}
	t.tools = map[string]tool.Tool{}
	for _, x := range tools {
		t.bind(x)
	}
	if len(tools) > 0 && t.agent.Backend.Traits().OwnsLoop {
		t.bind(readResult{t})
	}
	return nil
}

// The conversations of an agent, for a backend that remembers them.
const (
	threadRun  = "run"
	threadTalk = "talk"
)

func threadPhase(n int) string { return fmt.Sprintf("phase/%d", n) }

// remembers reports whether the agent works with tools of its own and recalls what
// it did with them in an earlier take.
func (t *turn) remembers() bool {
	is := t.agent.Backend.Traits()
	return is.OwnTools && is.NativeHistory
}

// bind offers the agent a tool from the next call on.
func (t *turn) bind(x tool.Tool) {
	t.tools[x.Name()] = x
	t.in.Tools = append(slices.Clip(t.in.Tools), backend.ToolSpec{Name: x.Name(), Description: x.Description(), Schema: x.Schema()})
}

// bound are the tools a turn may use at all: none when its time is over, and
// only those that look while planning.
func (t *turn) bound(planning, closing bool) []tool.Tool {
	if closing {
		return nil
	}
	var out []tool.Tool
	for _, x := range append(slices.Clip(t.agent.Tools), t.hand.Tools()...) {
		if !planning || x.Tier() == tool.Read {
			out = append(out, x)
		}
	}
	return out
}

func split(calls []event.ToolCall) (tools, outcomes []event.ToolCall) {
	for _, c := range calls {
		if event.IsOutcome(c.Name) {
			outcomes = append(outcomes, c)
		} else {
			tools = append(tools, c)
		}
	}
	return tools, outcomes
}

// done are the calls of a take that was cut that had effects which last: those
// of tools of the tier and above. The workspace was put back.
func done(calls []event.ToolCall, tools []tool.Tool, from tool.Tier) []string {
	var out []string
	for _, c := range calls {
		if slices.ContainsFunc(tools, func(x tool.Tool) bool { return x.Name() == c.Name && x.Tier() >= from }) {
			out = append(out, fmt.Sprintf("%s %s", c.Name, c.Input))
		}
	}
	return out
}

func unknown(calls []event.ToolCall) []string {
	var out []string
	for _, c := range calls {
		out = append(out, fmt.Sprintf("%s %s", c.Name, c.Input))
	}
	return out
}
