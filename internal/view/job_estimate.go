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
	todos, size, further := j.left()
	each, basis := j.each()
	if basis == "" || todos == 0 || j.State.Over() {
		return j
	}
	n := int64(todos + further*size)
	left := count(todos, "todo") + " left"
	if further > 0 {
		left += fmt.Sprintf(" and %s of about as many as this one's %d", count(further, "further phase"), size)
	}
	j.Estimate = &event.Estimate{
		Tokens: n * each.Tokens, Cost: event.Money(n) * each.Cost, Basis: left + ", at the median of " + basis,
	}
	return j
}

// left is how many todos are known to be left, how many their phase has, and how
// many phases the plan speaks of beyond it.
func (j Job) left() (todos, size, further int) {
	var list []event.Todo
	further = j.Planned - j.tactical()
	if p, ok := j.Current(); ok && p.Kind == event.PhaseTactical && (p.How == "" || p.How == event.EndedTrouble) {
		for _, t := range p.Todos {
			list = append(list, t.Todo)
		}
	} else {
		list, further = j.Staged, further-1
	}
	for _, t := range list {
		if !t.Skip {
			size++
			if !t.Done {
				todos++
			}
		}
	}
	return todos, size, max(0, further)
}

// each is what a todo took, and what that is told from, in words: those carried
// out so far, or as long as there are none those of planning.
func (j Job) each() (event.Amount, string) {
	for _, k := range []struct{ kind, what string }{{event.PhaseTactical, "done so far"}, {event.PhaseStrategic, "of planning"}} {
		var tokens []int64
		var cost []event.Money
		for _, p := range j.Phases {
			if p.Kind != k.kind {
				continue
			}
			took := slices.Clone(p.Earlier)
			for _, t := range p.Todos {
				took = append(took, t.Usage)
			}
			for _, u := range took {
				if u != (event.Usage{}) {
					tokens, cost = append(tokens, u.Tokens()), append(cost, u.Cost)
				}
			}
		}
		if n := len(tokens); n > 0 {
			return event.Amount{Tokens: median(tokens), Cost: median(cost)}, count(n, "todo") + " " + k.what
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
