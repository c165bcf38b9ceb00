package team

import (
	"slices"

	"conclave/internal/dialog"
	"conclave/internal/event"
)

// Due is what the state demands to be recorded next, at most one fact: first
// verdicts, then what a crash, a person or time has brought about, then what
// members are told, then the end or what keeps the team from going on, then turns.
func (t *Team) Due() []event.Fact {
	if t.s.Started == nil || t.s.Ended != nil {
		return nil
	}
	for _, next := range order {
		if f, ok := next(t); ok {
			return []event.Fact{f}
		}
	}
	return nil
}

// order is in which order a team looks for what is due.
var order = []func(*Team) (event.Fact, bool){
	(*Team).verdict, (*Team).cutOff, (*Team).lapsed, (*Team).doomed, (*Team).overdue,
	(*Team).notify, (*Team).ended, (*Team).halt, (*Team).begin, (*Team).standstill,
}

// Decides reports whether a body is one that a team decides, not one that happens
// to it.
func (t *Team) Decides(b event.Body) bool {
	switch b.(type) {
	case event.Admitted, event.Refused, event.Granted, event.Asked, event.Closed, event.Assigned,
		event.Interrupted, event.Warned, event.Notified, event.Lost, event.TeamEnded:
		return true
	}
	return false
}

// Hears reports whether a body may come from anybody.
func (t *Team) Hears(b event.Body) bool {
	switch b.(type) {
	case event.Messaged, event.Withdrawn, event.Replied, event.CancelRequested, event.WrapUpRequested,
		event.StopRequested, event.Renamed, event.Held:
		return true
	}
	return false
}

// cutOff ends the takes whose driver went away. Of what the tools of the team
// itself have put forward nothing is unknown: the log has it.
func (t *Team) cutOff() (event.Fact, bool) {
	for _, m := range t.s.Members {
		if m.Turn != nil && m.Turn.Cut {
			return cutShort(m.Turn, "the program stopped in the middle of it"), true
		}
	}
	return event.Fact{}, false
}

// Owns reports whether a tool is one of the team itself: what it puts forward is in
// the log, with its verdict. Merging is not: its effect may have happened.
func Owns(tool string) bool { return slices.Contains(ownTools, tool) }

var ownTools = []string{
	event.ToolSpawnMember, event.ToolSendMessage, event.ToolWaitFor, event.ToolListMembers,
	event.ToolAssign, event.ToolFinish, event.ToolReport, event.ToolAskLeader,
}

// lapsed closes permissions whose take has ended, since nobody waits for the
// answer, and those that have been open for too long.
func (t *Team) lapsed() (event.Fact, bool) {
	return t.s.Lapsed(t.s.Clock, func(w *dialog.Wish) bool {
		m := t.current(w.Agent, w.Turn)
		return m != nil && !m.Turn.Stopped && t.s.Ending == nil
	})
}

// doomed records who is lost.
func (t *Team) doomed() (event.Fact, bool) {
	for _, m := range t.s.Members {
		if m.Doom != nil {
			return event.Fact{ID: "lost/" + string(m.ID), Agent: m.ID, Body: *m.Doom}, true
		}
	}
	return event.Fact{}, false
}

// begin sets somebody to work: on the next take of a turn, or on what it was sent.
func (t *Team) begin() (event.Fact, bool) {
	if !t.goesOn() {
		return event.Fact{}, false
	}
	for _, m := range t.s.Members {
		switch u := m.Turn; {
		case u != nil && !u.Live && !t.resting(u):
			b := event.Assigned{Turn: event.Turn{Round: u.Round, Take: u.Take + 1}, Messages: ids(u.Mail)}
			return assigned(m, b), true
		case t.ready(m) && t.s.Finish == nil && !t.spent():
			return t.round(m), true
		}
	}
	return event.Fact{}, false
}

// round is a member's next turn, with everything it was not told yet.
func (t *Team) round(m *member) event.Fact {
	return assigned(m, event.Assigned{Turn: event.Turn{Round: m.Rounds + 1, Take: 1}, Messages: ids(m.Box)})
}

func assigned(m *member, b event.Assigned) event.Fact {
	return event.Fact{ID: "assigned/" + string(m.ID) + "/" + b.Turn.String(), Agent: m.ID, Body: b}
}
