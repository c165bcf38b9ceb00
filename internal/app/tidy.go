package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/proc"
	"conclave/internal/sandbox"
)

// tidy ends the processes and removes the folders that killed runs, and jobs that
// were never begun, have left.
// What cannot be is for the doctor to tell, and so are containers: asking after
// them would have every run wait for a daemon.
func (a *App) tidy(ctx context.Context) {
	_, _ = proc.Sweep(a.state("procs"), nil)
	for _, e := range a.sandboxes() {
		if s, ok := e.(sandbox.Sweeper); ok && e.Name() != "docker" {
			_, _ = s.Sweep(ctx, a.alive(ctx))
		}
	}
	a.sweepJobs(ctx)
}

// unbegun is how long a folder of a job may be there before the job is: documents
// are copied first, and somebody may be doing so just now.
const unbegun = 24 * time.Hour

// sweepJobs removes the documents of jobs that were never begun: whoever copied
// them was killed before the log said so.
func (a *App) sweepJobs(ctx context.Context) {
	log, err := a.existing(ctx)
	if err != nil {
		return
	}
	dirs, _ := os.ReadDir(a.state("jobs"))
	for _, d := range dirs {
		dir := a.state("jobs", d.Name())
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			continue // it was begun, and nothing more is asked
		}
		info, err := d.Info()
		if err != nil || time.Since(info.ModTime()) < unbegun {
			continue
		}
		if _, _, err := jobBegun(ctx, log, event.FlowID(d.Name())); errors.Is(err, eventlog.ErrNotFound) {
			_ = os.RemoveAll(dir)
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
