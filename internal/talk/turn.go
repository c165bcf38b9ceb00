package talk

import (
	"time"

	"conclave/internal/dialog"
	"conclave/internal/event"
	"conclave/internal/flow"
)

// turn is the agent's answer to what was said to it, in as many takes as it
// needs.
type turn struct {
	dialog.Stint
	Said string   `json:"said"`           // the first of what opened it
	Told []string `json:"told,omitempty"` // held messages this take was told of
}

// CodeStopped is the code of a Failed of a turn that was stopped by a person.
const CodeStopped = "stopped"

// tell gives the take that goes on a note.
func (t *turn) tell(n Note) flow.Command { return flow.Tell{Work: t.WorkKey(), Note: n} }

// wants reports whether a call of the turn has wanted the run.
func (t *turn) wants(w *Want) bool { return w.Agent != "" && w.Round == t.Round }

// current reports whether t is the take the agent is in.
func (s *Session) current(a event.AgentID, t event.Turn) bool {
	return s.s.Turn != nil && s.s.Turn.Current(a, t)
}

// resting reports whether the next take waits because a provider asked for it.
func (s *Session) resting() bool {
	t := s.s.Turn
	return t != nil && !t.Live && s.s.Clock.Up < t.Rest
}

func (s *Session) assign(a event.AgentID, b event.Assigned) []flow.Command {
	if s.s.Staffed == nil {
		return nil // a damaged log; Check says so
	}
	t := s.s.Turn
	if t == nil || t.Round != b.Round {
		t = &turn{}
		if len(b.Messages) > 0 {
			t.Said = b.Messages[0]
		}
	}
	t.Begin(a, b.Turn)
	s.s.Turn, s.s.Rounds = t, max(s.s.Rounds, b.Round)
	s.hear(b.Turn, b.Messages)
	return append([]flow.Command{s.work()}, s.tellHeld()...)
}

// cut notes that the driver is gone which had the turn in hand.
func (s *Session) cut() {
	if t := s.s.Turn; t != nil && t.Live {
		t.Cut = true
	}
}

func (s *Session) interrupt(a event.AgentID, b event.Interrupted) []flow.Command {
	if !s.current(a, b.Turn) {
		return nil
	}
	if s.leave(); s.s.Turn.Stopped {
		s.over()
	}
	return []flow.Command{flow.Stop{Work: b.Turn.Key(a)}}
}

// leave ends a take. What it still holds may have been spent.
func (s *Session) leave() {
	s.s.Turn.Leave(&s.s.Ledger)
	s.s.Turn.Told = nil
}

// over ends the turn. What its runs have come to and it had not taken in yet is
// there for the next one.
func (s *Session) over() {
	s.leave()
	for _, w := range s.s.Wants {
		if s.s.Turn.wants(w) {
			s.missed(w)
		}
	}
	s.s.Turn = nil
	s.forget()
}

// stop ends the turn because a person wants it. While a take goes on it is asked
// to come to its end, which it reports.
func (s *Session) stop() []flow.Command {
	t := s.s.Turn
	switch {
	case t == nil:
		return nil // a damaged log; Check says so
	case !t.Live:
		s.over()
		return nil
	}
	t.Stopped = true
	return []flow.Command{flow.Stop{Work: t.WorkKey()}}
}

func (s *Session) called(e event.Event, b event.Called) {
	s.settle(b.Request, b.Usage)
	if !s.current(e.Agent, b.Turn) {
		return
	}
	s.s.Turn.Called(b.Request, b.Tools)
	s.s.Remember(Entry{ID: e.ID, At: e.At, Turn: b.Turn, Called: &b})
}

func (s *Session) toolReturned(e event.Event, b event.ToolReturned) {
	if !s.current(e.Agent, b.Turn) {
		return
	}
	x := Entry{ID: e.ID, At: e.At, Turn: b.Turn, Returned: &b}
	if w := s.resultBy(b); w != nil {
		w.Taken = true
		if w.Launched != nil {
			x.Run, x.Pinned = w.Launched.Run, w.Pinned
		}
	}
	s.s.Turn.Returned(b.Call)
	s.s.Remember(x)
}

func (s *Session) fail(e event.Event, b event.Failed) {
	s.settle(b.Request, b.Usage)
	if !s.current(e.Agent, b.Turn) {
		return
	}
	t := s.s.Turn
	t.Settled(b.Request)
	s.leave()
	t.Attempts++
	t.Rest = s.s.Clock.Up + max(time.Duration(b.RetryAfter), 0)
	if (b.Code == CodeStopped || t.Stopped) && !blank(b.Partial) { // which the person has read
		s.s.Remember(Entry{ID: e.ID, At: e.At, Turn: b.Turn, Called: &event.Called{Turn: b.Turn, Text: b.Partial}, Cut: true})
	}
	if b.Final || b.Code == CodeStopped || t.Stopped || t.Attempts >= s.rules().MaxAttempts {
		s.over()
	}
}

// settle books what a call consumed, whoever's turn it is by now.
func (s *Session) settle(request string, u event.Usage) {
	s.s.Talked = s.s.Talked.Add(u)
	dialog.Settle(&s.s.Ledger, request, u)
}

func (s *Session) grant(b event.Granted) {
	e, ok := s.inbox.Take(b.Request)
	if !ok {
		return
	}
	q, ok := e.Body.(event.Requested)
	if !ok {
		return // a damaged log; Check says so
	}
	s.s.Ledger.Reserve(e.ID, q.Amount)
	if s.current(e.Agent, q.Turn) {
		s.s.Turn.Granted(e.ID, q.Amount)
	}
}
