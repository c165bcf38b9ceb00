// Package teamtest plays teams against random worlds: members that work, write to
// everybody, report twice, ask, fail, hang and go on talking after they were told to
// stop, people who write, take back, stop and cancel, timers, budgets, permissions
// and crashes.
//
// A [World] keeps its own idea of which work goes on, and complains when the
// decider's commands do not add up. Everything follows from the seed.
package teamtest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"conclave/internal/event"
	"conclave/internal/flow"
	"conclave/internal/team"
)

// A World is one team and everything around it.
type World struct {
	Log  []event.Event
	Team *team.Team

	rng *rand.Rand
	now time.Time
	ids int
	err error
	// alone: no person says anything, and the program does not die.
	alone bool

	jobs    map[string]*job // by key
	grants  map[string]bool
	refused map[string]event.Refused
	lost    map[event.AgentID]bool
	from    map[string]string // the take that something is of, by id
	// What people have seen and said.
	gates    []event.Asked
	messages []string
}

// job is a take that goes on.
type job struct {
	team.Work
	notes   []team.Note
	asks    string // the gate of a permission it waits for
	waits   bool   // for others to end their calls
	request string // of the call its model is in, and what was granted for it
	most    int64
	ending  bool // it has put forward what ends a turn
	hangs   bool
	stopped bool
}

// Play lets n things happen in a fresh team.
func Play(seed uint64, n int) *World {
	w := newWorld(seed, 1)
	w.submit(event.Fact{ID: "started", Body: Start(rand.New(rand.NewPCG(seed, 7)))})
	return w.goOn(n)
}

// Alone lets a team go on by itself, with nobody to ask, until it is over, and not
// for more than n things.
func Alone(seed uint64, n int) *World {
	w := newWorld(seed, 2)
	w.alone = true
	b := Start(rand.New(rand.NewPCG(seed, 7)))
	b.Asks, b.Rules.Permission.On = false, false
	b.Rules.Turn, b.Rules.Time = event.Duration(20*time.Minute), 0
	w.submit(event.Fact{ID: "started", Body: b})
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
		Team: &team.Team{}, rng: rand.New(rand.NewPCG(seed, salt)), now: time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC),
		jobs: map[string]*job{}, grants: map[string]bool{}, refused: map[string]event.Refused{}, lost: map[event.AgentID]bool{}, from: map[string]string{},
	}
}

// Start is a random team.
func Start(rng *rand.Rand) event.TeamStarted {
	role := func(name string, most int) event.TeamRole {
		return event.TeamRole{Name: name, Most: most, Seat: event.Seat{Agent: event.AgentID(name)}}
	}
	minutes := func(n int) event.Duration { return event.Duration(n) * event.Duration(time.Minute) }
	s := event.TeamStarted{
		Name: "random", Task: event.Inline("do it"), Dir: "/team", Leader: role("leader", 0), Asks: rng.IntN(2) == 0,
		Roles: []event.TeamRole{role("pm", 1), role("coder", 2), role("qa", 0)},
		Rules: event.TeamRules{
			Version: 1 + rng.IntN(event.TeamRulesVersion), MaxMembers: 2 + rng.IntN(3), MaxTurns: 10 + rng.IntN(40), MaxCalls: 9,
			MaxAttempts: 1 + rng.IntN(3), MaxIdle: 1 + rng.IntN(2),
			Permission: event.Override{On: rng.IntN(2) == 0, Wait: minutes(rng.IntN(2))},
		},
	}
	if rng.IntN(3) > 0 {
		s.Rules.Turn, s.Rules.Grace = minutes(5+rng.IntN(20)), minutes(rng.IntN(8))
	}
	if rng.IntN(3) == 0 {
		s.Rules.Time = minutes(20 + rng.IntN(60))
	}
	if rng.IntN(2) == 0 {
		n := 200 + rng.Int64N(800)
		s.Rules.Budget = event.Budget{Tokens: &n}
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
		if w.err == nil && !w.Team.Done() {
			w.now = w.now.Add(time.Duration(w.rng.IntN(40)) * time.Second)
			w.step()
		}
	}
	if problems := team.Check(w.Log); len(problems) > 0 && w.err == nil {
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
	n := w.rng.IntN(60)
	switch {
	case n == 0 && !w.alone:
		w.crash()
	case n < 4 || len(w.jobs) == 0 && !w.Team.AtRest():
		w.timer()
	case n < 10 && !w.alone || w.Team.AtRest():
		w.person()
	default:
		keys := slices.Sorted(maps.Keys(w.jobs))
		w.act(w.jobs[keys[w.rng.IntN(len(keys))]])
	}
}

// timer fires when the team has asked for it.
func (w *World) timer() {
	at, ok := w.Team.Wake()
	if !ok {
		return
	}
	if at.After(w.now) {
		w.now = at
	}
	w.submit(event.Fact{ID: w.id("timer"), Body: event.TimerFired{}})
}

// submit puts facts before the team, begins what it asks for, and looks whether it
// stands as a team can.
func (w *World) submit(facts ...event.Fact) {
	seq := uint64(len(w.Log))
	events, do := flow.Advance(w.Team, w.stamp(&seq), facts...)
	w.take(events)
	w.begin(do)
	w.stands()
}

func (w *World) stamp(seq *uint64) func(event.Fact) event.Event {
	return func(f event.Fact) event.Event {
		*seq++
		return event.Event{Flow: "team-1", Seq: *seq, At: w.now, Fact: f}
	}
}

func (w *World) take(events []event.Event) {
	w.Log = append(w.Log, events...)
	for _, e := range events {
		w.note(e)
	}
}

// note keeps what the world must know of the log.
func (w *World) note(e event.Event) {
	switch b := e.Body.(type) {
	case event.Asked:
		w.gates = append(w.gates, b)
		if j := w.of(e.Agent); j != nil && b.Kind == event.GatePermission {
			j.asks = b.Gate
		}
	case event.Messaged:
		w.messages = append(w.messages, e.ID)
	case event.Granted:
		w.grants[b.Request] = true
	case event.Refused:
		w.refused[b.Ref] = b
		if b.Over {
			delete(w.jobs, w.from[b.Ref]) // it says nothing more
		}
	case event.Lost:
		w.lost[e.Agent] = true
	}
}

// of is the take of a member that goes on.
func (w *World) of(a event.AgentID) *job {
	for _, j := range w.jobs { // there is one at most that was not told to stop
		if j.Agent == a && !j.stopped {
			return j
		}
	}
	return nil
}

// stands is that the team is over, waits for a person, or goes on by something that
// somebody does or that time brings.
func (w *World) stands() {
	_, wakes := w.Team.Wake()
	live := 0
	for _, c := range w.Team.Pending() {
		switch c := c.(type) {
		case team.Work:
			live++
			if w.jobs[c.Key()] == nil {
				w.fail("%s is pending and nobody works on it", c.Key())
			}
		case flow.Stop:
			live++
		}
	}
	_, asked := w.Team.Gate()
	switch {
	case len(w.Team.Due()) > 0:
		w.fail("something is due")
	case w.Team.Done() && (live > 0 || wakes):
		w.fail("over, and something goes on")
	case !w.Team.Done() && live == 0 && !wakes && !asked:
		w.fail("nothing goes on, and it is not over")
	}
}

// begin takes commands in hand.
func (w *World) begin(do []flow.Command) {
	for _, c := range do {
		switch c := c.(type) {
		case team.Work:
			w.works(c)
		case flow.Stop:
			if j := w.jobs[c.Work]; j != nil {
				j.stopped = true
			}
		case flow.Tell:
			w.tell(c)
		}
	}
}

func (w *World) works(c team.Work) {
	if j := w.of(c.Agent); j != nil && j.Key() != c.Key() {
		w.fail("%s begins while %s goes on", c.Key(), j.Key())
	}
	if len(c.Mail) == 0 {
		w.fail("%s begins with nothing", c.Key())
	}
	if w.lost[c.Agent] {
		w.fail("%s is lost and is set to work", c.Agent)
	}
	j := &job{Work: c, hangs: w.one(25)}
	for _, v := range c.Verdicts {
		if b, no := w.refused[v.ID]; no != (v.Why != "") || b.Why != v.Why {
			w.fail("a verdict on %s is wrong", v.ID)
		}
	}
	w.jobs[c.Key()] = j
}

func (w *World) tell(c flow.Tell) {
	j := w.jobs[c.Work]
	if j == nil {
		return
	}
	switch n := c.Note.(team.Note); n.Kind {
	case team.NoteMail:
		j.notes = append(j.notes, n)
	case team.NoteTakenBack:
		j.notes = slices.DeleteFunc(j.notes, func(x team.Note) bool { return x.Mail.ID == n.Back })
	case team.NotePermission:
		if j.asks == n.Gate {
			j.asks = ""
		}
	case team.NoteBudget:
		j.waits = false
	}
}

// crash loses everything but the log.
func (w *World) crash() {
	clear(w.jobs)
	w.Team = &team.Team{}
	flow.Fold(w.Team, w.Log)
	if w.Team.Done() {
		return
	}
	seq := uint64(len(w.Log))
	events, _ := flow.Advance(w.Team, w.stamp(&seq), event.Fact{ID: w.id("resumed"), Body: event.Resumed{}})
	w.take(events)
	w.begin(w.Team.Pending())
	w.stands()
}
