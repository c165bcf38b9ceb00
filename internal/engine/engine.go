// Package engine drives flows: it takes what happens, lets the decider decide,
// commits both together and then starts what was asked for.
//
// A [Driver] is one flow in this process. [Driver.Start] opens a new flow,
// [Driver.Resume] takes up one that is in the log; both return when the flow is
// over, when the context ends, or when the log fails. In every case all work has
// stopped and been waited for, and what the log holds is whole: a flow that was
// left can be resumed.
//
// Goroutines of a driver: the loop (the caller's own), one that reads the inbox,
// and one for each piece of work going on. The loop alone touches the decider.
package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/flow"
	"conclave/internal/live"
)

// A Doer carries out commands. Do runs in a goroutine of its own; when ctx ends
// it stops what it does and returns. The facts it returns, if any, are submitted
// as its last.
type Doer interface {
	Do(ctx context.Context, c flow.Command, p Port) []event.Fact
}

// A Port is how a piece of work speaks to its flow.
type Port interface {
	// Submit records facts and everything decided because of them in one
	// transaction, and returns all of it once it is durable.
	Submit(ctx context.Context, facts ...event.Fact) ([]event.Event, error)
	// Notes takes out what the work has been told since the last call.
	Notes() []any
	// Told holds a value when there may be notes nobody has taken out yet.
	Told() <-chan struct{}
	// Live shows what is being said, to whoever happens to watch.
	Live(live.Delta)
	// Leave ends the driving of the flow: something the flow itself cannot go
	// on without has failed, such as its storage.
	Leave(error)
}

// Causes of a work's context ending.
var (
	ErrStopped = errors.New("stopped")          // the decider asked for it
	ErrOver    = errors.New("the flow is over") // nothing more is taken
	ErrLeft    = errors.New("the driver has left the flow")
)

// A Driver drives one flow. Set the fields, then call Start or Resume once.
type Driver struct {
	Log     eventlog.Log
	Lease   eventlog.Lease
	Decider func() flow.Decider // makes a fresh one
	Doer    Doer
	Hub     *live.Hub // may be nil
	// Observe, if set, is given every event of this driver once it is durable,
	// in order and before anything acts on it. It runs in the loop: be brief.
	Observe func([]event.Event)

	// Of the loop alone:
	d     flow.Decider
	last  event.Event // zero before the first
	saved uint64      // events in the last checkpoint
	every uint64      // events between checkpoints; zero is checkpointEvery
	clock clock
	down  bool // the log does not say yet that the flow is taken up
	timer *time.Timer
	works map[string]*work

	inputs chan submission
	over   chan struct{} // closed when no more inputs are taken; overBy says why
	overBy error
	leave  context.CancelCauseFunc
	wg     sync.WaitGroup
}

type submission struct {
	facts []event.Fact
	reply chan reply // buffered
}

type reply struct {
	events []event.Event
	err    error
}

// Start opens the flow with its first fact and drives it.
func (d *Driver) Start(ctx context.Context, first event.Fact) error {
	d.d = d.Decider()
	return d.drive(ctx, first)
}

// Resume takes the flow up where its log ends: work that was going on when the
// last driver went away is recorded as interrupted and begun again. What is
// given in also is recorded first, before anything begins and as of the end of
// the log: the time nobody drove is charged to nothing.
func (d *Driver) Resume(ctx context.Context, also ...event.Fact) error {
	if err := d.fold(ctx); err != nil {
		return err
	}
	if d.d.Done() {
		return nil
	}
	d.clock, d.down = newClock(d.last.At), true
	down := d.clock.now().Sub(d.last.At)
	return d.drive(ctx, append(also, event.Fact{
		ID:   fmt.Sprintf("resumed/%d", d.Lease.Epoch()),
		Body: event.Resumed{Down: event.Duration(down), Epoch: d.Lease.Epoch()},
	})...)
}

// Begin takes up a flow that somebody has opened and nobody has driven: its log has
// the first fact and nothing more, so nothing was going on that could have been cut.
// Of any other flow it is Resume.
func (d *Driver) Begin(ctx context.Context, also ...event.Fact) error {
	if err := d.fold(ctx); err != nil {
		return err
	}
	if d.last.Seq > 1 || len(also) > 0 || len(d.d.Due()) == 0 {
		return d.Resume(ctx, also...)
	}
	d.clock = newClock(d.last.At)
	return d.drive(ctx)
}

func (d *Driver) drive(ctx context.Context, first ...event.Fact) (err error) {
	if d.clock == (clock{}) {
		d.clock = newClock(time.Time{})
	}
	d.inputs, d.over = make(chan submission), make(chan struct{})
	d.works = map[string]*work{}
	d.timer = time.NewTimer(time.Hour)
	defer d.timer.Stop()
	ctx, d.leave = context.WithCancelCause(ctx)
	defer func() { // stop everything and wait for it, whatever happened
		d.overBy = ErrLeft
		if err == nil {
			d.overBy = ErrOver
		}
		close(d.over)
		d.leave(d.overBy)
		d.wg.Wait()
	}()
	// What is pending after the first commit covers everything the decider has
	// asked for by then, in this process or in one before it.
	if _, err := d.commit(ctx, first...); err != nil {
		return err
	}
	d.wg.Go(func() { d.readInbox(ctx) })
	for _, c := range d.d.Pending() {
		d.carryOut(ctx, c)
	}
	return d.loop(ctx)
}
