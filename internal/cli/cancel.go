package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/event"
)

func newRunsCancel(e *env) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:   "cancel ID",
		Short: "End a run now with what it has, wherever it is driven",
		Long: `Cancel ends a run with what it has and waits until that is done. The process
that drives the run is asked to; a run that nobody drives is ended here. Of a
session it ends the run that goes on in it.`,
		Example:           "  conclave runs cancel k3f9 --reason \"wrong question\"",
		Args:              args(1, 1, "one run"),
		ValidArgsFunction: e.runIDs(func(f control.Flow) bool { return !f.Finished }),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.with(func(c control.Control) error { return e.cancelRun(cmd.Context(), c, a[0], reason) })
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for the record")
	return c
}

func (e *env) cancelRun(ctx context.Context, c control.Control, typed, reason string) error {
	id, err := c.Find(ctx, typed)
	if err == nil && namesJob(id) {
		return e.cancelJob(ctx, c, string(id), reason)
	}
	if err == nil && namesTeam(id) {
		_, t, err := findTeam(ctx, c, string(id))
		if err != nil {
			return err
		}
		return e.stopTeam(ctx, c, id, t, reason)
	}
	if err == nil {
		id, err = runOf(ctx, c, id)
	}
	if err != nil {
		return err
	}
	s, err := standingOf(ctx, c, id)
	if err != nil {
		return err
	}
	if s.end != nil {
		return control.Usagef("%s was already over: %s", id, s.end.Status)
	}
	ask := event.Fact{ID: cancelID(), Body: event.CancelRequested{By: "conclave runs cancel", Reason: reason}}
	// A driver may come or go at any time; the request stays the same.
	for s.end == nil {
		if s, err = e.cancelOnce(ctx, c, id, ask); err != nil {
			return err
		}
	}
	if s.end.Status != event.StatusCancelled {
		return control.Usagef("%s was already over: %s", id, s.end.Status)
	}
	fmt.Fprintf(e.Out, "%s is cancelled", id)
	if !s.end.Answer.Empty() {
		fmt.Fprintf(e.Out, "; what there was: conclave runs show %s", id)
	}
	fmt.Fprintln(e.Out)
	return nil
}

// runOf is the run that is meant: in a session it is the one that goes on.
func runOf(ctx context.Context, c control.Control, id event.FlowID) (event.FlowID, error) {
	s, err := c.Open(ctx, id)
	switch {
	case err != nil || s.Session == nil:
		return id, err
	case s.Session.Running == "":
		return "", control.Usagef("no run of %s is going on", id)
	}
	return s.Session.Running, nil
}

// cancelOnce asks the run's driver and waits for it, or takes up a run that
// nobody drives just to end it.
func (e *env) cancelOnce(ctx context.Context, c control.Control, id event.FlowID, ask event.Fact) (standing, error) {
	d, driven, err := c.Driver(ctx, id)
	if err == nil && driven {
		if err = c.Send(ctx, id, ask); err == nil {
			e.await(ctx, c, id, d)
		}
	} else if err == nil {
		err = c.Resume(ctx, id, false, ask)
	}
	if _, driven := errors.AsType[*control.Driven](err); driven {
		err = nil // somebody was faster
	}
	if err != nil {
		return standing{}, err
	}
	return standingOf(ctx, c, id)
}

// patience is how long a driver may take before the person is told.
const patience = 3 * time.Second

// await returns when the run is over, or when nobody drives it any more.
func (e *env) await(ctx context.Context, c control.Control, id event.FlowID, d control.Driver) {
	e.while(ctx, c, id, d, func(ctx context.Context) {
		for ev, err := range c.Follow(ctx, id, 1) {
			if _, over := ev.Body.(event.Finished); over || err != nil {
				return
			}
		}
	})
}
