package chat

import (
	"fmt"
	"time"

	"conclave/internal/event"
)

// Due is what the state demands to be recorded next, at most one fact: first
// verdicts, then the run or the question that the newest turn calls for.
func (s *Session) Due() []event.Fact {
	if s.s.Started == nil {
		return nil
	}
	if f, ok := s.verdict(); ok {
		return []event.Fact{f}
	}
	switch t := s.last(); {
	case t == nil:
	case t.launches():
		return []event.Fact{s.launch(t)}
	case t.asks():
		return []event.Fact{s.ask(t)}
	}
	return nil
}

// Decides reports whether a body is one that a session decides, not one that
// happens to it.
func (s *Session) Decides(b event.Body) bool {
	switch b.(type) {
	case event.Admitted, event.Refused, event.Launched, event.Asked, event.Closed:
		return true
	}
	return false
}

// Hears reports whether a body may come from anybody: people say things, change
// plans, reply, rename and cancel.
func (s *Session) Hears(b event.Body) bool {
	switch b.(type) {
	case event.Said, event.Revised, event.Renamed, event.Replied, event.CancelRequested:
		return true
	}
	return false
}

// launches reports whether the turn calls for a run: its first, or the one that
// the answer about its plan asks for.
func (t *Turn) launches() bool {
	if len(t.Runs) == 0 {
		return true
	}
	g := t.Gate
	return g != nil && g.Closed != nil && g.Closed.Choice != event.PlanDrop && len(t.Runs) == g.Runs
}

// asks reports whether the person has to be asked about the plan: for the first
// time, about another revision, or again because the run that was to change it
// has brought none.
func (t *Turn) asks() bool {
	g, p := t.Gate, t.plan()
	switch {
	case p == nil || t.active() != nil || t.keep() != nil:
		return false
	case g == nil:
		return true
	case g.Closed == nil:
		return g.Revision < p.Revision
	}
	return g.Closed.Choice == event.PlanChange && len(t.Runs) > g.Runs
}

func (s *Session) launch(t *Turn) event.Fact {
	l := event.Launched{Purpose: event.PurposeAnswer, Said: t.ID, Modes: t.Modes}
	at := t.At
	if t.Modes.Plan {
		l.Purpose, l.Plan = event.PurposePlan, s.name("plan", t.At, t.ID)
	}
	if p, g := t.plan(), t.Gate; p != nil && g != nil && g.Closed != nil {
		at = g.ClosedAt
		l.Plan, l.Revision, l.Note = p.Plan, p.Revision, g.Closed.Text
		if g.Closed.Choice == event.PlanApprove {
			l.Purpose, l.Modes.Plan = event.PurposeExecute, false
		}
	}
	l.Run = event.FlowID(s.name("run", at, fmt.Sprintf("%s/%d", t.ID, len(t.Runs)+1)))
	return event.Fact{ID: "launched/" + string(l.Run), Body: l}
}

// name is drawn from its cause alone, so that whoever takes the session up after
// a crash launches the same run and no other. It looks like every other name:
// when, and four letters.
func (s *Session) name(kind string, at time.Time, cause string) string {
	const letters = "abcdefghjkmnpqrstuvwxyz23456789"
	n := event.Draw(0, string(s.s.Flow), kind, cause)
	var b [4]byte
	for i := range b {
		b[i] = letters[n%uint64(len(letters))]
		n /= uint64(len(letters))
	}
	return kind + "-" + at.UTC().Format("20060102-150405") + "-" + string(b[:])
}

func (s *Session) ask(t *Turn) event.Fact {
	p, n := t.plan(), 1
	title := "The plan is ready. What is to be done with it?"
	if g := t.Gate; g != nil {
		n = g.Times + 1
		title = fmt.Sprintf("Revision %d of the plan is ready. What is to be done with it?", p.Revision)
		if g.Revision == p.Revision {
			title = fmt.Sprintf("The plan was not changed, and revision %d stands. What is to be done with it?", p.Revision)
		}
	}
	return event.Fact{ID: fmt.Sprintf("asked/%s/%d", p.Plan, n), Body: event.Asked{
		Gate: p.Plan, Kind: event.GatePlan, Title: title, Text: p.Text, Choices: planChoices, Revision: p.Revision,
		Ref: fmt.Sprintf("planned/%s/%d", p.Plan, p.Revision),
	}}
}

var planChoices = []event.Choice{
	{ID: event.PlanApprove, Text: "carry it out; what you add is minded"},
	{ID: event.PlanChange, Text: "have it changed; say how"},
	{ID: event.PlanDrop, Text: "drop it"},
}
