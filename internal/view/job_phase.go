package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"conclave/internal/event"
)

// begin begins a phase, or another iteration of the one that is the newest.
func (j Job) begin(e event.Event, f event.PhaseBegun) Job {
	j.State, j.Why, j.Ended, j.Over = j.working(f.Kind), "", nil, time.Time{}
	n := len(j.Phases)
	another := n == 0 || j.Phases[n-1].Phase != f.Phase
	if another {
		j.Phases = newest(j.Phases, maxJobPhases, JobPhase{Phase: f.Phase, Began: e.At})
	}
	j = j.phase(func(p *JobPhase) {
		for _, t := range p.Todos {
			if t.Usage != (event.Usage{}) {
				p.Earlier = newest(p.Earlier, maxJobEarlier, t.Usage)
			}
		}
		p.Iteration, p.Kind, p.Purpose, p.Name, p.Todos = f.Iteration, f.Kind, f.Purpose, f.Name, again(p.Todos, f.Todos)
		p.Ended, p.How, p.Why, p.Drift, p.Counted = time.Time{}, "", "", nil, p.Usage
		if f.Kind == event.PhaseTactical && len(j.Agreed) > 0 {
			p.Approved = j.Agreed
		}
	})
	switch {
	case f.Kind == event.PhaseTactical:
		j.Staged, j.StagedName, j.Agreed, j.Before = nil, "", nil, nil
	case another:
		j.Staged, j.StagedName, j.Before = nil, "", nil
	case j.Revises:
		j.Before = j.Files
	}
	j.Revises = false
	return j
}

// again are the todos of an iteration. What was done in the one before and still
// is keeps when and where.
func again(had []JobTodo, now []event.Todo) []JobTodo {
	out := make([]JobTodo, len(now))
	for i, t := range now {
		out[i].Todo = t
		for _, h := range had {
			if h.ID == t.ID && h.Done && t.Done {
				h.Usage = event.Usage{} // it is among the earlier ones
				out[i] = h
			}
		}
	}
	return out
}

func (j Job) working(kind string) JobState {
	if kind == event.PhaseTactical {
		return JobRunning
	}
	return JobPlanning
}

// ended ends an iteration of a phase. Of one in which everything was done, what
// no single fact said to be done is done now: a run has carried it out. With the
// last one the todo is done that asks for the end of the job.
func (j Job) ended(e event.Event, f event.PhaseEnded) Job {
	p, ok := j.Current()
	if !ok || p.Phase != f.Phase {
		return j
	}
	var left []string
	for i, t := range p.Todos {
		if !t.Done && !t.Skip && (f.How == event.EndedDone || f.How == event.EndedCompleting && i == len(p.Todos)-1) {
			left = append(left, t.ID)
		}
	}
	j = j.done(e.At, left, "")
	j.Turn, j.Doing = nil, ""
	j = j.phase(func(p *JobPhase) {
		p.Ended, p.How, p.Why = e.At, f.How, f.Why
		p.Drift = drift(*p)
	})
	if j.State == JobRunning { // what comes after it is planned
		j.State = JobPlanning
	}
	return j.keeps(JobKeep{Ref: e.ID, What: "end of " + phaseName(f.Phase, f.Iteration)})
}

// Current is the newest phase; ok is false if none has begun.
func (j Job) Current() (p JobPhase, ok bool) {
	if n := len(j.Phases); n > 0 {
		return j.Phases[n-1], true
	}
	return JobPhase{}, false
}

// phase changes the newest phase, and leaves what others hold as it is.
func (j Job) phase(change func(*JobPhase)) Job {
	if n := len(j.Phases); n > 0 {
		j.Phases = slices.Clone(j.Phases)
		p := &j.Phases[n-1]
		p.Todos = slices.Clone(p.Todos)
		change(p)
	}
	return j
}

// done marks todos of the newest phase. What was used since the ones before is
// told of them, in equal parts.
func (j Job) done(at time.Time, ids []string, note string) Job {
	return j.phase(func(p *JobPhase) {
		var now []int
		for i, t := range p.Todos {
			if slices.Contains(ids, t.ID) && !t.Done {
				now = append(now, i)
			}
		}
		parts := split(minus(p.Usage, p.Counted), len(now))
		for k, i := range now {
			t := &p.Todos[i]
			t.Done, t.At, t.Usage = true, at, parts[k]
			if note != "" {
				t.Note = note
			}
		}
		if len(now) > 0 {
			p.Counted = p.Usage
		}
	})
}

// meant are the todos that the agent names: no name, or an empty one, is the next
// that is open.
func (j Job) meant(names []string) []string {
	var out []string
	for _, id := range names {
		if id = strings.TrimSpace(id); id != "" && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	p, _ := j.Current()
	i := slices.IndexFunc(p.Todos, func(t JobTodo) bool { return !t.Done && !t.Skip })
	if len(out) == 0 && i >= 0 {
		out = append(out, p.Todos[i].ID)
	}
	return out
}

// numbered are todos with ids, as they are kept.
func numbered(todos []event.Todo) []event.Todo {
	todos = slices.Clone(todos)
	for i := range todos {
		todos[i].ID = fmt.Sprint(i + 1)
	}
	return todos
}

// doneWords is what a commit after todos is called.
func (j Job) doneWords(ids []string) string {
	p, _ := j.Current()
	for _, t := range p.Todos {
		if len(ids) == 1 && t.ID == ids[0] && t.Text != "" {
			return "todo " + t.ID + ": " + t.Text
		}
	}
	return words(" ", plural(len(ids), "todo"), and(ids))
}

func minus(a, b event.Usage) event.Usage {
	return event.Usage{
		Input: a.Input - b.Input, Cached: a.Cached - b.Cached, Output: a.Output - b.Output,
		Reasoning: a.Reasoning - b.Reasoning, Cost: a.Cost - b.Cost,
	}
}

// split shares u out in n equal parts; what is left over is in the last.
func split(u event.Usage, n int) []event.Usage {
	out := make([]event.Usage, n)
	for i := range out {
		k := int64(n - i)
		out[i] = event.Usage{
			Input: u.Input / k, Cached: u.Cached / k, Output: u.Output / k, Reasoning: u.Reasoning / k, Cost: u.Cost / event.Money(k),
		}
		u = minus(u, out[i])
	}
	return out
}

// works takes in what the agent does, and the run that works in its place.
func (j Job) works(e event.Event) Job {
	switch f := e.Body.(type) {
	case event.Assigned:
		j.Turn, j.Doing = &f.Turn, "thinks"
	case event.Concluded:
		return j.rests(f.Turn)
	case event.Interrupted:
		return j.rests(f.Turn)
	case event.Failed:
		if f.Usage != (event.Usage{}) {
			j = j.uses(f.Usage, 1)
		}
		return j.rests(f.Turn)
	case event.Called:
		if f.Unpriced {
			j.Unpriced++
		}
		j.ToolUses += len(f.Did)
		return j.uses(f.Usage, 1).does(f.Turn, calling(f.Tools))
	case event.Compacted:
		if !f.Outline {
			return j.uses(f.Usage, 1)
		}
	case event.ToolCalled:
		return j.does(f.Turn, calling([]event.ToolCall{f.Tool}))
	case event.ToolReturned:
		j.ToolUses++
		return j.does(f.Turn, "thinks")
	case event.Wished:
		return j.does(f.Turn, "waits to be allowed "+f.Tool)
	case event.Launched:
		j.Going, j.Doing = f.Run, "a run carries out the phase"
		return j.phase(func(p *JobPhase) { p.Run = f.Run })
	case event.Returned:
		if j.Going == f.Run {
			j.Going, j.Doing = "", ""
		}
		return j.uses(f.Usage, 0)
	case event.Mutated:
		j.Mutated++
		j.Mutations = newest(j.Mutations, maxJobMutations, JobMutation{Seq: e.Seq, At: e.At, Mutated: f})
	}
	return j
}

// calling says which tools are used.
func calling(calls []event.ToolCall) string {
	var names []string
	for _, c := range calls {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return "thinks"
	}
	return Shorten("uses "+and(names), detailWidth)
}

// does notes what the agent does in the take that goes on.
func (j Job) does(turn event.Turn, what string) Job {
	if j.Turn != nil && *j.Turn == turn {
		j.Doing = what
	}
	return j
}

func (j Job) rests(turn event.Turn) Job {
	if j.Turn != nil && *j.Turn == turn {
		j.Turn, j.Doing = nil, ""
	}
	return j
}

// uses adds to the account of the job and of the phase.
func (j Job) uses(u event.Usage, calls int) Job {
	j.Usage, j.Calls = j.Usage.Add(u), j.Calls+calls
	return j.phase(func(p *JobPhase) { p.Usage, p.Calls = p.Usage.Add(u), p.Calls+calls })
}

// Phase is how far the job is, in words: "2 of ~4", counting the phases in which
// something is done. Empty if nothing was done and nothing is planned.
func (j Job) Phase() string {
	n := j.tactical()
	switch {
	case n == 0 && j.Planned > 0:
		return fmt.Sprintf("~%d %s", j.Planned, plural(j.Planned, "phase"))
	case n == 0:
		return ""
	case j.Planned >= n:
		return fmt.Sprintf("%d of ~%d", n, j.Planned)
	}
	return fmt.Sprint(n)
}

// tactical is how many tactical phases have begun.
func (j Job) tactical() (n int) {
	for _, p := range j.Phases {
		if p.Kind == event.PhaseTactical {
			n++
		}
	}
	return n
}
