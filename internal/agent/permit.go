package agent

import (
	"cmp"
	"context"
	"fmt"

	"conclave/internal/coord"
	"conclave/internal/event"
	"conclave/internal/policy"
	"conclave/internal/tool"
)

// permit decides whether a call may be carried out, by the rules and, where they
// say so, by a person. A nil result means yes.
func (t *turn) permit(ctx context.Context, x tool.Tool, c event.ToolCall) (*tool.Result, error) {
	action, v := t.hand.Judge(x, c)
	return t.decide(ctx, c, action, v)
}

// decide carries a verdict out: where it is to ask, a person does.
func (t *turn) decide(ctx context.Context, c event.ToolCall, action policy.Action, v policy.Verdict) (*tool.Result, error) {
	switch v.Decision {
	case policy.Allow:
		return nil, nil
	case policy.Deny:
		return denied(v.Reason), nil
	}
	text, err := t.content(ctx, action.Describe())
	if err != nil {
		return nil, err
	}
	f := t.fact("wished", event.Wished{Turn: t.turn, Call: c.ID, Tool: c.Name, Action: text, Hash: action.Hash(), Rule: cmp.Or(v.Rule, v.Reason)})
	events, err := t.port.Submit(ctx, f)
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		switch b := e.Body.(type) {
		case event.Admitted:
			if b.Ref == f.ID {
				return nil, nil
			}
		case event.Refused:
			if b.Ref == f.ID && b.Over {
				return nil, cmp.Or(context.Cause(ctx), errTurnOver) // a turn that is stopped says so
			}
			if b.Ref == f.ID {
				return denied(b.Why), nil
			}
		case event.Asked:
			if b.Ref == f.ID {
				return t.await(ctx, b.Gate, action)
			}
		}
	}
	return nil, errTurnOver
}

func denied(why string) *tool.Result {
	r := tool.Failed("Not permitted: " + why + " Find another way, or say in your answer what you would have done.")
	return &r
}

// await waits for a person's decision.
func (t *turn) await(ctx context.Context, gate string, a policy.Action) (*tool.Result, error) {
	n, err := t.box.await(ctx, func(n note) bool { return n.Kind == coord.NotePermission && n.Gate == gate })
	if err != nil {
		return nil, err
	}
	switch n.Choice {
	case event.PermitOnce, event.PermitRun:
		return nil, nil
	case event.PermitAlways:
		if err := t.hand.Remember(a); err != nil {
			return nil, fmt.Errorf("remember a permission: %w", err)
		}
		return nil, nil
	}
	return denied(cmp.Or(endings[n.Text], fmt.Sprintf("a person said no: %s.", n.Text))), nil
}

// endings are for how a question may end without anything being said.
var endings = map[string]string{
	"reply":   "a person said no.",
	"expired": "nobody answered in time.",
	"ending":  "the question was withdrawn.",
}
