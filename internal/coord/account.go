package coord

import "conclave/internal/event"

// account is a turn whose outcome was taken while its call went on: what that has
// cost is not known yet.
type account struct {
	Agent event.AgentID `json:"agent"`
	Turn  event.Turn    `json:"turn"`
	Since duration      `json:"since"` // on the running clock
}

// accept takes an outcome out of the inbox and ends its round.
func (r *Run) accept(m *member, proposal string) {
	f, _ := r.taken(proposal)
	if p, ok := f.Body.(event.Proposed); ok && p.Follows {
		r.s.Accounts = append(r.s.Accounts, account{m.ID, p.Turn, r.s.Clock.Up})
	}
	r.outcome(m)
}

// account closes the account of a turn: it has said what it has cost, or never will.
func (r *Run) account(a event.AgentID, t event.Turn) {
	kept := r.s.Accounts[:0]
	for _, o := range r.s.Accounts {
		if o.Agent != a || o.Turn != t {
			kept = append(kept, o)
		}
	}
	r.s.Accounts = kept
}

// complete reports whether the run has its result, and nothing is left to be done.
func (r *Run) complete() bool {
	switch {
	case r.s.Chosen == nil || r.working():
		return false
	case r.s.Final != nil:
		return true
	}
	return !r.paused() && !r.wantsGate() && !r.asking() && (!r.presents() || r.presenter() == nil && !r.rules().Execute)
}

// settling reports whether all that is left of a run are its accounts.
func (r *Run) settling() bool { return len(r.s.Accounts) > 0 && r.complete() }

// owing reports whether the accounts are waited for: as long as a turn may take to
// end, and no longer than anybody wants it to.
func (r *Run) owing() bool {
	return r.s.Cancelled == "" && !r.stopping() && r.lastAccount() > r.s.Clock.Rung.Up
}

// lastAccount is when no account is waited for any more, on the running clock.
func (r *Run) lastAccount() duration {
	var until duration
	for _, o := range r.s.Accounts {
		until = max(until, o.Since+duration(r.rules().StopGrace))
	}
	return until
}
