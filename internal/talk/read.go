package talk

import (
	"slices"

	"conclave/internal/budget"
	"conclave/internal/event"
)

// Phase is what the session does. It is never stored.
func (s *Session) Phase() Phase {
	switch {
	case slices.ContainsFunc(s.s.Wants, (*Want).asking):
		return Awaiting
	case slices.ContainsFunc(s.s.Wants, (*Want).running):
		return Running
	case s.s.Turn == nil:
		return Idle
	}
	for _, w := range slices.Backward(s.s.Wants) {
		if s.s.Turn.wants(w) && w.Refused == nil {
			return w.after()
		}
	}
	return Chatting
}

// after is what the agent does once it knows what has come of the run.
func (w *Want) after() Phase {
	switch {
	case w.Returned == nil, w.Returned.Status == event.StatusCancelled:
		return Cancelled
	case w.Returned.Status == event.StatusSuccess:
		return Results
	}
	return Partial
}

// AtRest reports whether nothing goes on that anybody but a person could end. A
// turn that waits until a run is approved can be left and taken up again; one that
// waits for a permission cannot.
func (s *Session) AtRest() bool {
	asking := slices.ContainsFunc(s.s.Wants, (*Want).asking)
	return len(s.inbox) == 0 && !slices.ContainsFunc(s.s.Wants, (*Want).running) &&
		!s.s.Asking() && (s.s.Turn == nil || asking)
}

// Staffed is who talks and by which rules; ok is false before anybody has said.
func (s *Session) Staffed() (b event.Staffed, ok bool) {
	if s.s.Staffed == nil {
		return b, false
	}
	return *s.s.Staffed, true
}

// Started is how the session began.
func (s *Session) Started() (b event.SessionStarted, ok bool) {
	if s.s.Started == nil {
		return b, false
	}
	return *s.s.Started, true
}

// Project is the one that is open; empty if none is.
func (s *Session) Project() string { return s.s.Project }

// Title is what people call the session.
func (s *Session) Title() string { return s.s.Title }

// Waived reports whether a person has said that runs are launched without asking.
func (s *Session) Waived() bool { return s.s.Waived }

// Archived reports whether the session was put away.
func (s *Session) Archived() bool { return s.s.Archived }

// Left is what may still be spent.
func (s *Session) Left() event.Budget { return s.s.Ledger.Left() }

// Ledger is the account over the conversation and its runs; it is not to be
// changed.
func (s *Session) Ledger() budget.Ledger { return s.s.Ledger }

// Used is what the conversation itself and what its runs have used.
func (s *Session) Used() (talk, runs event.Usage) { return s.s.Talked, s.s.Ran }

// Held is what was said and the agent has not heard yet, oldest first.
func (s *Session) Held() []Entry { return slices.Clip(s.s.Held) }

// History is the conversation since the last summary, which is nil if there is
// none; pins are what of the rest stays word for word.
func (s *Session) History() (summary *event.Compacted, pins, history []Entry) {
	return s.s.Summary, slices.Clip(s.s.Pins), slices.Clip(s.s.History)
}

// Wants are the runs that were wanted, oldest first: all that are not over, and
// the last of those that are.
func (s *Session) Wants() []Want {
	var out []Want
	for _, w := range s.s.Wants {
		out = append(out, *w)
	}
	return out
}
