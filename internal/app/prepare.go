package app

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"time"

	"conclave/internal/control"
	"conclave/internal/event"
)

// Prepare implements [control.Control].
func (a *App) Prepare(ctx context.Context, q control.Request) (control.Run, error) {
	t, err := a.team(q.Config)
	if err != nil {
		return control.Run{}, err
	}
	if t.seats, err = choose(t, q); err != nil {
		return control.Run{}, err
	}
	rules, err := t.rules(q)
	if err != nil {
		return control.Run{}, err
	}
	offline := true
	for i, s := range t.seats {
		b, off, err := openBackend(s)
		if err != nil {
			return control.Run{}, &control.Usage{Err: err}
		}
		if rules.Budget.Cost != nil && !b.Traits().Price {
			return control.Run{}, control.Usagef("agent %s: what %s costs is not known, so max_cost cannot be kept", s.Agent, s.Backend)
		}
		if s.Model == "" {
			t.seats[i].Model = b.Traits().Model
		}
		offline = offline && off
	}
	task, err := a.keep(ctx, q.Task)
	if err != nil {
		return control.Run{}, err
	}
	var seed [8]byte
	_, _ = rand.Read(seed[:])
	n := binary.BigEndian.Uint64(seed[:])
	started := event.RunStarted{
		Spec:  event.RunSpec{Task: task, Seats: event.Seated(n, t.seats), ContextPaths: t.settings.ContextPaths},
		Rules: rules, Seed: n, By: "conclave " + Version,
	}
	if err := rules.Validate(len(t.seats)); err != nil {
		return control.Run{}, &control.Usage{Err: err}
	}
	return control.Run{ID: newID(time.Now()), Started: started, Offline: offline, Source: t.source(), Warnings: append(t.warnings, t.idle(q)...)}, nil
}

// newID names a run: when, and four letters to tell it apart and to type.
func newID(now time.Time) event.FlowID {
	const letters = "abcdefghjkmnpqrstuvwxyz23456789"
	var b [4]byte
	_, _ = rand.Read(b[:])
	for i := range b {
		b[i] = letters[int(b[i])%len(letters)]
	}
	return event.FlowID("run-" + now.Format("20060102-150405") + "-" + string(b[:]))
}

// keep makes a task fit for an event.
func (a *App) keep(ctx context.Context, task string) (event.Content, error) {
	if len(task) <= event.InlineMax {
		return event.Inline(task), nil
	}
	log, err := a.events(ctx)
	if err != nil {
		return event.Content{}, err
	}
	h, err := log.PutBlob(ctx, []byte(task))
	if err != nil {
		return event.Content{}, control.Usagef("keep the task: %w", err) // nothing was done
	}
	return event.Content{Blob: h, Size: len(task)}, nil
}
