package app

import (
	"context"
	"errors"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/proc"
	"conclave/internal/sandbox"
)

// tidy ends the processes and removes the folders that killed runs have left.
// What cannot be is for the doctor to tell, and so are containers: asking after
// them would have every run wait for a daemon.
func (a *App) tidy(ctx context.Context) {
	_, _ = proc.Sweep(a.state("procs"), nil)
	for _, e := range a.sandboxes() {
		if s, ok := e.(sandbox.Sweeper); ok && e.Name() != "docker" {
			_, _ = s.Sweep(ctx, a.alive(ctx))
		}
	}
}

// alive tells whether somebody drives a run. Of what is not known nothing is to
// be removed.
func (a *App) alive(ctx context.Context) func(event.FlowID) bool {
	return func(id event.FlowID) bool {
		_, held, err := a.Driver(ctx, id)
		if _, none := errors.AsType[*control.NotFound](err); none {
			return false
		}
		return held || err != nil
	}
}
