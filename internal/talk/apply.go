package talk

import (
	"slices"

	"conclave/internal/event"
	"conclave/internal/flow"
)

// apply changes the state by one event and returns the commands that follow from
// it. Facts about a take that is no longer current change the account and nothing
// else.
func (s *Session) apply(e event.Event) []flow.Command {
	if _, first := e.Body.(event.SessionStarted); s.s.Started == nil && !first {
		return nil // a damaged log; Check says so
	}
	switch b := e.Body.(type) {
	case event.SessionStarted:
		*s = Session{s: state{Flow: e.Flow, Started: &b, Clock: s.s.Clock, Job: b.Job}}
	case event.Staffed:
		s.s.Staffed, s.s.Ledger.Ceiling = &b, b.Rules.Budget
	case event.Resumed:
		s.cut()

	// What people, clients and the agent put forward waits for a verdict.
	case event.Said, event.Withdrawn, event.Replied, event.Amended, event.CancelRequested, event.Held,
		event.Waived, event.Pinned, event.Archived, event.Renamed,
		event.Wanted, event.Requested, event.Wished, event.Linked, event.Tiered:
		s.inbox = append(s.inbox, e)
	case event.Opened:
		if e.Agent == "" {
			s.inbox = append(s.inbox, e)
			break
		}
		s.s.Project = b.Project
	case event.Outlined: // what the agent outlines is there for people to see
		if e.Agent == "" {
			s.inbox = append(s.inbox, e)
		}

	// Verdicts and what else is decided.
	case event.Refused:
		s.refuse(b)
	case event.Admitted:
		return s.admit(b)
	case event.Granted:
		s.grant(b)
	case event.Asked:
		s.ask(b)
	case event.Closed:
		return s.closeGate(e, b)
	case event.Launched:
		return s.launched(b)
	case event.Assigned:
		return s.assign(e.Agent, b)
	case event.Interrupted:
		return s.interrupt(e.Agent, b)

	case event.Returned:
		return s.returned(b)
	default:
		s.report(e)
	}
	return nil
}

// report takes in what the agent says of its turn.
func (s *Session) report(e event.Event) {
	switch b := e.Body.(type) {
	case event.Called:
		s.called(e, b)
	case event.ToolCalled:
		if s.current(e.Agent, b.Turn) {
			s.s.Turn.Using(b.Tool)
		}
	case event.ToolReturned:
		s.toolReturned(e, b)
	case event.Compacted:
		s.compacted(e, b)
	case event.Told:
		if s.current(e.Agent, b.Turn) {
			s.hear(b.Turn, b.Messages)
		}
	case event.Concluded:
		if s.current(e.Agent, b.Turn) {
			s.over()
		}
	case event.Failed:
		s.fail(e, b)
	}
}

// refuse turns something down, and with it the turn if that is over: its agent
// says nothing more. A wanted run is remembered: the call that wanted it may be cut
// off before its agent has noted why.
func (s *Session) refuse(b event.Refused) {
	e, ok := s.inbox.Take(b.Ref)
	if !ok {
		return
	}
	var t event.Turn
	switch p := e.Body.(type) {
	case event.Wanted:
		w := newWant(e, p)
		w.Refused = &b
		s.addWant(w)
		t = p.Turn
	case event.Requested:
		t = p.Turn
	case event.Wished:
		t = p.Turn
	}
	if b.Over && s.current(e.Agent, t) {
		s.over()
	}
}

func (s *Session) admit(a event.Admitted) []flow.Command {
	e, ok := s.inbox.Take(a.Ref)
	if !ok {
		return nil // a damaged log; Check says so
	}
	switch b := e.Body.(type) {
	case event.Said:
		s.s.Held = append(slices.Clip(s.s.Held), Entry{ID: e.ID, At: e.At, Said: &b})
		return s.tellHeld()
	case event.Withdrawn:
		return s.withdraw(e, b)
	case event.Amended:
		s.amend(b)
	case event.CancelRequested:
		return s.cancel(&Cancel{ID: e.ID, CancelRequested: b})
	case event.Held:
		if w := s.s.Question(b.Gate); w != nil {
			w.Held = b.On
		}
	case event.Waived:
		s.s.Waived = b.On
	case event.Pinned:
		s.pin(b)
	case event.Archived:
		s.s.Archived = b.On
	case event.Renamed:
		s.s.Title = b.Title
	case event.Opened:
		s.s.Project = b.Project
	case event.Linked:
		s.s.Job = b.Job
	}
	return nil
}

// cancel ends the runs that go on; or else calls off what a person is asked
// about; or else stops the agent's turn. What is being ended already is passed
// over.
func (s *Session) cancel(c *Cancel) []flow.Command {
	for _, is := range []func(*Want) bool{(*Want).running, (*Want).asking} {
		if !slices.ContainsFunc(s.s.Wants, func(w *Want) bool { return is(w) && (w.Cancel == nil || s.rules().Version < 3) }) {
			continue
		}
		var do []flow.Command
		for _, w := range s.s.Wants {
			if is(w) {
				do = append(do, w.end(c)...)
			}
		}
		return do
	}
	return s.stop()
}
