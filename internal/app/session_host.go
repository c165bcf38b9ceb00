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
	"conclave/internal/job"
	"conclave/internal/live"
	"conclave/internal/talk"
	"conclave/internal/view"
)

// chair does what a session decides: it has its runs driven, in this process, its
// agent take turns, and keeps its plans.
//
// Goroutines: one for each run that goes on, which hands a cancellation to it.
type chair struct {
	a        *App
	log      eventlog.Log
	id       event.FlowID
	takeOver bool // so are its runs
	started  event.SessionStarted
	agent    speaker                      // of a session that has one
	now      atomic.Pointer[view.Session] // as the last event left it, while it is driven
}

// Do implements [engine.Doer].
func (h *chair) Do(ctx context.Context, c flow.Command, p engine.Port) []event.Fact {
	switch c := c.(type) {
	case chat.Launch:
		return h.launch(ctx, h.said(c), p)
	case chat.Keep:
		return h.keep(ctx, c, p)
	case talk.Launch:
		return h.launch(ctx, h.wanted(c), p)
	case talk.Work:
		t, err := h.host(ctx, c)
		if err != nil {
			p.Leave(fmt.Errorf("%w\nNothing is lost; when that is mended go on with: conclave resume %s", err, h.id))
			return nil
		}
		return t.Do(ctx, c, p)
	}
	p.Leave(fmt.Errorf("a session asks for %T, which this version cannot do", c))
	return nil
}

// launching is a run that a session has launched, whatever kind of session it is.
type launching struct {
	run    event.FlowID
	cancel *wish // set if it is to be ended
	// prepare makes it, if the log does not have it yet.
	prepare func(context.Context) (control.Run, error)
	// report puts what it has come to into the words of whoever wanted it.
	report func(context.Context, event.Returned) (event.Returned, error)
	// fact is the one that ends the launch.
	fact func(event.Returned) event.Fact
}

// A wish is that of a person to end a run.
type wish struct {
	ID string
	event.CancelRequested
}

// said is a run launched by something said in a coordination conversation.
func (h *chair) said(l chat.Launch) launching {
	return launching{
		run: l.Run, cancel: (*wish)(l.Cancel), fact: l.Fact,
		prepare: func(ctx context.Context) (control.Run, error) { return h.prepare(ctx, l) },
		report:  func(_ context.Context, r event.Returned) (event.Returned, error) { return r, nil },
	}
}

// launch drives a run to its end. When ctx ends the run is left as it is: whoever
// takes the session up goes on with it.
func (h *chair) launch(ctx context.Context, l launching, p engine.Port) []event.Fact {
	inner, done := context.WithCancel(ctx)
	var wg sync.WaitGroup
	var end atomic.Pointer[wish]
	end.Store(l.cancel)
	wg.Go(func() { h.handOn(inner, l, p, &end) })
	r, err := h.run(ctx, l, &end)
	done()
	wg.Wait()
	if err == nil {
		r, err = l.report(ctx, r)
	}
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		p.Leave(fmt.Errorf("%w\n%s cannot go on before that is mended. To end the run with what it has: conclave runs cancel %[2]s", err, l.run))
		return nil
	}
	return []event.Fact{l.fact(r)}
}

// handOn hands a person's wish to end the run to the run, and keeps it in end for
// whoever would go on with the run.
func (h *chair) handOn(ctx context.Context, l launching, p engine.Port, end *atomic.Pointer[wish]) {
	cancel := func(c wish) {
		for range h.log.Follow(ctx, l.run, 1) {
			break // it is there
		}
		if ctx.Err() != nil {
			return
		}
		if err := h.log.Send(ctx, l.run, event.Fact{ID: c.ID, Body: c.CancelRequested}); err != nil && ctx.Err() == nil {
			p.Leave(fmt.Errorf("cancel %s: %w", l.run, err)) // it is asked again when the session goes on
		}
	}
	if l.cancel != nil {
		cancel(*l.cancel)
	}
	for {
		select {
		case <-p.Told():
			for _, n := range p.Notes() {
				if c, ok := wished(n); ok {
					end.Store(&c)
					cancel(c)
				}
			}
		case <-ctx.Done():
			return
		}
	}
}

// wished is the wish that a launch is told of.
func wished(note any) (wish, bool) {
	switch n := note.(type) {
	case chat.Cancel:
		return wish(n), true
	case talk.Cancel:
		return wish(n), true
	case job.Cancel:
		return wish(n), true
	}
	return wish{}, false
}

// run starts the run, or goes on with it if the log has it, and returns what it
// has come to. One that cannot begin is returned as such: whatever the reason,
// the person can say something else.
func (h *chair) run(ctx context.Context, l launching, end *atomic.Pointer[wish]) (event.Returned, error) {
	for takeOver := h.takeOver; ; takeOver = false {
		r, there, err := h.outcome(ctx, l.run)
		if err != nil || r.Status != "" {
			return r, err
		}
		cancel := end.Load()
		if there {
			err = h.a.Resume(ctx, l.run, takeOver, ending(cancel)...)
		} else {
			err = h.begin(ctx, l)
		}
		_, driven := errors.AsType[*control.Driven](err)
		_, taken := errors.AsType[*control.TakenOver](err)
		switch {
		case ctx.Err() != nil:
			return r, ctx.Err()
		case driven || taken:
			if err := h.await(ctx, l.run); err != nil {
				return r, err
			}
		case err == nil, end.Load() != cancel: // nobody has to work for a run to end
		case there:
			w, ok := h.unheardWish(ctx)
			if cancel != nil || !ok {
				return r, err
			}
			end.CompareAndSwap(nil, &w) // and nobody has to work any more
		default:
			if _, began, _ := h.outcome(ctx, l.run); began {
				return r, err
			}
			return event.Returned{Error: err.Error()}, nil
		}
	}
}

// unheardWish is a cancel that waits in the session's inbox. A run that cannot go on
// ends the driving, perhaps before that was taken in, and the next time again.
func (h *chair) unheardWish(ctx context.Context) (wish, bool) {
	for f, err := range h.log.Unheard(ctx, h.id) {
		if err != nil {
			break
		}
		if c, ok := f.Body.(event.CancelRequested); ok {
			return wish{ID: f.ID, CancelRequested: c}, true
		}
	}
	return wish{}, false
}

// begin starts a run that the log does not have.
func (h *chair) begin(ctx context.Context, l launching) error {
	run, err := l.prepare(ctx)
	if err != nil {
		return err
	}
	return h.a.Start(ctx, run)
}

// ending is what a run that is gone on with is told first if it is to be ended,
// besides what is in its inbox: so nobody is called to work on it. The log may
// have the wish under its own id already.
func ending(c *wish) []event.Fact {
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
