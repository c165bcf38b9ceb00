package coord

import (
	"slices"

	"conclave/internal/event"
	"conclave/internal/flow"
)

// mayFit reports whether a request that does not fit now would if calls of the
// others, which hold more than they will cost, had ended.
func (r *Run) mayFit(m *member, a event.Amount) bool {
	if r.rules().Version < 2 || r.s.Ledger.Fits(a) {
		return false
	}
	free := r.s.Ledger
	free.Held = nil
	return free.Fits(a) && r.othersHold(m)
}

// othersHold reports whether anybody else holds something and is not itself
// waiting: nothing comes back from those who are. Of turns that are over, those
// count whose account is expected.
func (r *Run) othersHold(m *member) bool {
	for _, o := range r.s.Members {
		if o != m && o.Turn != nil && len(o.Turn.Held) > 0 && o.Turn.Waits == nil {
			return true
		}
	}
	return slices.ContainsFunc(r.s.Accounts, func(a account) bool { return len(a.Held) > 0 && r.expected(a) })
}

// waiting reports whether anybody waits for what others hold.
func (r *Run) waiting() bool {
	return slices.ContainsFunc(r.s.Members, func(m *member) bool { return m.Turn != nil && m.Turn.Waits != nil })
}

// released tells the turns that wait for others' calls when it is worth asking
// again: because it fits now, or because waiting cannot help any more.
func (r *Run) released() []flow.Command {
	var do []flow.Command
	for _, m := range r.s.Members {
		if m.Turn == nil || m.Turn.Waits == nil || r.mayFit(m, *m.Turn.Waits) && r.s.Ending == nil {
			continue
		}
		m.Turn.Waits = nil
		do = append(do, flow.Tell{Work: m.Turn.Key(m.ID), Note: Note{Kind: NoteBudget}})
	}
	return do
}
