package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"conclave/internal/chat"
	"conclave/internal/control"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/flow"
	"conclave/internal/live"
)

// chair does what a session decides: it has its runs driven, in this process, and
// keeps its plans.
//
// Goroutines: one for each run that goes on, which hands a cancellation to it.
type chair struct {
	a        *App
	log      eventlog.Log
	id       event.FlowID
	takeOver bool // so are its runs
}

// Do implements [engine.Doer].
func (h *chair) Do(ctx context.Context, c flow.Command, p engine.Port) []event.Fact {
	switch c := c.(type) {
	case chat.Launch:
		return h.launch(ctx, c, p)
	case chat.Keep:
		return h.keep(ctx, c, p)
	}
	p.Leave(fmt.Errorf("a session asks for %T, which this version cannot do", c))
	return nil
}

// launch drives a run to its end. When ctx ends the run is left as it is: whoever
// takes the session up goes on with it.
func (h *chair) launch(ctx context.Context, l chat.Launch, p engine.Port) []event.Fact {
	inner, done := context.WithCancel(ctx)
	var wg sync.WaitGroup
	var wish atomic.Pointer[chat.Cancel]
	wish.Store(l.Cancel)
	wg.Go(func() { h.handOn(inner, l, p, &wish) })
	r, err := h.run(ctx, l, &wish)
	done()
	wg.Wait()
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		p.Leave(fmt.Errorf("%w\n%s cannot go on before that is mended. To end the run with what it has: conclave runs cancel %[2]s", err, l.Run))
		return nil
	}
	return []event.Fact{l.Fact(r)}
}

// handOn hands a person's wish to end the run to the run, and keeps it in wish
// for whoever would go on with the run.
func (h *chair) handOn(ctx context.Context, l chat.Launch, p engine.Port, wish *atomic.Pointer[chat.Cancel]) {
	cancel := func(c chat.Cancel) {
		for range h.log.Follow(ctx, l.Run, 1) {
			break // it is there
		}
		if ctx.Err() != nil {
			return
		}
		if err := h.log.Send(ctx, l.Run, event.Fact{ID: c.ID, Body: c.CancelRequested}); err != nil && ctx.Err() == nil {
			p.Leave(fmt.Errorf("cancel %s: %w", l.Run, err)) // it is asked again when the session goes on
		}
	}
	if l.Cancel != nil {
		cancel(*l.Cancel)
	}
	for {
		select {
		case <-p.Told():
			for _, n := range p.Notes() {
				if c, ok := n.(chat.Cancel); ok {
					wish.Store(&c)
					cancel(c)
				}
			}
		case <-ctx.Done():
			return
		}
	}
}

// run starts the run, or goes on with it if the log has it, and returns what it
// has come to. One that cannot begin is returned as such: whatever the reason,
// the person can say something else.
func (h *chair) run(ctx context.Context, l chat.Launch, wish *atomic.Pointer[chat.Cancel]) (event.Returned, error) {
	for takeOver := h.takeOver; ; takeOver = false {
		r, there, err := h.outcome(ctx, l.Run)
		if err != nil || r.Status != "" {
			return r, err
		}
		cancel := wish.Load()
		if there {
			err = h.a.Resume(ctx, l.Run, takeOver, ending(cancel)...)
		} else {
			err = h.begin(ctx, l)
		}
		_, driven := errors.AsType[*control.Driven](err)
		_, taken := errors.AsType[*control.TakenOver](err)
		switch {
		case ctx.Err() != nil:
			return r, ctx.Err()
		case driven || taken:
			if err := h.await(ctx, l.Run); err != nil {
				return r, err
			}
		case err == nil, wish.Load() != cancel: // nobody has to work for a run to end
		case there:
			return r, err
		default:
			if _, began, _ := h.outcome(ctx, l.Run); began {
				return r, err
			}
			return event.Returned{Error: err.Error()}, nil
		}
	}
}

// begin starts a run that the log does not have.
func (h *chair) begin(ctx context.Context, l chat.Launch) error {
	run, err := h.prepare(ctx, l)
	if err != nil {
		return err
	}
	return h.a.Start(ctx, run)
}

// ending is what a run that is gone on with is told first if it is to be ended,
// besides what is in its inbox: so nobody is called to work on it. The log may
// have the wish under its own id already.
func ending(c *chat.Cancel) []event.Fact {
	if c == nil {
		return nil
	}
	return []event.Fact{{ID: fmt.Sprintf("%s/%d", c.ID, time.Now().UnixNano()), Body: c.CancelRequested}}
}

// again is how often to look after a driver that cannot be listened to.
const again = 250 * time.Millisecond

// await returns when the run is over or another process has stopped driving it.
func (h *chair) await(ctx context.Context, run event.FlowID) error {
	ctx, done := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer done()
	wg.Go(func() {
		defer done()
		for ctx.Err() == nil {
			h.a.Listen(ctx, run, false, func(live.Delta) {})
			if _, held, err := h.log.Holder(ctx, run); err != nil || !held {
				return
			}
			select {
			case <-time.After(again):
			case <-ctx.Done():
			}
		}
	})
	for e, err := range h.log.Follow(ctx, run, 1) {
		if err != nil {
			return fmt.Errorf("follow %s: %w", run, err)
		}
		if _, over := e.Body.(event.Finished); over {
			return nil
		}
	}
	return nil
}
