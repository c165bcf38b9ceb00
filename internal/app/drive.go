package app

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"conclave/internal/agent"
	"conclave/internal/control"
	"conclave/internal/coord"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/flow"
	"conclave/internal/live"
)

// Start implements [control.Control].
func (a *App) Start(ctx context.Context, r control.Run) (err error) {
	defer func() { tellFailed(err) }()
	log, err := a.events(ctx)
	if err != nil {
		return err
	}
	crew, err := a.newCrew(r.ID, r.Started.Spec, log)
	if err != nil {
		return err
	}
	return a.drive(ctx, log, r.ID, false, running(crew), func(d *engine.Driver) error {
		d.Observe = whenRecorded(Keep(log, r.ID))
		return d.Start(ctx, event.Fact{ID: "started", Body: r.Started})
	})
}

// Resume implements [control.Control].
func (a *App) Resume(ctx context.Context, id event.FlowID, takeOver bool, also ...event.Fact) (err error) {
	defer func() { tellFailed(err) }()
	log, err := a.existing(ctx)
	if err != nil {
		return err
	}
	if s, ok, err := session(ctx, log, id); err != nil || ok {
		if err == nil {
			err = a.converse(ctx, log, id, s, takeOver, nil, also...)
		}
		return err
	}
	if s, ok, err := jobBegun(ctx, log, id); err != nil || ok {
		if err == nil {
			err = a.untilSettled(ctx, log, id, func(ctx context.Context, takeOver bool, watch func(bool), also ...event.Fact) error {
				return a.work(ctx, log, id, s, takeOver, watch, also...)
			}, takeOver, also...)
		}
		return err
	}
	if s, ok, err := teamBegun(ctx, log, id); err != nil || ok {
		if err == nil {
			err = a.untilSettled(ctx, log, id, func(ctx context.Context, takeOver bool, watch func(bool), also ...event.Fact) error {
				return a.lead(ctx, log, id, s, takeOver, watch, also...)
			}, takeOver, also...)
		}
		return err
	}
	started, err := opening(ctx, log, id)
	if err != nil {
		return err
	}
	crew := idle(id, started.Spec, log)
	if !slices.ContainsFunc(also, cancels) { // else nobody will work
		if err := a.mayResume(id, started.Spec); err != nil {
			return err
		}
		if crew, err = a.newCrew(id, started.Spec, log); err != nil {
			return err
		}
	}
	return a.drive(ctx, log, id, takeOver, running(crew), func(d *engine.Driver) error {
		k, err := a.snapshot(ctx, log, id)
		if err != nil {
			return err
		}
		d.Observe = whenRecorded(k.observe)
		return d.Resume(ctx, also...)
	})
}

// A part is what it takes to drive a flow: who decides, who does what is decided,
// and what is to be closed afterwards.
type part struct {
	decider func() flow.Decider
	doer    engine.Doer
	close   func() error
}

// running is the part of a run.
func running(c *crew) part {
	return part{decider: func() flow.Decider { return &coord.Run{} }, doer: c, close: c.Close}
}

// drive holds the flow's lease and offers its live text while f drives it.
func (a *App) drive(ctx context.Context, log eventlog.Log, id event.FlowID, takeOver bool, p part, f func(*engine.Driver) error) (err error) {
	defer func() { err = errors.Join(err, p.close()) }()
	lease, err := log.Acquire(ctx, id, takeOver)
	if err != nil {
		return told(id, err)
	}
	// Live text is a courtesy: a run goes on without it. Its socket is closed
	// last: whoever listens then finds the lease free and the log complete.
	if srv, err := live.Serve(&a.hub); err == nil {
		defer srv.Close()
		if an, ok := lease.(eventlog.Announcer); ok {
			_ = an.Announce(srv.Addr())
		}
	}
	defer lease.Release()
	defer a.hub.Forget(id)
	a.tidy(ctx)
	return told(id, f(&engine.Driver{
		Log: log, Lease: lease, Doer: p.doer, Hub: &a.hub,
		Decider: p.decider,
	}))
}

// idle is the crew of a run that nobody works on any more.
func idle(id event.FlowID, spec event.RunSpec, blobs agent.Blobs) *crew {
	return &crew{Crew: &agent.Crew{Flow: id, Spec: spec, Blobs: blobs}}
}

func cancels(f event.Fact) bool {
	_, ok := f.Body.(event.CancelRequested)
	return ok
}

// whenRecorded also tells that we are ready with the first thing recorded.
func whenRecorded(observe func([]event.Event)) func([]event.Event) {
	return func(events []event.Event) {
		tell(ready)
		observe(events)
	}
}

func tellFailed(err error) {
	if err != nil {
		tell(err.Error())
	}
}

// told puts what a person can act on into the words of control.
func told(id event.FlowID, err error) error {
	if held, ok := errors.AsType[*eventlog.HeldError](err); ok {
		return &control.Driven{Flow: id, PID: held.Holder.PID}
	}
	if errors.Is(err, eventlog.ErrSuperseded) {
		return &control.TakenOver{Flow: id}
	}
	return err
}

// opening is the first fact of a run.
func opening(ctx context.Context, log eventlog.Log, id event.FlowID) (event.RunStarted, error) {
	for e, err := range log.Read(ctx, id, 1) {
		if err != nil {
			return event.RunStarted{}, fmt.Errorf("read %s: %w", id, err)
		}
		if s, ok := e.Body.(event.RunStarted); ok {
			if err := s.Rules.Validate(len(s.Spec.Seats)); err != nil {
				return s, fmt.Errorf("%s goes by rules this version cannot follow: %w", id, err)
			}
			return s, nil
		}
		return event.RunStarted{}, fmt.Errorf("%s begins with %s: it is not a run this version can drive", id, event.Kind(e.Body))
	}
	return event.RunStarted{}, fmt.Errorf("read %s: %w", id, eventlog.ErrNotFound)
}
