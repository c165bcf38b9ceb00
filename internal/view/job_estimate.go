package view

import (
	"cmp"
	"fmt"
	"slices"

	"conclave/internal/event"
)

// estimated is j with what is left to do worked out anew: the todos that are
// known, and as many again for each phase the plan speaks of besides, each at the
// median of those that are done.
func (j Job) estimated() Job {
	j.Estimate = nil
	todos, further := j.left()
	each, basis := j.each()
	if len(basis) == 0 || todos == 0 || j.State.Over() {
		return j
	}
	size := todos
	if p, ok := j.Current(); ok && p.Kind == event.PhaseTactical && p.How == "" {
		size = len(p.Todos)
	}
	n := int64(todos + further*size)
	words := fmt.Sprintf("%s left, at the median of %s", count(todos, "todo"), basis)
	if further > 0 {
		words = fmt.Sprintf("%s left and %s of about %d, at the median of %s", count(todos, "todo"), count(further, "further phase"), size, basis)
	}
	j.Estimate = &event.Estimate{Tokens: n * each.Tokens, Cost: event.Money(n) * each.Cost, Basis: words}
	return j
}

// left is how many todos are known to be left, and how many phases the plan
// speaks of beyond them.
func (j Job) left() (todos, further int) {
	begun := j.tactical()
	if p, ok := j.Current(); ok && p.Kind == event.PhaseTactical && p.How == "" {
		for _, t := range p.Todos {
			if !t.Done && !t.Skip {
				todos++
			}
		}
		return todos, max(0, j.Planned-begun)
	}
	for _, t := range j.Staged {
		if !t.Done && !t.Skip {
			todos++
		}
	}
	return todos, max(0, j.Planned-begun-1)
}

// each is what a todo took, and what that is told from, in words: those carried
// out so far, or as long as there are none those of planning.
func (j Job) each() (event.Amount, string) {
	for _, k := range []struct{ kind, what string }{
		{event.PhaseTactical, "done so far"}, {event.PhaseStrategic, "of planning, for none was carried out yet"},
	} {
		var tokens []int64
		var cost []event.Money
		for _, p := range j.Phases {
			for _, t := range p.Todos {
				if p.Kind == k.kind && t.Done && t.Usage != (event.Usage{}) {
					tokens, cost = append(tokens, t.Usage.Tokens()), append(cost, t.Usage.Cost)
				}
			}
		}
		if n := len(tokens); n > 0 {
			return event.Amount{Tokens: median(tokens), Cost: median(cost)}, words(" ", "the", number(n), k.what)
		}
	}
	return event.Amount{}, ""
}

func median[T cmp.Ordered](list []T) T {
	slices.Sort(list)
	return list[(len(list)-1)/2]
}

// drift is how what was done in a phase differs from what a person approved.
// A phase that nobody approved has none.
func drift(p JobPhase) []JobDrift {
	if p.Approved == nil {
		return nil
	}
	var out []JobDrift
	for _, a := range p.Approved {
		i := slices.IndexFunc(p.Todos, func(t JobTodo) bool { return t.ID == a.ID })
		switch {
		case i >= 0 && a.Skip && p.Todos[i].Done:
			out = append(out, JobDrift{ID: a.ID, Kind: DriftOverrun, Text: a.Text})
		case a.Skip:
		case i < 0 || !p.Todos[i].Done:
			out = append(out, JobDrift{ID: a.ID, Kind: DriftUndone, Text: a.Text})
		case p.Todos[i].Text != a.Text:
			out = append(out, JobDrift{ID: a.ID, Kind: DriftChanged, Text: a.Text, Now: p.Todos[i].Text})
		}
	}
	for _, t := range p.Todos {
		if !slices.ContainsFunc(p.Approved, func(a event.Todo) bool { return a.ID == t.ID }) {
			out = append(out, JobDrift{ID: t.ID, Kind: DriftAdded, Text: t.Text})
		}
	}
	return out
}
