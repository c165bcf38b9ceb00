package view

import (
	"slices"

	"conclave/internal/event"
)

// Turns is who is on a turn. Several folds need it to know when one ends, which
// no single kind of fact says: a turn ends with its outcome, with a verdict that
// says so, or by being cut, and what comes late from a turn that is over changes
// nothing.
type Turns struct {
	Open []OpenTurn `json:"open,omitempty"`
	// Waiting is what was put forward and has no verdict yet.
	Waiting []Submission `json:"waiting,omitempty"`
}

// An OpenTurn is a turn that is going on.
type OpenTurn struct {
	Agent event.AgentID `json:"agent"`
	event.Turn
}

// A Submission is a proposal, a final answer or a request for leave to spend.
type Submission struct {
	ID string `json:"id"`
	OpenTurn
	// Final: the turn ends if it is admitted.
	Final bool `json:"final,omitempty"`
}

// Busy reports whether an agent is on a turn.
func (t Turns) Busy(a event.AgentID) bool { return t.index(a) >= 0 }

// Current reports whether an agent is on this very turn.
func (t Turns) Current(o OpenTurn) bool { return slices.Contains(t.Open, o) }

func (t Turns) index(a event.AgentID) int {
	return slices.IndexFunc(t.Open, func(o OpenTurn) bool { return o.Agent == a })
}

// Apply returns t after e.
func (t Turns) Apply(e event.Event) Turns {
	at := func(n event.Turn) OpenTurn { return OpenTurn{e.Agent, n} }
	switch f := e.Body.(type) {
	case event.RunStarted, event.Finished, event.TeamStarted, event.TeamEnded:
		return Turns{}
	case event.Assigned:
		return t.begin(at(f.Turn))
	case event.Presenting:
		return t.begin(at(f.Turn))
	case event.Proposed:
		return t.submit(Submission{ID: e.ID, OpenTurn: at(f.Turn)})
	case event.Requested:
		if f.Child == "" {
			return t.submit(Submission{ID: e.ID, OpenTurn: at(f.Turn)})
		}
	case event.Presented:
		return t.submit(Submission{ID: e.ID, OpenTurn: at(f.Turn), Final: true})
	case event.Answered:
		_, t = t.verdict(f.Proposal)
		return t.end(e.Agent)
	case event.Voted:
		_, t = t.verdict(f.Proposal)
		return t.end(e.Agent)
	case event.Lost:
		return t.end(e.Agent)
	case event.Interrupted:
		return t.endIf(at(f.Turn))
	case event.Failed:
		return t.endIf(at(f.Turn))
	case event.Concluded:
		return t.endIf(at(f.Turn))
	case event.Granted:
		_, t = t.verdict(f.Request)
	case event.Admitted:
		s, t := t.verdict(f.Ref)
		if s.Final {
			return t.endIf(s.OpenTurn)
		}
		return t
	case event.Refused:
		s, t := t.verdict(f.Ref)
		if f.Over {
			return t.endIf(s.OpenTurn)
		}
		return t
	}
	return t
}

func (t Turns) begin(o OpenTurn) Turns {
	t = t.end(o.Agent)
	t.Open = append(slices.Clip(t.Open), o)
	return t
}

func (t Turns) end(a event.AgentID) Turns {
	if i := t.index(a); i >= 0 {
		t.Open = dropped(t.Open, i)
	}
	return t
}

func (t Turns) endIf(o OpenTurn) Turns {
	if t.Current(o) {
		return t.end(o.Agent)
	}
	return t
}

func (t Turns) submit(s Submission) Turns {
	t.Waiting = append(slices.Clip(t.Waiting), s)
	return t
}

// verdict takes out what a verdict is about.
func (t Turns) verdict(id string) (Submission, Turns) {
	i := slices.IndexFunc(t.Waiting, func(s Submission) bool { return s.ID == id })
	if i < 0 {
		return Submission{}, t
	}
	s := t.Waiting[i]
	t.Waiting = dropped(t.Waiting, i)
	return s, t
}
