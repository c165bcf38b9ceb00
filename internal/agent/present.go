package agent

import (
	"context"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/coord"
	"conclave/internal/event"
	"conclave/internal/prompt"
)

// present takes the turn that writes the final answer: the text of the first
// reply that calls no tools.
func (t *turn) present(ctx context.Context, p coord.Present) error {
	in, err := t.brief(ctx, p.Answers)
	if err != nil {
		return err
	}
	in.Presenting, in.Synthesis = true, p.Strategy == event.Synthesize
	in.Planning, in.Execute, in.Write, in.Unknown = p.Planning, p.Execute, p.Write, unknown(p.Unknown)
	for _, v := range p.Votes {
		in.Votes = append(in.Votes, prompt.Vote{Voter: string(v.Voter), For: string(v.For), Reason: v.Reason})
	}
	t.open(in, bound(t.agent.Tools, p.Planning, false))
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
	text, err := t.crew.content(ctx, strings.TrimSpace(r.Text))
	if err != nil {
		return false, err
	}
	f := t.fact("presented", event.Presented{Turn: t.turn, Content: text})
	events, err := t.port.Submit(ctx, called, f)
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
