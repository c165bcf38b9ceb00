package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/talk"
)

// Newest implements [control.Sessions].
func (a *App) Newest(ctx context.Context, config ...string) (event.FlowID, bool, error) {
	files, err := absolutes(config)
	if err != nil {
		return "", false, err
	}
	flows, err := a.flows(ctx)
	if err != nil {
		return "", false, err
	}
	for _, f := range flows { // the one with the newest event first
		s, ok := f.First.Body.(event.SessionStarted)
		if !ok || s.Kind != event.SessionInteractive || f.Damaged != nil || len(files) > 0 && !slices.Contains(files, s.Config) {
			continue
		}
		now, err := a.Open(ctx, f.ID)
		if err == nil && now.Session != nil && now.Session.Talk != nil && !now.Session.Talk.Archived {
			return f.ID, true, nil
		}
	}
	return "", false, nil
}

// absolutes are files as sessions name them.
func absolutes(files []string) ([]string, error) {
	var out []string
	for _, f := range files {
		if f != "" {
			abs, err := filepath.Abs(f)
			if err != nil {
				return nil, control.Usagef("find %s: %w", f, err)
			}
			f = abs
		}
		out = append(out, f)
	}
	return out, nil
}

// Fork implements [control.Sessions]. The new session has the events of the old
// one up to where nothing went on, under the same ids and times, so it replays to
// the same state; the runs it launches later have names of their own, which are
// drawn from the moment as well.
func (a *App) Fork(ctx context.Context, id event.FlowID) (event.FlowID, error) {
	log, err := a.existing(ctx)
	if err != nil {
		return "", err
	}
	s, ok, err := session(ctx, log, id)
	switch {
	case err != nil:
		return "", err
	case !ok || s.Kind != event.SessionInteractive:
		return "", control.Usagef("%s is no conversation with an agent, so it cannot be forked", id)
	case !a.own():
		return "", control.Usagef("the log in %s is not known to be yours, so %s is not forked\nIf it is all right say: conclave trust", a.state(), id)
	}
	events, err := settledPart(ctx, log, id)
	if err != nil {
		return "", err
	}
	now := time.Now()
	fork := newID("session", now)
	s.Origin, s.Fork, s.Through = cmp.Or(s.Origin, id), id, uint64(len(events))
	s.By = "conclave " + Version
	for i := range events {
		e := &events[i]
		e.Flow, e.Pos = fork, 0
		if i == 0 {
			e.Body = s
			continue
		}
		e.ID = forkedID(id, e.Fact)
	}
	lease, err := log.Acquire(ctx, fork, false)
	if err != nil {
		return "", told(fork, err)
	}
	if err := errors.Join(log.Commit(ctx, lease, events), lease.Release()); err != nil {
		return "", err
	}
	// One that was put away is out again: somebody wants to go on with it.
	if now, err := a.Open(ctx, fork); err == nil && now.Session.Talk.Archived {
		return fork, log.Send(ctx, fork, event.Fact{ID: "in/fork/" + string(fork), Body: event.Archived{}})
	}
	return fork, nil
}

// forkedID is the id of a fact in a fork. Drivers number what they record by
// their own epochs, which begin anew there.
func forkedID(from event.FlowID, f event.Fact) string {
	switch f.Body.(type) {
	case event.Resumed, event.Staffed:
		if !strings.Contains(f.ID, "@") {
			return fmt.Sprintf("%s@%s", f.ID, from)
		}
	}
	return f.ID
}

// settledPart is a session up to the last event after which nothing went on.
func settledPart(ctx context.Context, log eventlog.Log, id event.FlowID) ([]event.Event, error) {
	var events []event.Event
	var d talk.Session
	through, turns := 0, false
	for e, err := range log.Read(ctx, id, 1) {
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", id, err)
		}
		events = append(events, e)
		if _, ok := e.Body.(event.Assigned); ok {
			turns = true
		}
		if r := d.Step(e); len(r.Record) == 0 && turns && d.Phase() == talk.Idle && d.AtRest() {
			through = len(events)
		}
	}
	if through == 0 {
		return nil, control.Usagef("nothing in %s has come to its end yet, so there is nothing to fork; wait for its first answer", id)
	}
	return events[:through], nil
}
