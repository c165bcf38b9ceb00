package team

import (
	"slices"
	"time"

	"conclave/internal/budget"
	"conclave/internal/dialog"
	"conclave/internal/event"
)

// Members is how everybody stands, the leader first, those that are lost included.
func (t *Team) Members() []Member {
	var out []Member
	for _, m := range t.s.Members {
		x := Member{
			Agent: m.ID, Role: m.Role.Name, Leader: t.leads(m), State: t.stands(m), Turn: m.Last,
			Queued: len(m.Box), Unmerged: m.Fresh != "",
		}
		switch {
		case m.Lost != nil:
			x.Lost = m.Lost.Message
		case m.Turn != nil:
		case m.asks():
			x.Waiting = []event.AgentID{t.leader().ID}
		case m.Await != nil:
			x.Waiting, x.All = slices.Clone(m.Await.Members), m.Await.All
		}
		out = append(out, x)
	}
	return out
}

// Tasks is the ledger, oldest first.
func (t *Team) Tasks() []Task {
	var out []Task
	for _, x := range t.s.Tasks {
		out = append(out, *x)
	}
	return out
}

// Queued is what a member was not told yet, oldest first.
func (t *Team) Queued(a event.AgentID) []Mail {
	if m := t.member(a); m != nil {
		return slices.Clip(m.Box)
	}
	return nil
}

// History is a member's conversation as it knows it.
func (t *Team) History(a event.AgentID) dialog.Part {
	if m := t.member(a); m != nil {
		return m.Part()
	}
	return dialog.Part{}
}

// Started is how the team began.
func (t *Team) Started() (b event.TeamStarted, ok bool) {
	if t.s.Started == nil {
		return b, false
	}
	return *t.s.Started, true
}

// Ended is what the team has come to; ok is false while it goes on.
func (t *Team) Ended() (b event.TeamEnded, ok bool) {
	if t.s.Ended == nil {
		return b, false
	}
	return *t.s.Ended, true
}

// Ending reports whether everything is being stopped, or has been.
func (t *Team) Ending() bool { return t.s.Ending != nil || t.s.Ended != nil }

// Gate is what a person is asked about trouble; ok is false if nothing is.
func (t *Team) Gate() (a event.Asked, ok bool) {
	if t.s.Gate == nil {
		return a, false
	}
	return *t.s.Gate, true
}

// AtRest reports whether nothing goes on that anybody but a person could end: the
// team is over, or waits for a person because of trouble and nobody works.
func (t *Team) AtRest() bool {
	return len(t.inbox) == 0 && (t.s.Ended != nil || t.s.Gate != nil && len(t.Due()) == 0 && !t.live())
}

// live reports whether any take goes on.
func (t *Team) live() bool {
	return slices.ContainsFunc(t.s.Members, func(m *member) bool { return m.Turn != nil && m.Turn.Live })
}

// Title is what people call the team.
func (t *Team) Title() string { return t.s.Title }

// Worked is how long it has worked, without what waited for a person.
func (t *Team) Worked() time.Duration { return t.s.Worked }

// Turns is how many turns were taken, and how many there may be.
func (t *Team) Turns() (taken, most int) {
	if t.s.Started == nil {
		return 0, 0
	}
	return t.s.Turns, t.mostTurns() + t.s.More
}

// Ledger is the account over everybody; it is not to be changed.
func (t *Team) Ledger() budget.Ledger { return t.s.Ledger }

// Used is what everybody together has used.
func (t *Team) Used() event.Usage { return t.s.Used }
