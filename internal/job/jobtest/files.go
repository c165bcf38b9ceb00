package jobtest

import (
	"fmt"
	"slices"

	"conclave/internal/event"
)

// list is how the files stand.
func (d *disk) list() []event.KeptFile {
	file := func(path string, v any) event.KeptFile {
		return event.KeptFile{Path: path, Hash: event.HashOf(fmt.Append(nil, v))}
	}
	return []event.KeptFile{
		file("plan.md", d.plan), file("workspace.md", d.memory), file("todos.yaml", fmt.Sprint(d.todos, d.problem)),
	}
}

func (d *disk) plans() event.PlanRead {
	p := event.PlanRead{Name: d.name, Todos: slices.Clone(d.todos), Phases: d.phases, Questions: d.questions, Problem: d.problem}
	if d.problem != "" {
		p.Todos = nil
	}
	return p
}

// read takes over what a commit says, where that is all that is known.
func (d *disk) read(b event.Kept) {
	d.name, d.problem = b.Plan.Name, b.Plan.Problem
	d.todos = slices.Clone(b.Plan.Todos)
	d.commits = max(d.commits, 1)
}

// commit carries out what is to be kept. A commit that was made before a crash is
// found again, and nothing is written twice.
func (w *World) commit() {
	k := *w.keep
	b, found := w.made[k.Ref]
	if !found {
		d := &w.files
		if k.Write {
			d.name, d.todos, d.problem = k.Name, slices.Clone(k.Todos), ""
		}
		if k.Edit != nil {
			w.edit(k.Edit.Path)
		}
		if k.Feedback != nil {
			d.memory++
		}
		if k.Archive != nil && k.Archive.Kind == event.PhaseStrategic && w.careless && !w.one(4) {
			d.problem = "todos.yaml cannot be read." // the agent went round its tool
		}
		d.commits++
		b = event.Kept{Ref: k.Ref, Commit: fmt.Sprintf("c%d-%d", len(w.Log), d.commits), Tag: k.Tag, Files: d.list(), Plan: d.plans()}
		w.made[k.Ref] = b
		if w.one(8) {
			return // the program may die before anybody knows
		}
	}
	w.keep = nil
	w.submit(k.Fact(b))
}

// edit is what a person makes of a file.
func (w *World) edit(path string) {
	d := &w.files
	switch path {
	case "plan.md":
		d.plan++
	case "workspace.md":
		d.memory++
	default:
		d.problem = ""
		switch w.rng.IntN(6) {
		case 0:
			d.problem = "todos.yaml cannot be read."
		case 1: // nothing is left to be done
			d.todos = slices.Clone(d.todos)
			for i := range d.todos {
				d.todos[i].Skip = true
			}
		default:
			d.todos = append(slices.Clone(d.todos), event.Todo{ID: w.id("by hand"), Text: w.id("something a person wants")})
		}
	}
}
