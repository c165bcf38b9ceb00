package coord

import (
	"slices"

	"conclave/internal/event"
)

// account is a turn that is over for the run while its call goes on, as that of a
// program does that gives its answer in the middle of it: what it costs is said later.
type account struct {
	Agent event.AgentID `json:"agent"`
	Turn  event.Turn    `json:"turn"`
	Since duration      `json:"since"`          // on the running clock
	Held  []string      `json:"held,omitempty"` // reservations
}

// closeAccounts forfeits what accounts hold: they have been given, or never will be.
func (r *Run) closeAccounts(which func(account) bool) {
	r.s.Accounts = slices.DeleteFunc(r.s.Accounts, func(a account) bool {
		if !which(a) {
			return false
		}
		for _, id := range a.Held {
			r.s.Ledger.Forfeit(id)
		}
		return true
	})
}

// given closes the account of a turn.
func (r *Run) given(m *member, t event.Turn) {
	r.closeAccounts(func(a account) bool { return a.Agent == m.ID && a.Turn == t })
}

func everyAccount(account) bool { return true }

// expected reports whether an account may still be given: as long as a turn may take
// to end.
func (r *Run) expected(a account) bool { return r.s.Clock.Rung.Up < r.patience(a) }

// patience is until when an account is waited for, on the running clock.
func (r *Run) patience(a account) duration { return a.Since + duration(r.rules().StopGrace) }

// complete reports whether the run has its result, or never will, and nothing is left
// to be done.
func (r *Run) complete() bool {
	switch {
	case r.working():
		return false
	case r.s.Chosen == nil:
		return r.s.Ending != nil && r.s.Answers == 0
	case r.s.Final != nil:
		return true
	case r.s.Ending != nil:
		return !r.asking()
	}
	return !r.paused() && !r.wantsGate() && !r.asking() && (!r.presents() || r.presenter() == nil && !r.rules().Execute)
}

// settling reports whether all that is left of a run is to hear what it has cost.
func (r *Run) settling() bool { return len(r.s.Accounts) > 0 && r.complete() }

// owing reports whether a run waits for that, and for nothing else. Whoever cancels it
// does not want to.
func (r *Run) owing() bool {
	return r.settling() && r.s.Cancelled == "" && slices.ContainsFunc(r.s.Accounts, r.expected)
}
