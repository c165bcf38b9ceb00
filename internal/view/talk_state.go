package view

import (
	"slices"

	"conclave/internal/event"
)

// talkState is State for a session with an agent, or of a client.
func (s Session) talkState() SessionState {
	t := s.Talk
	switch {
	case len(t.Going) > 0:
		return SessionRunning
	case s.awaits():
		return SessionAwaiting
	case t.Turn != nil && t.After != "":
		return SessionProcessing
	case t.Turn != nil:
		return SessionChatting
	case len(t.Held) > 0:
		return SessionKeeping // about to be heard
	}
	return SessionIdle
}

// awaits reports whether a person is being asked about a run.
func (s Session) awaits() bool {
	return slices.ContainsFunc(s.Gates, func(g Gate) bool { return g.Kind == event.GateLaunch })
}

// A SessionPhase is what a session with an agent does, by the names that its
// design gives to the states.
type SessionPhase string

const (
	SessionPhaseIdle      SessionPhase = "idle"
	SessionPhaseChatting  SessionPhase = "chatting"
	SessionPhaseAwaiting  SessionPhase = "awaiting_approval"
	SessionPhaseRunning   SessionPhase = "running"
	SessionPhaseResults   SessionPhase = "processing_results"
	SessionPhasePartial   SessionPhase = "processing_partial"   // of a run that failed or ran out of time
	SessionPhaseCancelled SessionPhase = "processing_cancelled" // or was not approved
)

// Phase is what a session with an agent does now. What was said and nobody has
// taken up yet leaves it idle. Where several runs are about, one that waits for a
// person comes first.
func (s Session) Phase() SessionPhase {
	if s.awaits() {
		return SessionPhaseAwaiting
	}
	switch s.State() {
	case SessionRunning:
		return SessionPhaseRunning
	case SessionChatting:
		return SessionPhaseChatting
	case SessionProcessing:
		switch s.Talk.After {
		case event.StatusSuccess:
			return SessionPhaseResults
		case event.StatusCancelled:
			return SessionPhaseCancelled
		}
		return SessionPhasePartial
	}
	return SessionPhaseIdle
}

// Spent is what the conversation and its runs have used together.
func (s Session) Spent() event.Usage {
	if s.Talk == nil {
		return s.Usage
	}
	return s.Talk.Usage.Add(s.Usage)
}

// Left is what the session may still spend, as far as is known: what its runs
// that go on were granted is set aside. A nil field is not limited.
func (s Session) Left() event.Budget {
	if s.Talk == nil {
		return event.Budget{}
	}
	used := s.Spent().Amount()
	for _, id := range s.Talk.Going {
		if r, ok := s.Run(id); ok {
			used = plus(used, granted(r.Grant))
		}
	}
	var left event.Budget
	b := s.Talk.Staffed.Rules.Budget
	if b.Tokens != nil {
		n := max(*b.Tokens-used.Tokens, 0)
		left.Tokens = &n
	}
	if b.Cost != nil {
		n := max(*b.Cost-used.Cost, 0)
		left.Cost = &n
	}
	return left
}

func granted(b event.Budget) (a event.Amount) {
	if b.Tokens != nil {
		a.Tokens = *b.Tokens
	}
	if b.Cost != nil {
		a.Cost = *b.Cost
	}
	return a
}

// Run is a run of the session.
func (s Session) Run(id event.FlowID) (SessionRun, bool) {
	for _, t := range s.Turns.Backward() {
		if i := t.run(id); i >= 0 {
			return t.Runs[i], true
		}
	}
	return SessionRun{}, false
}

// Want is a run that was wanted and not launched.
func (s Session) Want(id string) (SessionWant, bool) {
	if s.Talk != nil {
		for _, w := range s.Talk.Wants {
			if w.ID == id {
				return w, true
			}
		}
	}
	return SessionWant{}, false
}

// Asking is the wanted run that a gate asks about.
func (s Session) Asking(gate string) (SessionWant, bool) {
	if s.Talk != nil {
		for _, w := range s.Talk.Wants {
			if w.Gate == gate && w.Open() {
				return w, true
			}
		}
	}
	return SessionWant{}, false
}

// Pinned reports whether what was said under that id is pinned.
func (s Session) Pinned(id string) bool { return s.Talk != nil && slices.Contains(s.Talk.Pins, id) }
