package app

import (
	"cmp"
	"context"
	"errors"
	"time"

	"conclave/internal/control"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/flow"
	"conclave/internal/job"
)

// deciderOfJob is who decides in a job.
func deciderOfJob() flow.Decider { return &job.Job{} }

// work drives a job, and the runs it launches, until ctx ends. Watch is told after
// every change whether the job is at rest.
func (a *App) work(ctx context.Context, log eventlog.Log, id event.FlowID, s event.JobStarted, takeOver bool, watch func(rests bool), also ...event.Fact) error {
	// What a job does is in its log, and a log that came with a project is the word
	// of whoever wrote that.
	if !a.own() {
		return control.Usagef("the log in %s is not known to be yours, so %s is not gone on with\nIf it is all right say: conclave trust", a.state(), id)
	}
	h := newShop(a, log, id, s, takeOver)
	p := part{decider: deciderOfJob, doer: h, close: h.Close}
	return a.drive(ctx, log, id, takeOver, p, func(d *engine.Driver) error {
		k, err := a.snapshot(ctx, log, id)
		if err != nil {
			return err
		}
		now, err := jobStanding(ctx, log, id)
		if err != nil {
			return err
		}
		defer a.finder.leave(id)
		d.Observe = whenRecorded(func(events []event.Event) {
			a.finder.heed(a, id, s, events)
			k.observe(events)
			flow.Fold(now, events)
			watch(now.AtRest())
		})
		return d.Resume(ctx, also...)
	})
}

// jobStanding is a job as its decider sees it.
func jobStanding(ctx context.Context, log eventlog.Log, id event.FlowID) (*job.Job, error) {
	d, err := engine.State(ctx, log, id, deciderOfJob)
	if err != nil {
		return nil, err
	}
	return d.(*job.Job), nil
}

// A settler is a job or a team, which comes to rest. Rests: nobody but a person
// brings it further, or it is over. Ending: somebody wants it to end that is not
// over yet.
type settler struct {
	flow.Decider
	rests, ending bool
}

// settling is a job or a team as its decider sees it; ok is false for a flow that is
// neither.
func settling(ctx context.Context, log eventlog.Log, id event.FlowID) (s settler, ok bool, err error) {
	if _, ok, err = jobBegun(ctx, log, id); err != nil || ok {
		if err != nil {
			return s, false, err
		}
		now, err := jobStanding(ctx, log, id)
		if err != nil {
			return s, false, err
		}
		return settler{now, now.AtRest(), now.Cancelling()}, true, nil
	}
	if _, ok, err = teamBegun(ctx, log, id); err != nil || !ok {
		return s, false, err
	}
	now, err := teamStanding(ctx, log, id)
	if err != nil {
		return s, false, err
	}
	return settler{now, now.AtRest(), now.Ending() && !now.Done()}, true, nil
}

// A driving drives a job or a team until its context ends. Watch is told after every
// change whether it is at rest.
type driving func(ctx context.Context, takeOver bool, watch func(rests bool), also ...event.Fact) error

// untilSettled drives a job or a team until it waits for a person or is over, and
// nobody has said anything more to it.
func (a *App) untilSettled(ctx context.Context, log eventlog.Log, id event.FlowID, drive driving, takeOver bool, also ...event.Fact) error {
	for tries := 0; ; takeOver, also = false, nil {
		err := a.untilAtRest(ctx, drive, takeOver, also...)
		switch {
		case errors.Is(err, errAtRest):
		case err != nil && ctx.Err() == nil && tries < cancelTries && cancelled(ctx, log, id):
			tries++ // it could not go on, and need not
			continue
		default:
			return err
		}
		// Something may have been said at the last moment. Whoever says more from
		// now on finds that nobody drives the job.
		busy, err := a.busy(ctx, log, id)
		if err != nil || !busy {
			return err
		}
	}
}

// cancelTries is how often one that cannot go on is taken up to be cancelled: what
// it cannot do may fail before anybody has heard that it is not wanted any more.
const cancelTries = 3

// cancelled reports whether somebody has asked for one to end that is not over.
func cancelled(ctx context.Context, log eventlog.Log, id event.FlowID) bool {
	now, ok, err := settling(ctx, log, id)
	if err != nil || !ok || now.ending {
		return err == nil && ok
	}
	return pending(ctx, log, id, func(b event.Body) bool { return event.Kind(b) == event.Kind(event.CancelRequested{}) })
}

func (a *App) untilAtRest(ctx context.Context, drive driving, takeOver bool, also ...event.Fact) error {
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	timer := time.AfterFunc(never, func() { leave(errAtRest) })
	defer timer.Stop()
	return drive(ctx, takeOver, func(rests bool) {
		if timer.Stop(); rests {
			timer.Reset(cmp.Or(a.linger, lull))
		}
	}, also...)
}

// never is longer than any process lives.
const never = time.Duration(1<<63 - 1)

// pendingFor reports whether something waits in the inbox of a flow that its
// decider would take.
func pendingFor(ctx context.Context, log eventlog.Log, id event.FlowID, d flow.Decider) bool {
	s, ok := d.(flow.Sorter)
	return ok && pending(ctx, log, id, s.Hears)
}

// pending reports whether something of a kind waits in the inbox of a flow.
func pending(ctx context.Context, log eventlog.Log, id event.FlowID, is func(event.Body) bool) bool {
	for f, err := range log.Unheard(ctx, id) {
		if err != nil {
			return false // nobody could drive it
		}
		if is(f.Body) {
			return true
		}
	}
	return false
}
