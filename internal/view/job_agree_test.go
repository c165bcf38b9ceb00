package view_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/event"
	"conclave/internal/flow"
	"conclave/internal/job"
	"conclave/internal/view"
)

// A jobWorld plays agent, shell and people to a decider of jobs, at random, and
// folds what comes of it.
type jobWorld struct {
	t    *testing.T
	rng  *rand.Rand
	d    job.Job
	v    view.Job
	now  time.Time
	seq  uint64
	n    int
	keep []job.Keep
	work *job.Work
	run  *job.Launch
	said []string // comments
}

func (w *jobWorld) stamp(f event.Fact) event.Event {
	w.seq++
	return event.Event{Flow: "job-1", Seq: w.seq, At: w.now, Fact: f}
}

// say puts something in, and takes in what follows.
func (w *jobWorld) say(agent event.AgentID, b event.Body) string {
	w.n++
	id := fmt.Sprint("in/", w.n)
	w.put(event.Fact{ID: id, Agent: agent, Body: b})
	return id
}

func (w *jobWorld) put(f event.Fact) {
	w.now = w.now.Add(time.Duration(w.rng.IntN(5000)) * time.Millisecond)
	log, do := flow.Advance(&w.d, w.stamp, f)
	for _, e := range log {
		w.v = w.v.Apply(e)
	}
	for _, c := range do {
		switch c := c.(type) {
		case job.Prepare:
			w.put(c.Fact(event.Prepared{Commit: "c0", Files: w.files()}))
		case job.Keep:
			w.keep = append(w.keep, c)
		case job.Work:
			w.work = &c
		case job.Launch:
			w.run = &c
		}
	}
	w.agree()
}

func (w *jobWorld) files() []event.KeptFile {
	var out []event.KeptFile
	for _, name := range []string{"plan.md", "todos.yaml", "workspace.md"} {
		out = append(out, event.KeptFile{Path: name, Hash: event.Hash(fmt.Sprint(w.rng.IntN(2)))})
	}
	return out
}

// agree holds what is shown against what the decider knows.
func (w *jobWorld) agree() {
	w.t.Helper()
	j := w.v
	if j.State.Frozen() != w.d.Frozen() || j.State.Over() != w.d.Over() {
		w.t.Fatalf("event %d: shown as %s; is frozen %v, over %v", w.seq, j.State, w.d.Frozen(), w.d.Over())
	}
	g, _ := w.d.Gate()
	if (j.Review != nil) != w.d.Frozen() || j.Review != nil && (j.Review.Gate != g.Gate || j.Review.Revision != g.Revision) {
		w.t.Fatalf("event %d: the gate is %+v, shown %+v", w.seq, g, j.Review)
	}
	if g.Kind == event.GateReview {
		r := j.Rounds[len(j.Rounds)-1]
		if r.Same != strings.HasPrefix(g.Title, "Nothing changed") || r.Late != strings.Contains(g.Text.Text, "Other ways") {
			w.t.Fatalf("event %d: asked %q, %q, shown %+v", w.seq, g.Title, g.Text.Text, r)
		}
	}
	b, _ := w.d.Phase()
	p, _ := j.Current()
	var todos []event.Todo
	for _, x := range p.Todos {
		todos = append(todos, x.Todo)
	}
	if p.How == event.EndedDone && b.Kind == event.PhaseTactical && w.v.Started.Rules.Execute == event.ExecuteRun {
		todos = b.Todos // the decider leaves open what a run has done
	}
	if p.Phase != b.Phase || p.Iteration != b.Iteration || len(todos) > 0 && !cmp.Equal(todos, b.Todos) {
		w.t.Fatalf("event %d: phase %d.%d %v, shown %d.%d %v", w.seq, b.Phase, b.Iteration, b.Todos, p.Phase, p.Iteration, todos)
	}
	talk, runs := w.d.Used()
	if time.Duration(j.Worked) != w.d.Worked() || j.Usage != talk.Add(runs) || j.Title().Text != w.d.Title() {
		w.t.Fatalf("event %d: worked %v, shown %v; used %+v, shown %+v; title %q", w.seq, w.d.Worked(), j.Worked, talk.Add(runs), j.Usage, j.Title().Text)
	}
	var open []string
	for _, t := range j.Threads {
		if t.Sent && !t.Resolved && t.Answer == nil {
			open = append(open, t.ID)
		}
	}
	if !cmp.Equal(open, w.d.Unanswered()) {
		w.t.Fatalf("event %d: unanswered %v, shown %v", w.seq, w.d.Unanswered(), open)
	}
	if commit, files, _ := w.d.Workspace(); commit != j.Commit || !cmp.Equal(files, j.Files) {
		w.t.Fatalf("event %d: commit %s, shown %s", w.seq, commit, j.Commit)
	}
	if len(j.Heard) > 0 {
		w.t.Fatalf("event %d: no verdict on %v", w.seq, j.Heard)
	}
}

// step does one of the things that can be done.
func (w *jobWorld) step() {
	switch {
	case len(w.keep) > 0:
		k := w.keep[0]
		w.keep = w.keep[1:]
		_, _, plan := w.d.Workspace()
		if k.Write {
			plan = event.PlanRead{Name: k.Name, Todos: k.Todos, Phases: w.rng.IntN(4)}
		}
		w.put(k.Fact(event.Kept{Commit: fmt.Sprint("c", w.seq), Same: w.rng.IntN(3) == 0, Tag: k.Tag, Files: w.files(), Plan: plan}))
	case w.run != nil:
		r := *w.run
		w.run = nil
		w.put(r.Fact(event.Returned{Status: event.StatusSuccess, Usage: event.Usage{Input: 100, Cost: 1000}}))
	case w.d.Over():
		if w.rng.IntN(2) == 0 {
			w.say("", event.Renamed{Title: fmt.Sprint("title ", w.n)})
		}
		w.say("", event.Corrected{Text: event.Inline("and now this")})
	case w.d.Frozen():
		w.person()
	case w.work != nil:
		w.agent()
	default:
		w.say("", event.TimerFired{})
	}
}

func (w *jobWorld) person() {
	g, _ := w.d.Gate()
	_, files, _ := w.d.Workspace()
	thread := "none"
	if len(w.said) > 0 {
		thread = w.said[w.rng.IntN(len(w.said))]
	}
	switch w.rng.IntN(9) {
	case 0:
		w.said = append(w.said, w.say("", event.Commented{Path: "plan.md", Line: 1, Text: "why?"}))
	case 1:
		w.say("", event.Commented{Text: "still", Reply: thread})
	case 2:
		w.say("", event.Resolved{Comment: thread, On: w.rng.IntN(2) == 0})
	case 3:
		w.say("", event.Drafted{Text: "hm"})
	case 4:
		f := files[w.rng.IntN(len(files))]
		w.say("", event.Edited{Path: f.Path, Base: f.Hash, Text: event.Inline("new")})
	case 5:
		w.say("", event.Replied{Gate: g.Gate, Choice: g.Choices[0].ID, Revision: g.Revision + w.rng.IntN(2)})
	default:
		c := g.Choices[w.rng.IntN(len(g.Choices))]
		w.say("", event.Replied{Gate: g.Gate, Choice: c.ID, Revision: g.Revision, Text: "please"})
	}
}

func (w *jobWorld) agent() {
	turn, a := w.work.Turn, w.work.Agent
	end := func(b event.Body) {
		w.work = nil
		w.say(a, b)
	}
	if _, goesOn := w.d.Phase(); !goesOn {
		end(event.Concluded{Turn: turn})
		return
	}
	w.say(a, event.Called{Turn: turn, Call: 1, Usage: event.Usage{Input: int64(w.rng.IntN(1000)), Cost: event.Money(w.rng.IntN(1000))}})
	switch w.rng.IntN(10) {
	case 0:
		end(event.Concluded{Turn: turn})
	case 1:
		end(event.Failed{Turn: turn, Code: "overloaded", Usage: event.Usage{Input: 5}})
	case 2:
		w.say(a, event.TodosRewound{Turn: turn, Issue: "it cannot be done so"})
	case 3:
		w.say(a, event.Completing{Turn: turn, JobOutcome: event.JobOutcome{Summary: "done"}})
	case 4, 5:
		w.say(a, event.TodosStaged{Turn: turn, Name: "next", Todos: []event.Todo{{Text: "first of all look"}, {Text: "then do something"}}})
	case 6:
		for _, id := range slices.Clone(w.d.Unanswered()) {
			w.say(a, event.Addressed{Turn: turn, Comment: id, Text: "changed as you said"})
		}
	default:
		w.say(a, event.TodosDone{Turn: turn})
	}
}

// What is shown of a job is what its decider knows, whatever happens: frozen or
// not, over or not, what a reply must name, the todos, the time, the money.
func TestJobAgreesWithTheDecider(t *testing.T) {
	seen := map[view.JobState]int{}
	for seed := range uint64(60) {
		w := &jobWorld{t: t, rng: rand.New(rand.NewPCG(seed, 6)), now: time.Unix(1e9, 0).UTC()}
		s := event.JobStarted{
			Title: "t", Description: event.Inline("something larger to be done"), Documents: []event.Document{{Path: "a"}},
			Seat:  event.Seat{Agent: "ada", Label: "agent1"},
			Rules: event.JobRules{Version: 1, Review: event.ReviewPlans, Execute: event.ExecuteSingle, MaxPhases: 6, MaxTodos: 5, MaxCalls: 100, MaxAttempts: 3, MaxIdle: 3, SoftRounds: 2},
		}
		if seed%4 == 0 {
			s.Rules.Execute, s.Rules.Agents = event.ExecuteRun, []event.AgentID{"bob", "cy"}
		}
		w.put(event.Fact{ID: "started", Body: s})
		for range 150 {
			w.step()
			seen[w.v.State]++
		}
	}
	for _, s := range []view.JobState{view.JobPlanning, view.JobReview, view.JobRunning, view.JobTrouble, view.JobCompleted, view.JobFailed, view.JobCancelled} {
		if seen[s] == 0 {
			t.Errorf("no job was ever %s", s)
		}
	}
}
