package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/flow"
)

// loop takes inputs until the flow is done. Inputs that wait while a commit is
// being written share the next one.
func (d *Driver) loop(ctx context.Context) error {
	for !d.d.Done() {
		d.arm()
		var next func() error
		select {
		case s := <-d.inputs:
			batch := d.waiting(s)
			next = func() error { return d.process(ctx, batch) }
		case <-d.timer.C:
			next = func() error { return d.fire(ctx) }
		case <-ctx.Done():
		}
		// What work says because it is left is not what came of it.
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := next(); err != nil {
			return err
		}
	}
	return nil
}

// waiting is s and every other submission that is ready now.
func (d *Driver) waiting(s submission) []submission {
	batch := []submission{s}
	for {
		select {
		case s := <-d.inputs:
			batch = append(batch, s)
		default:
			return batch
		}
	}
}

// arm sets the timer to when the decider wants to be woken.
func (d *Driver) arm() {
	if at, ok := d.d.Wake(); ok {
		d.timer.Reset(at.Sub(d.clock.now()))
	} else {
		d.timer.Stop()
	}
}

// fire tells the decider the time. A timer that rings a little early is taken
// to be on time: the decider would only ask for it again.
func (d *Driver) fire(ctx context.Context) error {
	at, ok := d.d.Wake()
	if !ok {
		return nil
	}
	d.clock.reach(at)
	do, err := d.commit(ctx, event.Fact{ID: fmt.Sprintf("timer/%d", d.last.Seq+1), Body: event.TimerFired{}})
	d.start(ctx, do)
	return err
}

// process records a batch of submissions in one transaction. If one of them
// reuses an id, each is tried alone so that the others do not suffer.
func (d *Driver) process(ctx context.Context, batch []submission) error {
	err := d.try(ctx, batch...)
	if !reused(err) {
		return err
	}
	for _, s := range batch {
		if err := d.fold(ctx); err != nil || d.d.Done() {
			return err
		}
		err := d.try(ctx, s)
		if reused(err) {
			s.reply <- reply{err: err}
		} else if err != nil {
			return err
		}
	}
	return d.fold(ctx)
}

// reused reports whether a commit failed because an id was used before: for
// something else, or for the same, which then has another number already.
func reused(err error) bool {
	return errors.Is(err, eventlog.ErrConflict) || errors.Is(err, eventlog.ErrGap)
}

// try records submissions, answers them, and starts what follows.
func (d *Driver) try(ctx context.Context, batch ...submission) error {
	var facts []event.Fact
	for _, s := range batch {
		facts = append(facts, s.facts...)
	}
	events, do, err := d.advance(ctx, facts...)
	if err != nil {
		return err
	}
	for _, s := range batch {
		s.reply <- reply{events: events}
	}
	d.start(ctx, do)
	return nil
}

// commit is advance for facts nobody waits for.
func (d *Driver) commit(ctx context.Context, facts ...event.Fact) ([]flow.Command, error) {
	_, do, err := d.advance(ctx, facts...)
	return do, err
}

// advance lets the decider decide and makes facts and decisions durable, in one
// transaction. After a failure the decider knows more than the log: it must be
// folded again or given up.
func (d *Driver) advance(ctx context.Context, facts ...event.Fact) ([]event.Event, []flow.Command, error) {
	last := d.last
	events, do := flow.Advance(d.d, func(f event.Fact) event.Event {
		last = event.Event{Flow: d.Lease.Flow(), Seq: last.Seq + 1, At: d.at(f, last.At), Fact: f}
		return last
	}, facts...)
	// Leaving the flow must not cut a commit short: it is brief, and its
	// outcome would be unknown.
	if err := d.Log.Commit(context.WithoutCancel(ctx), d.Lease, events); err != nil {
		return nil, nil, fmt.Errorf("record %s: %w", d.Lease.Flow(), err)
	}
	d.last = last
	if d.Observe != nil {
		d.Observe(events)
	}
	d.checkpoint(ctx)
	return events, do, nil
}

// at is the time of a fact that follows an event of the given time. Until the
// log says that the flow is taken up, time stands where the log ended.
func (d *Driver) at(f event.Fact, last time.Time) time.Time {
	if _, up := f.Body.(event.Resumed); up {
		d.down = false
	}
	if d.down {
		return last
	}
	return d.clock.stamp(last)
}
