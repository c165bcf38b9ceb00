package chat

import (
	"conclave/internal/event"
	"conclave/internal/flow"
)

// apply changes the state by one event and returns the commands that follow
// from it.
func (s *Session) apply(e event.Event) []flow.Command {
	if _, first := e.Body.(event.SessionStarted); s.s.Started == nil && !first {
		return nil // a damaged log; Check says so
	}
	switch b := e.Body.(type) {
	case event.SessionStarted:
		*s = Session{s: state{Flow: e.Flow, Started: &b}}

	// What people say waits for a verdict.
	case event.Said, event.Replied, event.Revised, event.Renamed, event.CancelRequested:
		s.inbox = append(s.inbox, e)
	case event.Refused:
		s.inbox.Take(b.Ref)
	case event.Admitted:
		return s.admit(b)
	case event.Closed:
		s.inbox.Take(b.Reply)
		if t := s.last(); t != nil && t.Gate != nil && t.Gate.Gate == b.Gate {
			t.Gate.Closed, t.Gate.ClosedAt = &b, e.At
		}

	case event.Launched:
		if t := s.last(); t != nil && t.ID == b.Said {
			t.Runs = append(t.Runs, Run{Launched: b})
			return []flow.Command{s.launching(t)}
		}
	case event.Returned:
		if t := s.last(); t != nil && t.active() != nil && t.active().Run == b.Run {
			t.active().Returned = &b
			return s.keeping(t)
		}
	case event.Planned:
		// Said twice, as after a crash, it is the same revision.
		if t := s.last(); t != nil && (t.plan() == nil || t.plan().Revision < b.Revision) {
			t.Plans, t.Edit = append(t.Plans, b), nil
		}
	case event.Asked:
		if t := s.last(); t != nil {
			n := 1
			if t.Gate != nil {
				n = t.Gate.Times + 1
			}
			t.Gate = &Gate{Asked: b, Times: n, Runs: len(t.Runs)}
		}
	}
	return nil
}

func (s *Session) admit(a event.Admitted) []flow.Command {
	e, ok := s.inbox.Take(a.Ref)
	if !ok {
		return nil // a damaged log; Check says so
	}
	t := s.last()
	switch b := e.Body.(type) {
	case event.Said:
		s.s.Turns = append(s.s.Turns, &Turn{ID: e.ID, At: e.At, Said: b})
	case event.Renamed:
		s.s.Title = b.Title
	case event.Revised:
		if t != nil {
			t.Edit = &b
			return s.keeping(t)
		}
	case event.CancelRequested:
		if t != nil && t.active() != nil {
			c := &Cancel{ID: e.ID, CancelRequested: b}
			t.active().Cancel = c
			return []flow.Command{flow.Tell{Work: launchKey(t.active().Run), Note: *c}}
		}
	}
	return nil
}

// keeping is the command to keep a plan, if there is one to be kept.
func (s *Session) keeping(t *Turn) []flow.Command {
	if k := t.keep(); k != nil {
		return []flow.Command{*k}
	}
	return nil
}
