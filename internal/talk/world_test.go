package talk_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"conclave/internal/event"
	"conclave/internal/flow/flowtest"
	"conclave/internal/talk"
	"conclave/internal/view"
)

// A world is one session with random people, a random agent or client, random runs
// and crashes around it. It keeps its own idea of what goes on and complains when
// commands do not add up.
type world struct {
	rng    *rand.Rand
	s      *talk.Session
	log    []event.Event
	now    time.Time
	ids    int
	err    error
	client bool
	cap    int64 // on tokens; zero is none

	work   *talk.Work // that goes on
	told   []talk.Note
	held   map[string]bool // reservations of the take
	open   []event.ToolCall
	launch []talk.Launch // that go on
	ended  map[event.FlowID]bool
	wanted []string // ids
	gates  []event.Asked
	said   []string // ids
	seen   view.Session
	turns  map[string]event.Turn // in which something was put forward
}

func newWorld(seed, salt uint64) *world {
	w := &world{rng: rand.New(rand.NewPCG(seed, salt)), s: &talk.Session{}, now: flowtest.Curtain(), ended: map[event.FlowID]bool{}, held: map[string]bool{}, turns: map[string]event.Turn{}}
	same := rand.New(rand.NewPCG(seed, 7)) // however it is cut
	w.client = same.IntN(4) == 0
	if same.IntN(2) == 0 {
		w.cap = 200 + same.Int64N(2000)
	}
	return w
}

// play lets n things happen in a fresh session.
func play(seed uint64, n int) *world {
	w := newWorld(seed, 1)
	kind := event.SessionInteractive
	if w.client {
		kind = event.SessionClient
	}
	w.submit(event.Fact{ID: "started", Body: event.SessionStarted{Kind: kind}})
	w.submit(event.Fact{ID: "staffed", Body: w.staffed()})
	return w.goOn(n)
}

func (w *world) staffed() event.Staffed {
	b := event.Staffed{Seat: event.Seat{Agent: "host"}, Team: []event.Teammate{{Agent: "ada"}, {Agent: "bob"}}}
	b.Rules = event.SessionRules{
		Version: 1, Approve: w.rng.IntN(3) > 0, Disabled: w.rng.IntN(4) == 0, MaxCalls: 8, MaxAttempts: 2, MaxRuns: 1,
		Permission: event.Override{On: w.rng.IntN(4) > 0, Wait: event.Duration(w.rng.IntN(2)) * event.Duration(time.Minute)},
	}
	if w.client {
		b.Seat, b.Rules.MaxRuns = event.Seat{}, 3
	}
	if w.cap > 0 {
		n, most := w.cap, w.cap/3
		b.Rules.Budget = event.Budget{Tokens: &n}
		if w.rng.IntN(2) == 0 {
			b.Rules.RunBudget = event.Budget{Tokens: &most}
		}
	}
	return b
}

// resume takes up a log that was cut anywhere.
func resume(seed uint64, log []event.Event, n int) *world {
	w := newWorld(seed, uint64(len(log))+100)
	w.log, w.now, w.ids = slices.Clone(log), log[len(log)-1].At, 100_000
	for _, e := range log {
		w.note(e)
	}
	w.crash()
	return w.goOn(n)
}

func (w *world) goOn(n int) *world {
	for range n {
		if w.err == nil {
			w.now = w.now.Add(time.Duration(w.rng.IntN(40)) * time.Second)
			w.step()
			w.compare()
		}
	}
	if problems := talk.Check(w.log); len(problems) > 0 && w.err == nil {
		w.err = fmt.Errorf("%v", problems)
	}
	return w
}

func (w *world) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

func (w *world) id(what string) string {
	w.ids++
	return fmt.Sprintf("%s/%d", what, w.ids)
}

// one is any of a list, or something that is not there.
func (w *world) one(list []string) string {
	if len(list) == 0 || w.rng.IntN(10) == 0 {
		return "nothing"
	}
	return list[w.rng.IntN(len(list))]
}

func (w *world) step() {
	switch n := w.rng.IntN(30); {
	case n == 0:
		w.crash()
	case n == 1:
		w.submit(event.Fact{ID: w.id("staffed"), Body: w.staffed()})
	case n == 2:
		if at, ok := w.s.Wake(); ok {
			w.now = later(w.now, at)
			w.submit(event.Fact{ID: w.id("timer"), Body: event.TimerFired{}})
		}
	case n < 6 && !w.client:
		id := w.id("said")
		w.submit(event.Fact{ID: id, Body: event.Said{Text: w.text()}})
	case n < 8:
		w.reply()
	case n < 10:
		w.person()
	case n < 13 && len(w.launch) > 0:
		w.runs()
	case w.client && n < 22:
		w.submit(event.Fact{ID: w.id("want"), Body: event.Wanted{Launch: w.wish()}})
	case w.work != nil:
		w.act()
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (w *world) text() event.Content {
	if w.rng.IntN(8) == 0 {
		return event.Content{}
	}
	return event.Inline(w.id("text"))
}

func (w *world) wish() event.Launch {
	l := event.Launch{Task: w.text(), Agents: []event.AgentID{"ada"}, Approve: w.rng.IntN(4) == 0}
	switch w.rng.IntN(6) {
	case 0:
		l.Agents = append(l.Agents, "bob")
	case 1:
		l.Agents = []event.AgentID{"zoe"}
	}
	return l
}

// reply answers some gate, open or not, about some revision of it.
func (w *world) reply() {
	g := event.Asked{Gate: "nothing", Revision: 1}
	if len(w.gates) > 0 {
		g = w.gates[max(len(w.gates)-1-w.rng.IntN(3), 0)]
	}
	choices := []string{event.LaunchApprove, event.LaunchApprove, event.LaunchDeny, event.PermitOnce, event.PermitRun, "other"}
	r := event.Replied{Gate: g.Gate, Choice: choices[w.rng.IntN(len(choices))], Revision: g.Revision - w.rng.IntN(2), By: "ann"}
	w.submit(event.Fact{ID: w.id("reply"), Body: r})
}

// person says something that is not for the agent.
func (w *world) person() {
	on := w.rng.IntN(2) == 0
	var all []string
	all = append(append(all, w.said...), w.wanted...)
	var gate string
	if len(w.gates) > 0 {
		gate = w.gates[w.rng.IntN(len(w.gates))].Gate
	}
	bodies := []event.Body{
		event.Withdrawn{Message: w.one(all)}, event.Withdrawn{Message: w.one(all)},
		event.CancelRequested{}, event.CancelRequested{},
		event.Amended{Want: w.one(w.wanted), Revision: 1 + w.rng.IntN(2), Launch: w.wish()},
		event.Amended{Want: w.one(w.wanted), Revision: 1 + w.rng.IntN(3), Launch: w.wish()},
		event.Waived{On: on}, event.Pinned{Message: w.one(w.entries()), On: on},
		event.Renamed{Title: w.text().Text}, event.Archived{On: on}, event.Opened{Project: w.text().Text},
		event.Held{Gate: gate, On: on},
		event.Outlined{Title: w.text().Text}, event.Linked{Job: "job-1"}, event.Tiered{Tier: event.TierDebug, Set: "on"},
	}
	w.submit(event.Fact{ID: w.id("person"), Body: bodies[w.rng.IntN(len(bodies))]})
}

func (w *world) entries() []string {
	_, pins, history := w.s.History()
	var out []string
	for _, x := range slices.Concat(pins, history, w.s.Held()) {
		out = append(out, x.ID)
		if x.Run != "" {
			out = append(out, "returned/"+string(x.Run))
		}
	}
	return out
}

// runs has one of the runs end, within what it may spend.
func (w *world) runs() {
	i := w.rng.IntN(len(w.launch))
	l := w.launch[i]
	all := []event.Status{event.StatusSuccess, event.StatusSuccess, event.StatusTimeout, event.StatusCancelled, event.StatusError, ""}
	r := event.Returned{Status: all[w.rng.IntN(len(all))]}
	if r.Status == "" {
		r.Error = "trouble"
	} else if l.Grant.Tokens != nil {
		r.Usage.Input = w.rng.Int64N(*l.Grant.Tokens + 1)
	}
	w.launch = slices.Delete(w.launch, i, i+1)
	w.submit(l.Fact(r))
}
