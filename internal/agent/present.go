package agent

import (
	"context"
	"errors"
	"slices"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/coord"
	"conclave/internal/event"
	"conclave/internal/prompt"
	"conclave/internal/tool"
)

// present takes the turn that writes the final answer: the text of the first
// reply that calls no tools.
func (t *turn) present(ctx context.Context, p coord.Present) error {
	err := t.equip(ctx, Need{Role: event.RolePresent, Planning: p.Planning, Write: p.Write, Peers: peers(p.Answers)})
	if err != nil {
		return err
	}
	in, err := t.brief(ctx, p.Answers, p.Said)
	if err != nil {
		return err
	}
	in.Presenting, in.Synthesis = true, p.Strategy == event.Synthesize
	in.Planning, in.Execute, in.Write, in.Unknown = p.Planning, p.Execute, p.Write, unknown(p.Unknown)
	for _, v := range p.Votes {
		in.Votes = append(in.Votes, prompt.Vote{Voter: string(v.Voter), For: string(v.For), Reason: v.Reason})
	}
	tools := t.bound(p.Planning, false)
	in.Done = done(p.Done, tools, tool.Write) // its files are as it left them
	if err := t.open(ctx, in, tools); err != nil {
		return err
	}
	for {
		if err := t.hear(ctx); err != nil {
			return err
		}
		reply, called, err := t.speak(ctx)
		if err != nil {
			return err
		}
		over, err := t.deliver(ctx, reply, called)
		if err != nil || over {
			return err
		}
	}
}

func (t *turn) deliver(ctx context.Context, r backend.Reply, called event.Fact) (over bool, err error) {
	if len(r.Calls) > 0 && !t.agent.Backend.Traits().OwnsLoop && t.calls < t.left {
		if _, err := t.port.Submit(ctx, called); err != nil {
			return false, err
		}
		results, err := t.carryOut(ctx, r.Calls)
		if err != nil {
			return false, err
		}
		t.listen(r, results)
		return false, nil
	}
	text, err := t.content(ctx, strings.TrimSpace(r.Text))
	if err != nil {
		return false, err
	}
	snapshot, err := t.hand.Snapshot(ctx)
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		return false, t.again(ctx, r, called, refusal.Why)
	}
	if err != nil {
		return false, err
	}
	written := t.written(ctx)
	f := t.fact("presented", event.Presented{Turn: t.turn, Content: text, Snapshot: snapshot})
	events, err := t.port.Submit(ctx, slices.Concat([]event.Fact{called}, written, []event.Fact{f})...)
	if err != nil {
		return false, err
	}
	why, over := verdict(events, f)
	if !over {
		t.listen(r, nil)
		t.say(why)
	}
	return over, nil
}

// again tells the presenter what is wrong with what it delivered.
func (t *turn) again(ctx context.Context, r backend.Reply, called event.Fact, why string) error {
	if _, err := t.port.Submit(ctx, called); err != nil {
		return err
	}
	t.listen(r, nil)
	t.say(why)
	return nil
}
