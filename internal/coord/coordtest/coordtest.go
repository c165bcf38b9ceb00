// Package coordtest plays runs against random worlds: agents that answer, vote,
// misbehave, hang and fail in any order, people who cancel, override, speak to
// agents, pause and stop them, timers, budgets and crashes.
//
// A [World] keeps its own idea of which work is going on and complains when the
// decider's commands do not add up. Everything follows from the seed.
package coordtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"conclave/internal/coord"
	"conclave/internal/event"
	"conclave/internal/flow"
)

// A World is one run and everything around it.
type World struct {
	Log []event.Event

	rng     *rand.Rand
	run     *coord.Run
	now     time.Time
	start   event.RunStarted
	working map[string]*job
	begun   map[string]bool
	late    []event.Fact // calls that outlast the outcome they brought
	inputs  int          // ids of what people say
	err     error
}

// job is one turn in the hands of the world.
type job struct {
	key      string
	agent    event.AgentID
	turn     event.Turn
	work     *coord.Work // nil for a presentation
	metered  bool
	calls    int
	requests int
	granted  string
	open     []string // tool calls without a result
	notes    []coord.Note
	wished   bool   // has asked about its next tool
	waits    string // for the answer of this gate
	hung     bool
	stopped  bool
	paused   bool // makes no call of its model
}

// Play runs one random schedule from first to last event.
func Play(seed uint64) ([]event.Event, error) {
	w := newWorld(seed, 0)
	w.start = RandomStart(w.rng)
	w.submit(event.Fact{ID: "started", Body: w.start})
	return w.finish()
}

// Resume takes up a log that was cut anywhere and plays on.
func Resume(seed uint64, old []event.Event) ([]event.Event, error) {
	w := newWorld(seed, uint64(len(old)))
	w.Log = slices.Clone(old)
	w.now = old[len(old)-1].At
	w.start = old[0].Body.(event.RunStarted)
	w.inputs = 1000 * len(old)
	w.takeUp()
	return w.finish()
}

func newWorld(seed, salt uint64) *World {
	return &World{
		rng: rand.New(rand.NewPCG(seed, 77+salt)), run: &coord.Run{},
		now:     time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		working: map[string]*job{}, begun: map[string]bool{},
	}
}

func (w *World) finish() ([]event.Event, error) {
	for steps := 0; !w.run.Done() && w.err == nil; steps++ {
		if steps > 20_000 {
			w.err = fmt.Errorf("no end after %d steps", steps)
			break
		}
		w.step()
	}
	if w.err != nil {
		return w.Log, w.err
	}
	if problems := coord.Check(w.Log); len(problems) > 0 {
		return w.Log, fmt.Errorf("%v", problems)
	}
	return w.Log, nil
}

// step lets one thing happen.
func (w *World) step() {
	switch n := w.rng.IntN(400); {
	case n == 0:
		w.crash()
	case n == 1:
		w.say(event.CancelRequested{By: "somebody"})
	case n < 20:
		w.reply()
	case n < 40:
		w.wake()
	case n < 50:
		w.steer()
	default:
		w.progress()
	}
}

// progress moves a random job on. If all are stuck only time can help.
func (w *World) progress() {
	if len(w.late) > 0 && w.rng.IntN(3) == 0 {
		f := w.late[0]
		w.late = w.late[1:]
		w.submit(f)
		return
	}
	var able []string
	for k, j := range w.working {
		if !j.hung && (j.stopped || j.waits == "" && (!j.paused || len(j.open) > 0)) {
			able = append(able, k)
		}
	}
	slices.Sort(able)
	if len(able) == 0 {
		switch w.rng.IntN(3) {
		case 0:
			w.reply()
		case 1:
			w.say(event.ContinueRequested{By: "somebody"})
		default:
			w.wake()
		}
		return
	}
	w.play(w.working[able[w.rng.IntN(len(able))]])
}

func (w *World) wake() {
	at, ok := w.run.Wake()
	if !ok {
		if len(w.working) == 0 && !w.asking() && !w.paused() {
			w.err = fmt.Errorf("stuck: nobody works, nothing is asked, no timer is set")
		}
		return
	}
	if at.After(w.now) {
		w.now = at
	}
	w.inputs++
	w.submit(event.Fact{ID: fmt.Sprintf("timer/%d", w.inputs), Body: event.TimerFired{}})
	if next, ok := w.run.Wake(); ok && !next.After(w.now) {
		w.err = fmt.Errorf("asked to be woken at %v, woke, and asks for %v", at, next)
	}
}

// gate is one of the open gates, if there are any.
func (w *World) gate() (event.Asked, bool) {
	var open []event.Asked
	for _, e := range w.Log {
		switch b := e.Body.(type) {
		case event.Asked:
			open = append(open, b)
		case event.Closed:
			open = slices.DeleteFunc(open, func(a event.Asked) bool { return a.Gate == b.Gate })
		}
	}
	if len(open) == 0 {
		return event.Asked{}, false
	}
	return open[w.rng.IntN(len(open))], true
}

func (w *World) asking() bool { _, open := w.gate(); return open }

// reply has a person answer a question, or say whether it is being read.
func (w *World) reply() {
	a, open := w.gate()
	if !open && w.rng.IntN(10) > 0 {
		return
	}
	if w.rng.IntN(4) == 0 {
		h := event.Held{Gate: event.GateOverride, On: w.rng.IntN(3) > 0, By: "somebody"}
		if open {
			h.Gate = a.Gate
		}
		w.say(h)
		return
	}
	p := event.Replied{Gate: event.GateOverride, Choice: "nobody", Revision: 1, By: "somebody"}
	if open && w.rng.IntN(4) > 0 {
		p.Gate, p.Choice, p.Revision = a.Gate, a.Choices[w.rng.IntN(len(a.Choices))].ID, w.rng.IntN(3)
	}
	w.say(p)
}

// crash loses everything in memory and takes the run up from its wire form.
func (w *World) crash() {
	b, err := json.Marshal(w.Log)
	if err == nil {
		w.Log = nil
		err = json.Unmarshal(b, &w.Log)
	}
	if err != nil {
		w.err = err
		return
	}
	w.takeUp()
}

func (w *World) takeUp() {
	w.run, w.working, w.late = &coord.Run{}, map[string]*job{}, nil
	flow.Fold(w.run, w.Log)
	for _, e := range w.Log {
		switch b := e.Body.(type) {
		case event.Assigned:
			w.begun[b.Turn.Key(e.Agent)] = true
		case event.Presenting:
			w.begun[b.Turn.Key(e.Agent)] = true
		}
	}
	// What the cut left undecided comes first, then the news of the gap.
	w.append(flow.Advance(w.run, w.stamper()))
	if w.run.Done() {
		return
	}
	w.now = w.now.Add(time.Duration(w.rng.IntN(3600)) * time.Second)
	down := w.now.Sub(w.Log[len(w.Log)-1].At)
	w.inputs++
	w.submit(event.Fact{ID: fmt.Sprintf("resumed/%d", w.inputs), Body: event.Resumed{Down: event.Duration(down)}})
	pending := map[string]bool{}
	for _, c := range w.run.Pending() {
		pending[c.Key()] = true
	}
	for k := range w.working {
		if !pending[k] {
			w.err = fmt.Errorf("%s was begun by the resume and is not pending", k)
		}
	}
}

// stamper numbers facts from the log's end on.
func (w *World) stamper() func(event.Fact) event.Event {
	seq := len(w.Log)
	return func(f event.Fact) event.Event {
		seq++
		return event.Event{Flow: "run-test", Seq: uint64(seq), At: w.now, Fact: f}
	}
}

// submit puts facts before the decider and carries out what it asks for.
func (w *World) submit(facts ...event.Fact) []event.Event {
	w.now = w.now.Add(time.Duration(w.rng.IntN(2000)) * time.Millisecond)
	events, do := flow.Advance(w.run, w.stamper(), facts...)
	for _, c := range w.append(events, do) {
		w.carryOut(c)
	}
	w.audit()
	return events
}

func (w *World) append(events []event.Event, do []flow.Command) []flow.Command {
	w.Log = append(w.Log, events...)
	return do
}

func (w *World) carryOut(c flow.Command) {
	switch c := c.(type) {
	case coord.Work:
		if c.Calls < 1 || !c.MayAnswer && !c.MayVote {
			w.err = fmt.Errorf("%s can have no outcome: %+v", c.Key(), c)
		}
		w.begin(&job{key: c.Key(), agent: c.Agent, turn: c.Turn, work: &c, metered: c.Metered})
	case coord.Present:
		w.begin(&job{key: c.Key(), agent: c.Agent, turn: c.Turn, metered: c.Metered})
	case flow.Stop:
		if j := w.working[c.Work]; j != nil {
			j.stopped = true
		}
	case flow.Tell:
		n := c.Note.(coord.Note)
		switch j := w.working[c.Work]; {
		case j == nil:
		case j.steered(n):
		case n.Kind == coord.NoteBudget && j.waits == "budget":
			j.waits = ""
		case n.Kind != coord.NotePermission && n.Kind != coord.NoteBudget:
			j.notes = append(j.notes, n)
		case j.waits == n.Gate:
			j.waits = ""
		default:
			w.err = fmt.Errorf("%s is told about %s and waits for %q", c.Work, n.Gate, j.waits)
		}
	}
}

func (w *World) begin(j *job) {
	if w.begun[j.key] {
		w.err = fmt.Errorf("%s is begun twice", j.key)
	}
	w.begun[j.key] = true
	if w.paused() {
		w.err = fmt.Errorf("%s is begun while the run is paused", j.key)
	}
	j.hung = w.rng.IntN(60) == 0
	w.working[j.key] = j
}

// audit drops jobs the run no longer waits for and complains about those it
// waits for and nobody was asked to do.
func (w *World) audit() {
	pending := map[string]bool{}
	for _, c := range w.run.Pending() {
		pending[c.Key()] = true
		if _, stop := c.(flow.Stop); w.working[c.Key()] == nil && !stop && w.err == nil {
			w.err = fmt.Errorf("%s is pending and was never begun", c.Key())
		}
	}
	for k := range w.working {
		if !pending[k] {
			delete(w.working, k)
		}
	}
}
