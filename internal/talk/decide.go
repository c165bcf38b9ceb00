package talk

import (
	"conclave/internal/event"
)

// Due is what the state demands to be recorded next, at most one fact: first
// verdicts, then what a crash or time has brought about, then what wanted runs
// call for, then turns.
func (s *Session) Due() []event.Fact {
	if s.s.Started == nil {
		return nil
	}
	for _, next := range order {
		if f, ok := next(s); ok {
			return []event.Fact{f}
		}
	}
	return nil
}

// order is in which order a session looks for what is due.
var order = []func(*Session) (event.Fact, bool){
	(*Session).verdict, (*Session).cutOff, (*Session).lapsed, (*Session).due, (*Session).begin,
}

// Decides reports whether a body is one that a session decides, not one that
// happens to it.
func (s *Session) Decides(b event.Body) bool {
	switch b.(type) {
	case event.Admitted, event.Refused, event.Granted, event.Asked, event.Closed, event.Launched,
		event.Assigned, event.Interrupted:
		return true
	}
	return false
}

// Hears reports whether a body may come from anybody. A wanted run may: in a
// session of a client it does, and in any other it is refused.
func (s *Session) Hears(b event.Body) bool {
	switch b.(type) {
	case event.Said, event.Withdrawn, event.Replied, event.Amended, event.CancelRequested, event.Held,
		event.Waived, event.Pinned, event.Archived, event.Renamed, event.Opened, event.Wanted,
		event.Outlined, event.Linked, event.Tiered:
		return true
	}
	return false
}

// cutOff records that the take was cut whose driver went away. Of a run that it
// wanted the outcome is not unknown: the log has it, or will.
func (s *Session) cutOff() (event.Fact, bool) {
	t := s.s.Turn
	if t == nil || !t.Cut {
		return event.Fact{}, false
	}
	var unknown []event.ToolCall
	for _, c := range t.Open {
		if c.Name != event.ToolLaunchRun {
			unknown = append(unknown, c)
		}
	}
	return event.Fact{ID: "interrupted/" + string(t.Agent) + "/" + t.Turn.String(), Agent: t.Agent, Body: event.Interrupted{
		Turn: t.Turn, Why: "the program stopped in the middle of it", Unknown: unknown,
	}}, true
}

// begin sets the agent to work: on the next take of the turn that goes on, or on
// what was said since.
func (s *Session) begin() (event.Fact, bool) {
	if s.s.Staffed == nil || s.s.Staffed.Seat.Agent == "" || s.client() {
		return event.Fact{}, false
	}
	b := event.Assigned{Turn: event.Turn{Round: s.s.Rounds + 1, Take: 1}}
	switch t := s.s.Turn; {
	case t != nil && (t.Live || s.resting()):
		return event.Fact{}, false
	case t != nil: // what was said meanwhile it hears between two calls
		b.Turn = event.Turn{Round: t.Round, Take: t.Take + 1}
	case len(s.s.Held) == 0 || s.busy():
		return event.Fact{}, false
	default:
		for _, x := range s.s.Held {
			b.Messages = append(b.Messages, x.ID)
		}
	}
	a := s.s.Staffed.Seat.Agent
	return event.Fact{ID: "assigned/" + string(a) + "/" + b.Turn.String(), Agent: a, Body: b}, true
}
