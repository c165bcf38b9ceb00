// Package jobtest plays jobs against random worlds: an agent that plans, works,
// stops, fails and gives up in any order, people with two windows who answer twice,
// edit, comment, correct and cancel, runs, timers, budgets and crashes.
//
// A [World] keeps its own idea of which work goes on and of what is in the files,
// and complains when the decider's commands do not add up. Everything follows from
// the seed.
package jobtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"conclave/internal/event"
	"conclave/internal/flow"
	"conclave/internal/job"
)

// A World is one job and everything around it.
type World struct {
	Log []event.Event
	Job *job.Job

	rng *rand.Rand
	now time.Time
	ids int
	err error

	prepare bool
	work    *job.Work
	ending  bool // the phase of its turn is over
	keep    *job.Keep
	launch  *job.Launch
	waits   string // the turn waits for the commit of this
	grants  map[string]bool
	refused map[string]bool

	files    disk
	careless bool                  // the agent writes to todos.yaml itself
	made     map[string]event.Kept // by what they are for
	known    map[string]event.Kept // to the log as well
	// What people have seen.
	gates    []event.Asked
	comments []string
	wishes   []event.Asked
}

// disk is the workspace, as far as it matters.
type disk struct {
	plan, memory int
	name         string
	todos        []event.Todo
	problem      string
	phases       int
	questions    []event.Question
	commits      int
}

// Play lets n things happen in a fresh job.
func Play(seed uint64, n int) *World {
	w := newWorld(seed, 1)
	w.submit(event.Fact{ID: "started", Body: Start(rand.New(rand.NewPCG(seed, 7)))})
	return w.goOn(n)
}

// Resume takes up a log that was cut anywhere and lets n more things happen.
func Resume(seed uint64, log []event.Event, n int) *World {
	w := newWorld(seed, uint64(len(log))+100)
	w.Log, w.now, w.ids = slices.Clone(log), log[len(log)-1].At, 100_000
	for _, e := range log {
		w.note(e)
	}
	w.crash()
	return w.goOn(n)
}

func newWorld(seed, salt uint64) *World {
	return &World{
		Job: &job.Job{}, rng: rand.New(rand.NewPCG(seed, salt)), now: time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC),
		grants: map[string]bool{}, refused: map[string]bool{}, made: map[string]event.Kept{}, known: map[string]event.Kept{}, files: disk{phases: 1}, careless: seed%8 == 0,
	}
}

// Start is a random job.
func Start(rng *rand.Rand) event.JobStarted {
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	s := event.JobStarted{
		Description: event.Inline(pick("do it", "Compare the three offers and draft a recommendation")),
		Seat:        event.Seat{Agent: "planner"}, Dir: "/job",
		Rules: event.JobRules{
			Version: event.JobRulesVersion,
			Review:  pick(event.ReviewAuto, event.ReviewAuto, event.ReviewFirst, event.ReviewPlans, event.ReviewNever),
			Execute: pick(event.ExecuteSingle, event.ExecuteSingle, event.ExecuteRun), Agents: []event.AgentID{"ada", "bob"},
			MaxPhases: 2 + rng.IntN(5), MaxTodos: 3, MaxCalls: 9, MaxAttempts: 2, MaxIdle: 2, SoftRounds: 3,
			Permission: event.Override{On: rng.IntN(2) == 0, Wait: event.Duration(rng.IntN(2)) * event.Duration(time.Minute)},
		},
	}
	for i := range rng.IntN(3) {
		s.Documents = append(s.Documents, event.Document{Path: fmt.Sprint(i)})
	}
	if rng.IntN(3) == 0 {
		s.Sources = []event.Source{{Name: "costs", Kind: event.SourceSQLite, Write: rng.IntN(2) == 0}}
	}
	if rng.IntN(2) == 0 {
		n := 100 + rng.Int64N(900)
		s.Rules.Budget = event.Budget{Tokens: &n}
	}
	if rng.IntN(3) == 0 {
		s.Rules.Time = event.Duration(10+rng.IntN(20)) * event.Duration(time.Minute)
	}
	return s
}

// Err is what has gone wrong.
func (w *World) Err() error { return w.err }

func (w *World) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

func (w *World) goOn(n int) *World {
	for range n {
		if w.err == nil {
			w.now = w.now.Add(time.Duration(w.rng.IntN(40)) * time.Second)
			w.step()
		}
	}
	if problems := job.Check(w.Log); len(problems) > 0 && w.err == nil {
		w.err = fmt.Errorf("%v", problems)
	}
	return w
}

func (w *World) id(what string) string {
	w.ids++
	return fmt.Sprintf("%s/%d", what, w.ids)
}

func (w *World) one(n int) bool { return w.rng.IntN(n) == 0 }

func (w *World) step() {
	switch n := w.rng.IntN(40); {
	case n == 0 && w.one(2):
		w.crash()
	case n == 1:
		if at, ok := w.Job.Wake(); ok {
			if at.After(w.now) {
				w.now = at
			}
			w.submit(event.Fact{ID: w.id("timer"), Body: event.TimerFired{}})
		}
	case n < 10:
		w.person()
	case n < 13 && w.Job.Frozen():
		w.decide()
	case w.prepare:
		w.prepare = false
		w.submit(job.Prepare{}.Fact(event.Prepared{Commit: "c0", Files: w.files.list()}))
	case w.keep != nil && n < 26:
		w.commit()
	case w.launch != nil:
		w.runs()
	case w.work != nil:
		w.act()
	}
}

// submit puts a fact before the job, begins what it asks for, and looks whether it
// stands as a job can.
func (w *World) submit(f event.Fact) {
	seq := uint64(len(w.Log))
	events, do := flow.Advance(w.Job, w.stamp(&seq), f)
	w.take(events)
	w.begin(do)
	w.stands()
}

func (w *World) stamp(seq *uint64) func(event.Fact) event.Event {
	return func(f event.Fact) event.Event {
		*seq++
		return event.Event{Flow: "job-1", Seq: *seq, At: w.now, Fact: f}
	}
}

func (w *World) take(events []event.Event) {
	w.Log = append(w.Log, events...)
	for _, e := range events {
		w.note(e)
	}
}

// stands is that the job is frozen, over or goes on: one of them, and if it goes
// on, by something that somebody does or that time brings.
func (w *World) stands() {
	pending := w.Job.Pending()
	_, wakes := w.Job.Wake()
	works := slices.ContainsFunc(pending, func(c flow.Command) bool {
		switch c.(type) {
		case job.Work, job.Launch:
			return true
		}
		return false
	})
	switch frozen, over := w.Job.Frozen(), w.Job.Over(); {
	case frozen && over:
		w.fail("frozen and over")
	case (frozen || over) && works:
		w.fail("frozen %t, over %t, and somebody works", frozen, over)
	case !frozen && !over && len(pending) == 0 && !wakes:
		w.fail("neither frozen nor over, and nothing goes on")
	case len(w.Job.Due()) > 0:
		w.fail("something is due")
	}
}

// note keeps what the world must know of the log.
func (w *World) note(e event.Event) {
	switch b := e.Body.(type) {
	case event.Asked:
		if b.Kind == event.GatePermission {
			w.wishes = append(w.wishes, b)
		} else {
			w.gates = append(w.gates, b)
		}
	case event.Commented:
		w.comments = append(w.comments, e.ID)
	case event.Granted:
		w.grants[b.Request] = true
	case event.Refused:
		w.refused[b.Ref] = true
		if b.Over && w.work != nil && w.waiting(b.Ref) {
			w.work = nil
		}
	case event.PhaseEnded:
		w.ending = true
	case event.PhaseBegun:
		w.ending = false
	case event.Prepared:
		w.prepare = false
	case event.Kept:
		w.made[b.Ref], w.known[b.Ref] = b, b
		w.files.read(b)
	}
}

// waiting reports whether what was refused came from the turn that goes on.
func (w *World) waiting(ref string) bool {
	for _, e := range slices.Backward(w.Log) {
		if e.ID == ref {
			return e.Agent != ""
		}
	}
	return false
}

// begin takes commands in hand.
func (w *World) begin(do []flow.Command) {
	for _, c := range do {
		switch c := c.(type) {
		case job.Prepare:
			w.prepare = true
		case job.Work:
			if w.work != nil && w.work.Key() != c.Key() {
				w.fail("%s begins while %s goes on", c.Key(), w.work.Key())
			}
			if len(c.Phase.Todos) == 0 || c.Brief.Purpose == "" {
				w.fail("%s has nothing to do or is told nothing", c.Key())
			}
			w.work, w.waits = &c, ""
			for _, v := range c.Verdicts {
				w.told(v)
			}
		case job.Keep:
			if w.keep != nil {
				w.fail("%s is kept while %s is", c.Ref, w.keep.Ref)
			}
			w.keep = &c
		case job.Launch:
			if w.launch != nil {
				w.fail("%s is launched while %s goes on", c.Run, w.launch.Run)
			}
			w.launch = &c
		case flow.Stop:
			if w.work != nil && w.work.Key() == c.Work {
				w.stopped()
			}
		case flow.Tell:
			if n, ok := c.Note.(job.Note); ok && n.Kind == job.NoteKept && n.Kept.Ref == w.waits {
				w.waits = ""
			}
		}
	}
}

// told is that what a take is told of its turn is what the log says.
func (w *World) told(v job.Verdict) {
	if (v.Why != "") != w.refused[v.ID] {
		w.fail("a verdict on %s is wrong", v.ID)
	}
	if k, ok := w.known[v.ID]; ok && v.Kept != k.Commit {
		w.fail("of %s it is not said that it was kept", v.ID)
	}
}

// crash loses everything but the log and the commits.
func (w *World) crash() {
	w.work, w.keep, w.launch, w.prepare, w.waits = nil, nil, nil, false, ""
	w.Job = &job.Job{}
	flow.Fold(w.Job, w.Log)
	seq := uint64(len(w.Log))
	events, _ := flow.Advance(w.Job, w.stamp(&seq), event.Fact{ID: w.id("resumed"), Body: event.Resumed{}})
	w.take(events)
	w.begin(w.Job.Pending())
	w.stands()
}
