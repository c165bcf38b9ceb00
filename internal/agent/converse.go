package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/dialog"
	"conclave/internal/event"
	"conclave/internal/tool"
)

// discuss has the model speak, and carries out what it calls, until it calls
// nothing more or the turn is over for another reason: the loop of sessions, jobs and
// teams.
func (t *turn) discuss(ctx context.Context) error {
	for {
		if t.closed || t.conv.answered() { // and cut before it could say that this was all
			return t.concluded(ctx)
		}
		if err := t.hear(ctx); err != nil {
			return err
		}
		if t.calls >= t.left {
			return t.exhausted(ctx)
		}
		reply, called, err := t.speak(ctx)
		switch {
		case err != nil && t.closed && ctx.Err() == nil:
			continue // what a backend's own loop had to bring it has brought
		case err != nil:
			return err
		}
		over, err := t.heed(ctx, reply, called)
		if err != nil || over {
			return err
		}
	}
}

// heed acts on a reply: tools, or the end of the turn.
func (t *turn) heed(ctx context.Context, r backend.Reply, called event.Fact) (over bool, err error) {
	body := called.Body.(event.Called)
	if len(body.Tools) == 0 {
		if strings.TrimSpace(r.Text) == "" && !t.conv.spoke && !t.closed && !t.acted() {
			t.granted, t.spent = body.Request, r.Usage
			return false, &backend.Error{Kind: backend.Garbled, Message: "the model said nothing"}
		}
		return true, t.concluded(ctx, called)
	}
	if _, err := t.port.Submit(ctx, called); err != nil {
		return false, err
	}
	if err := t.conv.add(ctx, dialog.Entry{ID: called.ID, Turn: t.turn, Called: &body}); err != nil {
		return false, err
	}
	if t.calls < t.left || t.goesOn() {
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
	if t.duty != nil {
		kept, err := t.duty.leave(ctx)
		if err != nil {
			return err
		}
		with = append(with, kept...)
	}
	_, err := t.port.Submit(ctx, append(with, t.fact("concluded", event.Concluded{Turn: t.turn}))...)
	return err
}

// exhausted ends a turn that has made all the model calls it may. In a session a
// person decides whether it goes on; a job or a team has the next turn do that.
func (t *turn) exhausted(ctx context.Context) error {
	if !t.goesOn() {
		return &limitError{t.conv.most}
	}
	what := "the phase"
	if t.duty != nil {
		what = "the work"
	}
	return t.concluded(ctx, t.fact("noticed", event.Noticed{
		Turn: t.turn, Text: fmt.Sprintf("the turn has made all of its %d model calls; %s goes on with another", t.conv.most, what),
	}))
}

// goesOn reports whether there is another turn after one that was not finished,
// without anybody asking for it.
func (t *turn) goesOn() bool { return t.phase != nil || t.duty != nil }

// acted reports whether the turn has brought something though nothing was said in it.
func (t *turn) acted() bool {
	return t.duty != nil && t.duty.acted || t.phase != nil && t.phase.acted && t.agent.Backend.Traits().OwnsLoop
}

// over is what calls are answered with that come after the one that ended the turn.
func (t *turn) over() tool.Result {
	if t.duty != nil {
		return tool.Failed(turnEnded)
	}
	return tool.Failed(phaseOver)
}

// takeUp finishes the calls of a turn that was cut. What a tool of the turn's own
// wanted is found again and waited for; of anything else nobody knows whether it
// took effect, but for what stood after such a tool, which had not begun.
func (t *turn) takeUp(ctx context.Context) error {
	begun, lost := true, false
	for _, c := range slices.Clone(t.conv.open) {
		_, own := t.tools[c.Name].(caller)
		begun = begun && !own
		var err error
		switch {
		case t.closed && !own:
			_, err = t.returned(ctx, c, t.over())
		case begun && t.goesOn() && t.looks(c):
			_, err = t.use(ctx, c) // looking twice does no harm
		case begun:
			lost = true
			_, err = t.returned(ctx, c, tool.Failed(outcomeUnknown))
		case lost && t.goesOn():
			// It may rest on what nobody knows.
			_, err = t.returned(ctx, c, tool.Failed(notBegun))
		default:
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
