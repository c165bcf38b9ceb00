package dialog_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/budget"
	"conclave/internal/dialog"
	"conclave/internal/event"
)

// A summary takes the place of what it covers; pins stay, and what a command was
// given before is not changed.
func TestCompact(t *testing.T) {
	var m dialog.Memory
	for _, id := range []string{"a", "b", "c"} {
		m.Remember(dialog.Entry{ID: id, Pinned: id == "a"})
	}
	given := m.Part()
	m.Compact(event.Compacted{Through: "nothing of that name"})
	if m.Summary != nil || len(m.History) != 3 {
		t.Errorf("a summary of nothing changed the conversation: %+v", m)
	}
	m.Compact(event.Compacted{Through: "b"})
	m.Remember(dialog.Entry{ID: "d"})
	ids := func(list []dialog.Entry) (out []string) {
		for _, x := range list {
			out = append(out, x.ID)
		}
		return out
	}
	if diff := cmp.Diff([][]string{{"a"}, {"c", "d"}}, [][]string{ids(m.Pins), ids(m.History)}); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, ids(given.History)); diff != "" || given.Summary != nil {
		t.Errorf("what was given has changed: %s", diff)
	}
}

// What was sent with a call is not remembered, and stays in the fact.
func TestRememberWithoutSent(t *testing.T) {
	var m dialog.Memory
	b := event.Called{Model: "m", Sent: &event.Sent{System: event.Inline("You are.")}}
	m.Remember(dialog.Entry{ID: "a", Called: &b})
	if x := m.History[0].Called; x.Sent != nil || x.Model != "m" || b.Sent == nil {
		t.Errorf("remembered %+v of %+v", x, b)
	}
}

// The clock runs while a driver does, and deadlines are measured when a timer
// fires.
func TestClock(t *testing.T) {
	var c dialog.Clock
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, step := range []struct {
		after    time.Duration
		body     event.Body
		up, rung time.Duration
	}{
		{0, event.JobStarted{}, 0, 0},
		{time.Minute, event.Noticed{}, time.Minute, 0},
		{time.Hour, event.Resumed{}, time.Minute, 0},
		{time.Minute, event.TimerFired{}, 2 * time.Minute, 2 * time.Minute},
		{-time.Minute, event.Noticed{}, 2 * time.Minute, 2 * time.Minute},
	} {
		at = at.Add(step.after)
		c.Tick(event.Event{At: at, Fact: event.Fact{Body: step.body}})
		if c.Up != step.up || c.Rung != step.rung {
			t.Errorf("after %s of %T the clock says %s, %s when it rang", step.after, step.body, c.Up, c.Rung)
		}
	}
}

// What a take holds when it ends may have been spent; a call that is reported
// afterwards is not booked again.
func TestLeave(t *testing.T) {
	var l budget.Ledger
	var s dialog.Stint
	s.Begin("host", event.Turn{Round: 1, Take: 1})
	l.Reserve("r1", event.Amount{Tokens: 10})
	s.Granted("r1", event.Amount{Tokens: 10})
	s.Called("", []event.ToolCall{{ID: "c1"}, {ID: "c2"}})
	s.Returned("c1")
	s.Leave(&l)
	dialog.Settle(&l, "r1", event.Usage{Input: 3})
	if l.Spent.Tokens != 10 || s.Live || len(s.Open) != 1 || s.Current("host", s.Turn) {
		t.Errorf("spent %d, %+v", l.Spent.Tokens, s)
	}
	dialog.Settle(&l, "", event.Usage{Input: 5})
	if l.Spent.Tokens != 15 {
		t.Errorf("spent %d, want 15: a call without a reservation costs as well", l.Spent.Tokens)
	}
}

// Time that somebody reads a question does not count against it.
func TestWishes(t *testing.T) {
	var w dialog.Wishes
	e := event.Event{Fact: event.Fact{ID: "w1", Agent: "host"}}
	b := event.Wished{Tool: "shell", Hash: "h"}
	a := dialog.Permission(e, b, nil, event.Duration(time.Minute)).Body.(event.Asked)
	w.Ask(e, b, a, 0)
	waits := func(*dialog.Wish) bool { return true }
	w.Question(a.Gate).Held = true
	w.Pass(30 * time.Second)
	w.Question(a.Gate).Held = false
	if _, ok := w.Lapsed(dialog.Clock{Rung: time.Minute}, waits); ok {
		t.Error("it lapsed while it was read")
	}
	f, ok := w.Lapsed(dialog.Clock{Rung: 90 * time.Second}, waits)
	if !ok || f.Body.(event.Closed).How != "expired" {
		t.Errorf("it did not expire: %+v", f)
	}
	if f, ok := w.Lapsed(dialog.Clock{}, func(*dialog.Wish) bool { return false }); !ok || f.Body.(event.Closed).How != "ending" {
		t.Errorf("nobody waits, and it is asked still: %+v", f)
	}
	x, text := w.Decide(event.Closed{Gate: a.Gate, Choice: event.PermitRun, How: "reply", Text: "fine"})
	if x == nil || text != "fine" || w.Asking() || len(w.Allowed) != 1 {
		t.Errorf("decided as %+v %q, allowed %v", x, text, w.Allowed)
	}
}

// A run has the same name whoever takes the flow up, and another for another cause.
func TestRunName(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	one := dialog.RunName(at, "job-1", "phase/2.1")
	if again := dialog.RunName(at, "job-1", "phase/2.1"); again != one {
		t.Errorf("%s and %s", one, again)
	}
	if other := dialog.RunName(at, "job-1", "phase/2.2"); other == one {
		t.Errorf("%s twice", one)
	}
}
