package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
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
	wg.Go(func() { h.handOn(inner, l, p) })
	r, err := h.run(ctx, l)
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

// handOn hands a person's wish to end the run to the run.
func (h *chair) handOn(ctx context.Context, l chat.Launch, p engine.Port) {
	cancel := func(c chat.Cancel) {
		for range h.log.Follow(ctx, l.Run, 1) {
			break // it is there
		}
		if ctx.Err() == nil {
			_ = h.log.Send(ctx, l.Run, event.Fact{ID: c.ID, Body: c.CancelRequested})
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
					cancel(c)
				}
			}
		case <-ctx.Done():
			return
		}
	}
}

// run starts the run, or goes on with it if the log has it, and returns what it
// has come to. One that cannot begin is returned as such.
func (h *chair) run(ctx context.Context, l chat.Launch) (event.Returned, error) {
	takeOver := h.takeOver
	for {
		r, there, err := h.outcome(ctx, l.Run)
		switch {
		case err != nil:
			return r, err
		case there && r.Status != "":
			return r, nil
		case there:
			err = h.a.Resume(ctx, l.Run, takeOver)
		default:
			var run control.Run
			if run, err = h.prepare(ctx, l); err == nil {
				err = h.a.Start(ctx, run)
			}
		}
		_, driven := errors.AsType[*control.Driven](err)
		_, taken := errors.AsType[*control.TakenOver](err)
		_, usage := errors.AsType[*control.Usage](err)
		switch {
		case ctx.Err() != nil:
			return r, ctx.Err()
		case driven || taken:
			if err := h.await(ctx, l.Run); err != nil {
				return r, err
			}
		case usage && !there:
			return event.Returned{Error: err.Error()}, nil
		case err != nil:
			return r, err
		}
		takeOver = false
	}
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
