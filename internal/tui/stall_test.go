package tui_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"conclave/internal/event"
	"conclave/internal/tui/robot"
)

// failing is a program that cannot drive anything while something is broken.
type failing struct {
	*program
	broken atomic.Bool
	cut    atomic.Pointer[context.CancelFunc]
}

func (f *failing) Resume(ctx context.Context, id event.FlowID, takeOver bool, also ...event.Fact) error {
	if f.broken.Load() {
		return errors.New("the disk is full")
	}
	inner, cut := context.WithCancel(ctx)
	defer cut()
	f.cut.Store(&cut)
	err := f.program.Resume(inner, id, takeOver, also...)
	if f.broken.Load() {
		return errors.New("the disk is full")
	}
	return err
}

func stalled(t *testing.T) (*failing, *robot.Robot) {
	t.Helper()
	f := &failing{program: stage(t, pair, map[string]string{"agent.yaml": hangScript})}
	var c clock
	o := c.options(f.program)
	o.Program = f
	r := robot.Open(t, o, 100, 30).Type("Think").Press("enter").See("● ada", "● bob")
	f.broken.Store(true)
	(*f.cut.Load())()
	return f, r.See("It stopped: the disk is full", "STOPPED")
}

// A run that nobody drives any more does not look as if it went on, and is taken
// up again when somebody says so or speaks to it.
func TestStalled(t *testing.T) {
	f, r := stalled(t)
	if got := r.Title(); !strings.Contains(got, "stopped") {
		t.Errorf("the title is %q", got)
	}
	r.Press("f5").See("nobody drives it").Press("esc")
	r.Press("f9").See("It stopped: the disk is full", "STOPPED")
	f.broken.Store(false)
	r.Press("f9").Gone("STOPPED").See("working")
}

func TestStalledIsSpokenTo(t *testing.T) {
	f, r := stalled(t)
	f.broken.Store(false)
	r.Press("esc", "esc").Gone("STOPPED").See("cancelled")
}

func TestStalledIsLeft(t *testing.T) {
	f, r := stalled(t)
	r.Press("ctrl+d").Left()
	if got := r.Parting(); !strings.Contains(got, "stands still") || !strings.Contains(got, string(sessionOf(t, f.program))) {
		t.Errorf("it says %q", got)
	}
}
