package engine

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"

	"conclave/internal/event"
	"conclave/internal/flow"
	"conclave/internal/live"
)

// work is one command being carried out, and its Port.
type work struct {
	d    *Driver
	stop context.CancelCauseFunc
	done atomic.Bool

	told chan struct{} // holds one value at most

	mu    sync.Mutex
	notes []any
}

func (d *Driver) start(ctx context.Context, do []flow.Command) {
	for _, c := range do {
		d.carryOut(ctx, c)
	}
}

// carryOut starts, stops or tells. Stopping or telling work that is over does
// nothing: it has ended by itself.
func (d *Driver) carryOut(ctx context.Context, c flow.Command) {
	w := d.works[c.Key()]
	switch c := c.(type) {
	case flow.Stop:
		if w != nil {
			w.stop(ErrStopped)
		}
	case flow.Tell:
		if w != nil {
			w.tell(c.Note)
		}
	default:
		d.begin(ctx, c)
	}
}

func (d *Driver) begin(ctx context.Context, c flow.Command) {
	maps.DeleteFunc(d.works, func(_ string, w *work) bool { return w.done.Load() })
	ctx, stop := context.WithCancelCause(ctx)
	w := &work{d: d, stop: stop, told: make(chan struct{}, 1)}
	d.works[c.Key()] = w
	d.wg.Go(func() {
		defer w.done.Store(true)
		defer stop(nil)
		if last := d.Doer.Do(ctx, c, w); len(last) > 0 {
			// The work's own context may have ended: that it has is what the
			// last facts say.
			_, _ = w.Submit(context.WithoutCancel(ctx), last...)
		}
	})
}

// Submit implements [Port].
func (w *work) Submit(ctx context.Context, facts ...event.Fact) ([]event.Event, error) {
	return w.d.submit(ctx, facts...)
}

func (d *Driver) submit(ctx context.Context, facts ...event.Fact) ([]event.Event, error) {
	s := submission{facts, make(chan reply, 1)}
	select {
	case d.inputs <- s:
	case <-d.over:
		return nil, d.overBy
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case r := <-s.reply:
		return r.events, r.err
	case <-d.over:
		select { // answered by the very commit that ended the flow
		case r := <-s.reply:
			return r.events, r.err
		default:
			return nil, d.overBy
		}
	}
}

// Notes implements [Port].
func (w *work) Notes() []any {
	w.mu.Lock()
	defer w.mu.Unlock()
	notes := w.notes
	w.notes = nil
	return notes
}

// Told implements [Port].
func (w *work) Told() <-chan struct{} { return w.told }

func (w *work) tell(note any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notes = append(w.notes, note)
	select {
	case w.told <- struct{}{}:
	default:
	}
}

// Leave implements [Port].
func (w *work) Leave(err error) { w.d.leave(err) }

// Live implements [Port].
func (w *work) Live(d live.Delta) {
	if w.d.Hub != nil {
		d.Flow = w.d.Lease.Flow()
		w.d.Hub.Publish(d)
	}
}

// readInbox submits what anybody sends to the flow. An inbox that cannot be
// read ends the driving: nobody could cancel any more.
func (d *Driver) readInbox(ctx context.Context) {
	sorter, _ := d.Decider().(flow.Sorter)
	for f, err := range d.Log.Inbox(ctx, d.Lease.Flow()) {
		if err == nil && admissible(f, sorter) {
			_, err = d.submit(ctx, f)
		}
		// What is in the log under that id is not in the inbox any more.
		if err != nil && !reused(err) {
			d.leave(err)
			return
		}
	}
}

// admissible reports whether a fact may come from outside. What may not stays
// where it is: a fact of a newer version for a driver that knows it, since in
// the log it would lock this one out, and anything else for nobody. An agent has
// no need of the inbox, so whatever speaks for one from there is not it.
func admissible(f event.Fact, s flow.Sorter) bool {
	if _, newer := f.Body.(event.Unknown); newer || f.Agent != "" {
		return false
	}
	return s == nil || s.Hears(f.Body)
}
