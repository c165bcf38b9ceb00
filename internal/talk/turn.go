package talk

import (
	"slices"
	"time"

	"conclave/internal/event"
	"conclave/internal/flow"
)

// turn is the agent's answer to what was said to it, in as many takes as it
// needs. A take that follows another goes on where that was cut: nothing a
// session's agent did is undone.
type turn struct {
	event.Turn
	Agent event.AgentID `json:"agent"` // of this take
	Said  string        `json:"said"`  // the first of what opened it
	// Live: the take is in the hands of the shell. Cut: the driver it had is gone.
	// Stopped: a person wants the turn to end.
	Live    bool `json:"live,omitempty"`
	Cut     bool `json:"cut,omitempty"`
	Stopped bool `json:"stopped,omitempty"`

	Calls    int           `json:"calls,omitempty"`    // of the model
	Attempts int           `json:"attempts,omitempty"` // takes that failed
	Rest     time.Duration `json:"rest,omitempty"`     // the next take begins no sooner
	// Open are tool calls without a result, of earlier takes as well.
	Open     []event.ToolCall `json:"open,omitempty"`
	Reserved []string         `json:"reserved,omitempty"` // by this take
	Request  event.Amount     `json:"request,omitzero"`   // the newest that was granted
	Told     []string         `json:"told,omitempty"`     // held messages this take was told of
}

// CodeStopped is the code of a Failed of a turn that was stopped by a person.
const CodeStopped = "stopped"

func (t *turn) key() string { return t.Key(t.Agent) }

// tell gives the take that goes on a note.
func (t *turn) tell(n Note) flow.Command { return flow.Tell{Work: t.key(), Note: n} }

// wants reports whether a call of the turn has wanted the run.
func (t *turn) wants(w *Want) bool { return w.Agent != "" && w.Round == t.Round }

// current reports whether t is the take the agent is in.
func (s *Session) current(a event.AgentID, t event.Turn) bool {
	x := s.s.Turn
	return x != nil && x.Live && x.Turn == t && x.Agent == a
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
	t.Turn, t.Agent, t.Live = b.Turn, a, true
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
	t := s.s.Turn
	for _, id := range t.Reserved {
		s.s.Ledger.Forfeit(id)
	}
	t.Live, t.Cut, t.Reserved, t.Told = false, false, nil, nil
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
	return []flow.Command{flow.Stop{Work: t.key()}}
}

func (s *Session) called(e event.Event, b event.Called) {
	s.settle(b.Request, b.Usage)
	if !s.current(e.Agent, b.Turn) {
		return
	}
	t := s.s.Turn
	t.Calls++
	t.settled(b.Request)
	t.Open = append(slices.Clip(t.Open), b.Tools...)
	s.remember(Entry{ID: e.ID, At: e.At, Turn: b.Turn, Called: &b})
}

func (s *Session) toolReturned(e event.Event, b event.ToolReturned) {
	if !s.current(e.Agent, b.Turn) {
		return
	}
	t := s.s.Turn
	x := Entry{ID: e.ID, At: e.At, Turn: b.Turn, Returned: &b}
	if w := s.resultBy(b); w != nil {
		w.Taken = true
		if w.Launched != nil {
			x.Run, x.Pinned = w.Launched.Run, w.Pinned
		}
	}
	t.Open = slices.DeleteFunc(slices.Clone(t.Open), func(c event.ToolCall) bool { return c.ID == b.Call })
	s.remember(x)
}

func (s *Session) fail(e event.Event, b event.Failed) {
	s.settle(b.Request, b.Usage)
	if !s.current(e.Agent, b.Turn) {
		return
	}
	t := s.s.Turn
	t.settled(b.Request)
	s.leave()
	t.Attempts++
	t.Rest = s.s.Clock.Up + max(time.Duration(b.RetryAfter), 0)
	if (b.Code == CodeStopped || t.Stopped) && !blank(b.Partial) { // which the person has read
		s.remember(Entry{ID: e.ID, At: e.At, Turn: b.Turn, Called: &event.Called{Turn: b.Turn, Text: b.Partial}, Cut: true})
	}
	if b.Final || b.Code == CodeStopped || t.Stopped || t.Attempts >= s.rules().MaxAttempts {
		s.over()
	}
}

// settled notes that nothing is held any more for a call.
func (t *turn) settled(request string) {
	t.Reserved = slices.DeleteFunc(t.Reserved, func(id string) bool { return id == request })
}

// settle books what a call consumed, whoever's turn it is by now. A reservation
// that is gone was counted as spent when its take was cut.
func (s *Session) settle(request string, u event.Usage) {
	s.s.Talked = s.s.Talked.Add(u)
	if _, held := s.s.Ledger.Held[request]; request != "" && !held {
		return
	}
	s.s.Ledger.Settle(request, u.Amount())
}

func (s *Session) grant(b event.Granted) {
	e, ok := s.taken(b.Request)
	if !ok {
		return
	}
	q, ok := e.Body.(event.Requested)
	if !ok {
		return // a damaged log; Check says so
	}
	s.s.Ledger.Reserve(e.ID, q.Amount)
	if s.current(e.Agent, q.Turn) {
		s.s.Turn.Reserved, s.s.Turn.Request = append(s.s.Turn.Reserved, e.ID), q.Amount
	}
}
