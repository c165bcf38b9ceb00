package chat_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"conclave/internal/chat"
	"conclave/internal/event"
	"conclave/internal/flow"
	"conclave/internal/flow/flowtest"
	"conclave/internal/view"
)

// A world is one session and a random person, random runs and crashes around it.
// It keeps its own idea of what goes on and complains when commands do not add
// up.
type world struct {
	rng  *rand.Rand
	s    *chat.Session
	log  []event.Event
	now  time.Time
	ids  int
	err  error
	seen view.Session

	launch *chat.Launch
	keep   *chat.Keep
	ended  map[event.FlowID]bool
}

func newWorld(seed, salt uint64) *world {
	return &world{rng: rand.New(rand.NewPCG(seed, salt)), s: &chat.Session{}, now: flowtest.Curtain(), ended: map[event.FlowID]bool{}}
}

// play lets n things happen in a fresh session.
func play(seed uint64, n int) *world {
	w := newWorld(seed, 1)
	w.submit(event.Fact{ID: "started", Body: event.SessionStarted{Kind: event.SessionCoordinate}})
	return w.goOn(n)
}

// resume takes up a log that was cut anywhere.
func resume(seed uint64, log []event.Event, n int) *world {
	w := newWorld(seed, uint64(len(log)))
	w.log, w.now, w.ids = slices.Clone(log), log[len(log)-1].At, 1000
	for _, e := range log {
		w.seen = w.seen.Apply(e)
		if b, ok := e.Body.(event.Returned); ok {
			w.ended[b.Run] = true
		}
	}
	w.crash()
	return w.goOn(n)
}

func (w *world) goOn(n int) *world {
	for range n {
		if w.err == nil {
			w.now = w.now.Add(time.Duration(w.rng.IntN(3)) * time.Second)
			w.step()
			w.compare()
		}
	}
	if problems := chat.Check(w.log); len(problems) > 0 && w.err == nil {
		w.err = fmt.Errorf("%v", problems)
	}
	return w
}

func (w *world) id(what string) string {
	w.ids++
	return fmt.Sprintf("%s/%d", what, w.ids)
}

func (w *world) step() {
	switch n := w.rng.IntN(20); {
	case n == 0:
		w.crash()
	case n < 5:
		m := event.Modes{Plan: w.rng.IntN(2) == 0, Single: w.rng.IntN(2) == 0, Quick: w.rng.IntN(2) == 0}
		w.submit(event.Fact{ID: w.id("said"), Body: event.Said{Text: w.text(), Modes: m}})
	case n == 5:
		w.submit(event.Fact{ID: w.id("cancel"), Body: event.CancelRequested{}})
	case n == 6:
		w.submit(event.Fact{ID: w.id("rename"), Body: event.Renamed{Title: w.text().Text}})
	case n < 10:
		w.answer()
	case n == 10:
		w.submit(event.Fact{ID: w.id("edit"), Body: event.Revised{Plan: w.gate(), Revision: 1 + w.rng.IntN(4), Text: w.text()}})
	case n < 15 && w.keep != nil:
		k := w.keep
		w.keep = nil
		w.submit(k.Fact("dir", nil))
	case w.launch != nil:
		l := w.launch
		w.launch = nil
		w.ended[l.Run] = true
		w.submit(l.Fact(w.outcome()))
	}
}

func (w *world) text() event.Content {
	if w.rng.IntN(8) == 0 {
		return event.Content{}
	}
	return event.Inline(w.id("text"))
}

func (w *world) outcome() event.Returned {
	all := []event.Status{event.StatusSuccess, event.StatusSuccess, event.StatusSuccess, event.StatusTimeout, event.StatusCancelled, event.StatusError, ""}
	r := event.Returned{Status: all[w.rng.IntN(len(all))]}
	if r.Status != event.StatusSuccess {
		r.Error = "trouble"
	}
	if r.Status == event.StatusSuccess || r.Status != "" && w.rng.IntN(2) == 0 {
		r.Answer = event.Inline("an answer")
	}
	return r
}

func (w *world) gate() string {
	for _, e := range slices.Backward(w.log) {
		if a, ok := e.Body.(event.Asked); ok {
			return a.Gate
		}
	}
	return "plan-x"
}

func (w *world) answer() {
	choices := []string{event.PlanApprove, event.PlanChange, event.PlanDrop, "other"}
	w.submit(event.Fact{ID: w.id("reply"), Body: event.Replied{
		Gate: w.gate(), Choice: choices[w.rng.IntN(4)], Text: w.text().Text, Revision: 1 + w.rng.IntN(3),
	}})
}

func (w *world) submit(f event.Fact) {
	seq := uint64(len(w.log))
	events, do := flow.Advance(w.s, func(f event.Fact) event.Event {
		seq++
		return event.Event{Flow: "session-1", Seq: seq, At: w.now, Fact: f}
	}, f)
	w.log = append(w.log, events...)
	for _, e := range events {
		w.seen = w.seen.Apply(e)
	}
	w.begin(do)
}

// begin takes commands in. What is going on already is not begun again.
func (w *world) begin(do []flow.Command) {
	for _, c := range do {
		switch c := c.(type) {
		case chat.Launch:
			if w.launch != nil || w.ended[c.Run] {
				w.err = fmt.Errorf("%s is launched although another run goes on or it is over", c.Run)
			}
			w.launch = &c
		case chat.Keep:
			if w.keep != nil {
				w.err = fmt.Errorf("%s is to be kept twice", c.Key())
			}
			w.keep = &c
		}
	}
}

// crash forgets everything but the log.
func (w *world) crash() {
	before := w.launch
	w.s, w.launch, w.keep = &chat.Session{}, nil, nil
	flow.Fold(w.s, w.log)
	w.submit(event.Fact{ID: w.id("resumed"), Body: event.Resumed{}})
	w.launch, w.keep = nil, nil
	w.begin(w.s.Pending())
	if before != nil && (w.launch == nil || w.launch.Run != before.Run) {
		w.err = fmt.Errorf("%s is not gone on with", before.Run)
	}
}

// compare holds what is shown to what goes on.
func (w *world) compare() {
	if w.err != nil {
		return
	}
	want := view.SessionIdle
	switch {
	case w.launch != nil:
		want = view.SessionRunning
	case len(w.seen.Gates) > 0:
		want = view.SessionReviewing
	case w.keep != nil:
		want = view.SessionKeeping
	}
	if got := w.seen.State(); got != want {
		w.err = fmt.Errorf("shown as %s, and is %s", got, want)
	}
	if rest := w.launch == nil && w.keep == nil; w.s.AtRest() != rest {
		w.err = fmt.Errorf("at rest: %t, and is %t", w.s.AtRest(), rest)
	}
	if w.launch != nil && w.launch.Run != w.seen.Running {
		w.err = fmt.Errorf("%s goes on, and %s is shown", w.launch.Run, w.seen.Running)
	}
}

// Whatever people say and runs bring, in any order and with crashes in between,
// the log is sound: it replays to the same decisions, one run goes on at a time,
// and none is launched twice.
func TestEverySchedule(t *testing.T) {
	events := 0
	for seed := range flowtest.Schedules(3000) {
		w := play(seed, 60)
		if events += len(w.log); w.err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, w.err, flowtest.Transcript(w.log))
		}
	}
	t.Logf("%d events", events)
}

// A log may be cut after any event and taken up again. The run that was launched
// and not started is then launched under the same name.
func TestResumeAnywhere(t *testing.T) {
	for seed := range flowtest.Schedules(60) {
		whole := play(seed, 40).log
		for k := 1; k <= len(whole); k++ {
			w := resume(seed, whole[:k], 10)
			if w.err != nil {
				t.Fatalf("seed %d cut after event %d: %v\n%s", seed, k, w.err, flowtest.Transcript(w.log))
			}
			if l, ok := whole[k-1].Body.(event.Admitted); ok && k < len(whole) {
				if next, ok := whole[k].Body.(event.Launched); ok && !launched(w.log, next.Run) {
					t.Fatalf("seed %d: cut after %v, %s is not what is launched\n%s", seed, l, next.Run, flowtest.Transcript(w.log))
				}
			}
		}
	}
}

func launched(log []event.Event, run event.FlowID) bool {
	return slices.ContainsFunc(log, func(e event.Event) bool {
		l, ok := e.Body.(event.Launched)
		return ok && l.Run == run
	})
}

// Anything may stand in a log that is damaged: the decider does not fall over
// it, and Check says that something is wrong.
func TestDamagedLogs(t *testing.T) {
	for seed := range flowtest.Schedules(300) {
		flowtest.Damages(t, seed, play(seed, 40).log, chat.Check, newSession, func(s *chat.Session) { s.AtRest() })
	}
}

// What a launch is told of a long conversation costs nothing until it is read,
// and does not change under whoever reads it.
func TestLaunchSharesWhatIsOver(t *testing.T) {
	s := &chat.Session{}
	var seq uint64
	stamp := func(f event.Fact) event.Event {
		seq++
		return event.Event{Flow: "session-1", Seq: seq, Fact: f}
	}
	turn := func(n int) chat.Launch {
		_, do := flow.Advance(s, stamp, event.Fact{ID: fmt.Sprint("said/", n), Body: event.Said{Text: event.Inline(fmt.Sprint("question ", n))}})
		return do[0].(chat.Launch)
	}
	flow.Advance(s, stamp, event.Fact{ID: "started", Body: event.SessionStarted{Kind: event.SessionCoordinate}})
	const turns = 300
	for n := range turns {
		flow.Advance(s, stamp, turn(n).Fact(event.Returned{Status: event.StatusSuccess, Answer: event.Inline("yes")}))
	}
	l := turn(turns)
	before, err := l.Context(inline)
	if err != nil || len(l.Before) != turns {
		t.Fatalf("%d turns before, %v", len(l.Before), err)
	}
	if n := testing.AllocsPerRun(10, func() { s.Pending() }); n > 20 {
		t.Errorf("%v allocations to launch after %d turns", n, turns)
	}
	flow.Advance(s, stamp, l.Fact(event.Returned{Status: event.StatusSuccess}))
	flow.Advance(s, stamp, turn(turns+1).Fact(event.Returned{Status: event.StatusSuccess}))
	if after, err := l.Context(inline); err != nil || after != before {
		t.Errorf("the launch is told something else now: %v\n%s", err, after)
	}
}
