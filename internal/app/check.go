package app

import (
	"context"
	"fmt"

	"conclave/internal/chat"
	"conclave/internal/control"
	"conclave/internal/coord"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/sqlite"
	"conclave/internal/job"
	"conclave/internal/talk"
	teamwork "conclave/internal/team"
)

// Check implements [control.Control].
func (a *App) Check(ctx context.Context, id event.FlowID) ([]control.Finding, error) {
	log, err := a.existing(ctx)
	if err != nil {
		return nil, err
	}
	ids := []event.FlowID{id}
	if id == "" {
		flows, err := log.Flows(ctx)
		if err != nil {
			return nil, err
		}
		ids = nil
		for _, f := range flows {
			ids = append(ids, f.ID)
		}
	}
	var out []control.Finding
	if c, ok := log.(storageChecker); ok && id == "" {
		problems, err := c.Check(ctx)
		if err != nil {
			return nil, err
		}
		for _, p := range problems {
			out = append(out, control.Finding{What: p.String()})
		}
	}
	for _, id := range ids {
		for _, what := range checkFlow(ctx, log, id) {
			out = append(out, control.Finding{Flow: id, What: what})
		}
	}
	return out, nil
}

// storageChecker is a log that can prove what is under its flows.
type storageChecker interface {
	Check(ctx context.Context) ([]sqlite.Problem, error)
}

// checkFlow reads a flow, which proves checksums and numbers, reads every text
// it names, and then lets its decider judge the events.
func checkFlow(ctx context.Context, log eventlog.Log, id event.FlowID) []string {
	var out []string
	var events []event.Event
	for e, err := range log.Read(ctx, id, 1) {
		if err != nil {
			return append(out, err.Error()) // what cannot be read cannot be judged
		}
		if _, err := event.Fill(e, func(c event.Content) (string, error) {
			p, err := log.Blob(ctx, c.Blob)
			return string(p), err
		}); err != nil {
			out = append(out, err.Error())
		}
		events = append(events, e)
	}
	if len(events) > 0 {
		if s, ok := events[0].Body.(event.SessionStarted); ok {
			check := talk.Check
			if s.Kind == event.SessionCoordinate {
				check = chat.Check
			}
			return append(out, spelled(check(events))...)
		}
		if _, ok := events[0].Body.(event.JobStarted); ok {
			return append(out, spelled(job.Check(events))...)
		}
		if _, ok := events[0].Body.(event.TeamStarted); ok {
			return append(out, spelled(teamwork.Check(events))...)
		}
	}
	return append(out, spelled(coord.Check(events))...)
}

func spelled[T fmt.Stringer](problems []T) []string {
	var out []string
	for _, p := range problems {
		out = append(out, p.String())
	}
	return out
}
