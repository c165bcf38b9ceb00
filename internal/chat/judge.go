package chat

import (
	"fmt"
	"slices"
	"strings"

	"conclave/internal/event"
	"conclave/internal/flow"
)

// Codes of refusals. What a person reads is the sentence beside them.
const (
	codeEmpty  = "empty"
	codeBusy   = "busy"
	codeReview = "review"
	codeGate   = "gate"
	codeIdle   = "idle"
)

// A verdict is nil, or why something is refused.
type verdict struct{ code, why string }

// verdict judges the oldest thing that waits for one.
func (s *Session) verdict() (event.Fact, bool) {
	if len(s.inbox) == 0 {
		return event.Fact{}, false
	}
	e := s.inbox[0]
	accepted := flow.Admit(e)
	var v *verdict
	switch b := e.Body.(type) {
	case event.Said:
		v = s.judgeSaid(b)
	case event.Replied:
		accepted, v = s.judgeReply(e.ID, b)
	case event.Revised:
		v = s.judgeRevised(b)
	case event.Renamed:
		if strings.TrimSpace(b.Title) == "" {
			v = &verdict{codeEmpty, "The title is empty."}
		}
	case event.CancelRequested:
		if t := s.last(); t == nil || t.active() == nil {
			v = &verdict{codeIdle, "No run of this session is going on."}
		}
	}
	if v == nil {
		return accepted, true
	}
	return flow.Refuse(e, v.code, v.why, false), true
}

func (s *Session) judgeSaid(b event.Said) *verdict {
	t := s.last()
	switch {
	case blank(b.Text):
		return &verdict{codeEmpty, "There is nothing to work on: the message is empty."}
	case t == nil || t.idle():
		return nil
	case t.active() != nil:
		return &verdict{codeBusy, fmt.Sprintf("%s is still going on. Wait for its end, say it to the run, or cancel the run first.", t.active().Run)}
	case t.reviewing():
		return &verdict{codeReview, "A plan waits for your review. Approve it, say what to change, or drop it first."}
	}
	return &verdict{codeBusy, "A plan is just being kept. Say it again in a moment."}
}

func blank(c event.Content) bool {
	return c.Empty() || c.Blob == "" && strings.TrimSpace(c.Text) == ""
}

// judgeReply takes the first reply to the newest revision of a plan in review.
func (s *Session) judgeReply(id string, b event.Replied) (event.Fact, *verdict) {
	t := s.last()
	if t == nil || t.Gate == nil || t.Gate.Gate != b.Gate {
		return event.Fact{}, &verdict{codeGate, fmt.Sprintf("There is no question %q.", b.Gate)}
	}
	g := t.Gate
	switch {
	case g.Closed != nil:
		return event.Fact{}, &verdict{codeGate, fmt.Sprintf("%q is already answered: %s.", b.Gate, g.Closed.Choice)}
	case b.Revision != g.Revision || t.Edit != nil:
		return event.Fact{}, s.older(t, b.Revision)
	case !slices.ContainsFunc(g.Choices, func(c event.Choice) bool { return c.ID == b.Choice }):
		return event.Fact{}, &verdict{codeGate, fmt.Sprintf("%q is not one of the choices.", b.Choice)}
	case b.Choice == event.PlanChange && strings.TrimSpace(b.Text) == "":
		return event.Fact{}, &verdict{codeEmpty, "Say what is to be different about the plan."}
	}
	return event.Fact{ID: fmt.Sprintf("closed/%s/%d", g.Gate, g.Times), Body: event.Closed{
		Gate: g.Gate, Choice: b.Choice, How: "reply", By: b.By, Reply: id, Text: b.Text,
	}}, nil
}

func (s *Session) judgeRevised(b event.Revised) *verdict {
	t := s.last()
	switch {
	case t == nil || !t.reviewing() || t.Gate.Gate != b.Plan:
		return &verdict{codeGate, fmt.Sprintf("No plan %q waits for review, so it cannot be changed.", b.Plan)}
	case b.Revision != t.Gate.Revision || t.Edit != nil:
		return s.older(t, b.Revision)
	case blank(b.Text):
		return &verdict{codeEmpty, "The plan is empty. To be rid of it, drop it."}
	}
	return nil
}

// older refuses what is about another revision than the one being asked about,
// or the one about to be.
func (s *Session) older(t *Turn, said int) *verdict {
	now := t.Gate.Revision
	if t.Edit != nil {
		now++
	}
	return &verdict{codeGate, fmt.Sprintf("That was about revision %d of the plan; the newest is revision %d.", said, now)}
}
