package app

import (
	"context"
	"errors"
	"fmt"

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
func (a *App) Start(ctx context.Context, r control.Run) error {
	log, err := a.events(ctx)
	if err != nil {
		return err
	}
	crew, err := newCrew(r.ID, r.Started.Spec, log)
	if err != nil {
		return err
	}
	return a.drive(ctx, log, r.ID, false, crew, func(d *engine.Driver) error {
		return d.Start(ctx, event.Fact{ID: "started", Body: r.Started})
	})
}

// Resume implements [control.Control].
func (a *App) Resume(ctx context.Context, id event.FlowID, takeOver bool, also ...event.Fact) error {
	log, err := a.existing(ctx)
	if err != nil {
		return err
	}
	started, err := opening(ctx, log, id)
	if err != nil {
		return err
	}
	crew, err := newCrew(id, started.Spec, log)
	if err != nil {
		return err
	}
	return a.drive(ctx, log, id, takeOver, crew, func(d *engine.Driver) error {
		return d.Resume(ctx, also...)
	})
}

// drive holds the flow's lease and offers its live text while f drives it.
func (a *App) drive(ctx context.Context, log eventlog.Log, id event.FlowID, takeOver bool, crew *agent.Crew, f func(*engine.Driver) error) error {
	lease, err := log.Acquire(ctx, id, takeOver)
	if err != nil {
		return fmt.Errorf("drive %s: %w", id, err)
	}
	defer lease.Release()
	// Live text is a courtesy: a run goes on without it.
	if srv, err := live.Serve(&a.hub); err == nil {
		defer srv.Close()
		if an, ok := lease.(eventlog.Announcer); ok {
			_ = an.Announce(srv.Addr())
		}
	}
	sayReady()
	return f(&engine.Driver{
		Log: log, Lease: lease, Doer: crew, Hub: &a.hub,
		Decider: func() flow.Decider { return &coord.Run{} },
	})
}

// opening is the first fact of a run.
func opening(ctx context.Context, log eventlog.Log, id event.FlowID) (event.RunStarted, error) {
	for e, err := range log.Read(ctx, id, 1) {
		if err != nil {
			return event.RunStarted{}, fmt.Errorf("read %s: %w", id, err)
		}
		if s, ok := e.Body.(event.RunStarted); ok {
			return s, nil
		}
		return event.RunStarted{}, fmt.Errorf("%s begins with %s: it is not a run this version can drive", id, event.Kind(e.Body))
	}
	return event.RunStarted{}, fmt.Errorf("read %s: %w", id, eventlog.ErrNotFound)
}

// newCrew opens the backend of every seat.
func newCrew(id event.FlowID, spec event.RunSpec, blobs agent.Blobs) (*agent.Crew, error) {
	c := &agent.Crew{Flow: id, Spec: spec, Blobs: blobs, Agents: map[event.AgentID]*agent.Agent{}}
	var errs []error
	for _, s := range spec.Seats {
		b, _, err := openBackend(s)
		errs = append(errs, err)
		c.Agents[s.Agent] = &agent.Agent{Seat: s, Backend: b}
	}
	return c, errors.Join(errs...)
}
