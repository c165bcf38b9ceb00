package tui_test

import (
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/tui/robot"
)

func TestQuitIdleLeavesAtOnce(t *testing.T) {
	r, _ := sit(t, stage(t, pair, nil))
	r.Press("ctrl+d").Left()
	if p := r.Parting(); p != "" {
		t.Errorf("it says %q", p)
	}
}

func TestQuitStays(t *testing.T) {
	_, r := busyPair(t)
	r.Press("ctrl+d").See("Leave while agents are at work?", "background process", "to be resumed", "Cancel it")
	r.Press("esc").Gone("Leave while").See("working")
}

func TestQuitToBackground(t *testing.T) {
	a, r := busyPair(t)
	r.Press("ctrl+d").See("Leave while").Press("b").Left()
	id := sessionOf(t, a)
	if len(a.handed) != 1 || a.handed[0] != id || !strings.Contains(r.Parting(), "process 4711") || !strings.Contains(r.Parting(), "conclave resume "+string(id)) {
		t.Errorf("handed over %v and says %q", a.handed, r.Parting())
	}
	if _, driven, err := a.Driver(t.Context(), id); err != nil || driven {
		t.Errorf("it was not let go: %v", err)
	}
}

// What cannot be handed over stays here.
func TestQuitToBackgroundFails(t *testing.T) {
	a, r := busyPair(t)
	a.refuse = errors.New("no more processes")
	r.Press("ctrl+d").See("Leave while").Press("enter").See("It stays here: no more processes")
	r.Until("see it driven again", func() bool {
		_, driven, err := a.Driver(t.Context(), sessionOf(t, a))
		r.Send(nil)
		return err == nil && driven
	})
}

func TestQuitLeavesItToBeResumed(t *testing.T) {
	t.Run("chosen", func(t *testing.T) {
		leavesIt(t, func(r robotAt) { r.Press("ctrl+c").See("Leave while").Click("Leave it as it is").Left() })
	})
	t.Run("Ctrl+C twice", func(t *testing.T) { // as its help says, and as on the command line
		leavesIt(t, func(r robotAt) { r.Press("ctrl+c", "ctrl+c").Left() })
	})
}

// leavesIt leaves a run that goes on, and finds that it is neither over nor driven.
func leavesIt(t *testing.T, leave func(robotAt)) {
	t.Helper()
	a, r := busyPair(t)
	leave(r)
	id := sessionOf(t, a)
	if p := r.Parting(); !strings.Contains(p, "conclave resume "+string(id)) {
		t.Errorf("it says %q", p)
	}
	if s := cardOf(t, a, newestRun(t, a)).Status; s != "" {
		t.Errorf("the run is over: %s", s)
	}
}

func TestQuitCancels(t *testing.T) {
	a, r := busyPair(t)
	r.Press("ctrl+d").See("Leave while").Press("c").Left()
	if s := cardOf(t, a, newestRun(t, a)).Status; s != event.StatusCancelled {
		t.Errorf("the run is %q", s)
	}
}

// The window that is opened again shows the same question, message and pause.
func TestReopened(t *testing.T) {
	a, r := busyPair(t)
	r.Type("use metric units").Press("enter").See("waits for agent1 and agent2").Press("f9").See("PAUSED")
	id := sessionOf(t, a)
	r.Close()
	c := &clock{}
	o := c.options(a)
	o.Flow = id
	robot.Open(t, o, 100, 30).See("use metric units – waits for agent1 and agent2", "PAUSED", "✉1")
}

// Somebody who looks elsewhere is called once for each occasion, with words of
// our own.
func TestAttention(t *testing.T) {
	a := stage(t, waiting, nil)
	r, _ := sit(t, a)
	r.Send(tea.BlurMsg{}).Type("Which sort?").Press("enter").See("Press Ctrl+O")
	r.Until("be called", func() bool { return len(r.Called()) == 1 })
	if !strings.Contains(r.Title(), "waiting for you") {
		t.Errorf("the title is %q", r.Title())
	}
	r.Press("enter").See("Final:")
	r.Until("be called again", func() bool { return len(r.Called()) == 2 })
	for _, s := range r.Called() {
		if !strings.HasPrefix(s, "\x1b]9;Conclave: ") || !strings.HasSuffix(s, "\a") || strings.Contains(s, "Which sort") {
			t.Errorf("called with %q", s)
		}
	}
	r.Send(tea.FocusMsg{}).Type("And now?").Press("enter").See("Press Ctrl+O").Press("enter").See("turn 2").Gone("Press Ctrl+O")
	if n := len(r.Called()); n != 2 {
		t.Errorf("called %d times", n)
	}
}
