package tui

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/live"
)

// beat is how often what has come is handed to the model: often enough to look
// immediate, seldom enough that drawing costs little.
const beat = 33 * time.Millisecond

// A batch is what came of the flows since the last one.
type batch struct {
	items []fed
}

// fed is one thing that came of a flow.
type fed struct {
	flow  event.FlowID
	event event.Event // with a Seq of 0 it is not one
	delta *live.Delta
	// quiet: nobody drives it any more; err: it cannot be read.
	quiet bool
	err   error
}

// A feed follows flows and gathers what they bring. The model takes it out with
// next, batch by batch; nobody waits for a model that is slow, but for room.
//
// It owns two goroutines for each flow, one for each that is driven elsewhere, and
// one that gathers.
type feed struct {
	ctx context.Context
	c   Program
	in  chan fed
	out chan batch
	wg  sync.WaitGroup

	// Of the model's loop alone:
	flow map[event.FlowID]context.CancelFunc
	ears map[event.FlowID]context.CancelFunc // driven elsewhere, and listened to
	// early keeps what is said in runs that are not shown yet: their words may be
	// there before the event that launches them.
	early live.Hub
}

func newFeed(ctx context.Context, c Program) *feed {
	f := &feed{ctx: ctx, c: c, in: make(chan fed, 1024), out: make(chan batch), flow: map[event.FlowID]context.CancelFunc{}, ears: map[event.FlowID]context.CancelFunc{}}
	f.wg.Go(f.gather)
	return f
}

// gather collects until a beat has passed since the first thing came.
func (f *feed) gather() {
	for {
		var b batch
		select {
		case x := <-f.in:
			b.items = append(b.items, x)
		case <-f.ctx.Done():
			return
		}
		due := time.After(beat)
		for waiting := true; waiting && len(b.items) < 1<<14; {
			select {
			case x := <-f.in:
				b.items = append(b.items, x)
			case <-due:
				waiting = false
			case <-f.ctx.Done():
				return
			}
		}
		select {
		case f.out <- b:
		case <-f.ctx.Done():
			return
		}
	}
}

// next waits for the next batch.
func (f *feed) next() tea.Cmd {
	return func() tea.Msg {
		select {
		case b := <-f.out:
			return b
		case <-f.ctx.Done():
			return nil
		}
	}
}

func (f *feed) give(ctx context.Context, x fed) {
	select {
	case f.in <- x:
	case <-ctx.Done():
	}
}

// follow begins to follow a flow from its first event on. A flow that is
// followed already is not followed twice.
func (f *feed) follow(id event.FlowID) { f.followFrom(id, 1) }

// followFrom is follow for a flow of which something is known.
func (f *feed) followFrom(id event.FlowID, from uint64) {
	if _, ok := f.flow[id]; ok || id == "" {
		return
	}
	ctx, stop := context.WithCancel(f.ctx)
	f.flow[id] = stop
	f.wg.Go(func() {
		for e, err := range f.c.Follow(ctx, id, from) {
			if err != nil {
				if ctx.Err() == nil {
					f.give(ctx, fed{flow: id, err: err})
				}
				return
			}
			f.give(ctx, fed{flow: id, event: e})
		}
	})
	f.wg.Go(func() {
		heard := func(d live.Delta) { f.give(ctx, fed{flow: id, delta: &d}) }
		f.c.Listen(ctx, id, true, heard)
	})
}

// How long to wait for a driver that cannot be heard, as it is about to speak or
// to end; and for a new one, as the old one may be handing over.
const (
	deafness = 250 * time.Millisecond
	handover = time.Second
)

// overhear listens to a flow that another process drives, until nobody does.
func (f *feed) overhear(id event.FlowID) {
	if f.hears(id) || id == "" {
		return
	}
	ctx, stop := context.WithCancel(f.ctx)
	f.ears[id] = stop
	f.wg.Go(func() {
		for free := false; ctx.Err() == nil; {
			f.c.Listen(ctx, id, false, func(d live.Delta) { f.give(ctx, fed{flow: d.Flow, delta: &d}) })
			wait := deafness
			if _, driven, err := f.c.Driver(ctx, id); err == nil && !driven {
				if free {
					break
				}
				wait = handover
			}
			free = wait == handover
			select {
			case <-time.After(wait):
			case <-ctx.Done():
			}
		}
		f.give(ctx, fed{flow: id, quiet: true})
	})
}

// hears reports whether another process drives a flow, as far as is known.
func (f *feed) hears(id event.FlowID) bool { return f.ears[id] != nil }

// said is what was said in a run before it was shown.
func (f *feed) said(id event.FlowID) []live.Delta {
	deltas, stop := f.early.Listen()
	stop()
	f.early.Forget(id)
	var out []live.Delta
	for d := range deltas {
		if d.Flow == id {
			out = append(out, d)
		}
	}
	return out
}

// leave stops following a flow.
func (f *feed) leave(id event.FlowID) {
	f.early.Forget(id)
	if stop, ok := f.flow[id]; ok {
		stop()
		delete(f.flow, id)
	}
	f.deaf(id)
}

// deaf stops listening to a flow that another process drives, or has driven.
func (f *feed) deaf(id event.FlowID) {
	if stop, ok := f.ears[id]; ok {
		stop()
		delete(f.ears, id)
	}
}

func (f *feed) close() { f.wg.Wait() }
