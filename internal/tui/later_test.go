package tui_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"conclave/internal/event"
	"conclave/internal/tui"
	"conclave/internal/tui/robot"
	"conclave/internal/view"
)

// slow is a program whose storage takes as long as a test wants.
type slow struct {
	*program
	entered chan struct{} // Send has begun
	release chan struct{} // it may go on
	ended   chan struct{} // nobody drives any more
	err     error         // of the context that something was sent with
}

func (s *slow) History(ctx context.Context, _ int) ([]string, error) {
	select {
	case <-s.release:
		return []string{"asked before"}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *slow) Send(ctx context.Context, id event.FlowID, f event.Fact) error {
	if _, message := f.Body.(event.Messaged); message {
		close(s.entered)
		<-s.release
		s.err = ctx.Err()
	}
	return s.program.Send(ctx, id, f)
}

func (s *slow) Open(ctx context.Context, id event.FlowID) (view.Snapshot, error) {
	select {
	case <-s.release:
		return s.program.Open(ctx, id)
	case <-ctx.Done():
		return view.Snapshot{}, ctx.Err()
	}
}

func (s *slow) Resume(ctx context.Context, id event.FlowID, takeOver bool, also ...event.Fact) error {
	defer close(s.ended)
	return s.program.Resume(ctx, id, takeOver, also...)
}

func slowly(t *testing.T, script string) (*slow, *robot.Robot) {
	t.Helper()
	s := &slow{program: stage(t, pair, map[string]string{"agent.yaml": script}),
		entered: make(chan struct{}), release: make(chan struct{}), ended: make(chan struct{})}
	var c clock
	o := c.options(s.program)
	o.Program = s
	return s, robot.Open(t, o, 100, 30)
}

// The window opens before what was asked is known, which may be much.
func TestHistoryIsNotWaitedFor(t *testing.T) {
	s, r := slowly(t, agentScript)
	r.See("2 agents").Press("up").Gone("asked before")
	close(s.release)
	r.Until("see what was asked before", func() bool {
		r.Press("up")
		return strings.Contains(r.Screen(), "asked before")
	})
}

// A run that begins is shown however long the storage takes.
func TestRunIsNotWaitedFor(t *testing.T) {
	s, r := slowly(t, hangScript)
	r.Type("Think").Press("enter").See("● ada", "● bob")
	close(s.release)
}

// A window that cannot turn to something stays where it is.
func TestTurnToNothing(t *testing.T) {
	a := stage(t, pair+"orchestrator: {override: off}\n", nil)
	r, _ := sit(t, a)
	r.Type("Which sort?").Press("enter").See("Final answer", "success")
	b := &unreadable{program: a, id: sessionOf(t, a)}
	var c clock
	o := c.options(a)
	o.Program = b
	second := robot.Open(t, o, 100, 30).Type("And now?").Press("enter").See("Final answer", "And now?", "success")
	second.Press("f3").See("Which sort?").Press("end", "enter").See("cannot be read: it is damaged").Press("esc").See("And now?", "Final answer")
}

// unreadable is a program with a flow that cannot be read.
type unreadable struct {
	*program
	id event.FlowID
}

func (u *unreadable) Read(ctx context.Context, id event.FlowID) iter.Seq2[event.Event, error] {
	if id != u.id {
		return u.program.Read(ctx, id)
	}
	return func(yield func(event.Event, error) bool) { yield(event.Event{}, errors.New("it is damaged")) }
}

// A window that is closed at once has said what was said to it.
func TestClosedWhileSending(t *testing.T) {
	s, r := slowly(t, hangScript)
	r.Type("Think").Press("enter").See("● ada", "● bob").Type("use metric units").Press("enter")
	<-s.entered
	closed := make(chan struct{})
	go func() { r.Close(); close(closed) }()
	<-s.ended
	select {
	case <-closed:
		t.Error("the window did not wait")
	default:
	}
	close(s.release)
	<-closed
	if s.err != nil {
		t.Errorf("it was sent with a context that is over: %v", s.err)
	}
}

// A window that cannot be opened leaves nothing behind.
func TestNotOpened(t *testing.T) {
	a := stage(t, pair, nil)
	if _, err := a.Flows(t.Context()); err != nil { // whatever that starts is the program's
		t.Fatal(err)
	}
	before := goleak.IgnoreCurrent()
	var c clock
	o := c.options(a)
	o.Flow = "run-nowhere"
	if _, err := tui.New(t.Context(), o); err == nil {
		t.Error("a flow that is not there was opened")
	}
	o.Flow, o.Config = "", "nowhere.yaml"
	if _, err := tui.New(t.Context(), o); err == nil {
		t.Error("a configuration that is not there was read")
	}
	goleak.VerifyNone(t, before)
}
