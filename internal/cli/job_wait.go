package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/live"
	"conclave/internal/view"
)

func newJobWait(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "wait ID",
		Short: "Wait until a job needs you or is over",
		Long: `Wait returns when a job needs you or is over. Its exit code says which: 0 it is
complete, 2 it failed, 4 it was cancelled, 5 it waits for you.`,
		Example:           "  conclave job wait k3f9 || conclave job review k3f9",
		Args:              args(1, 1, "one job"),
		ValidArgsFunction: e.jobIDs(),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.with(func(c control.Control) error {
				id, _, err := findJob(cmd.Context(), c, a[0])
				if err != nil {
					return err
				}
				return e.waitJob(cmd.Context(), c, id, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print how it stands then as JSON")
	return c
}

// waitJob waits until a job needs a person or is over, and tells which.
func (e *env) waitJob(ctx context.Context, c control.Control, id event.FlowID, asJSON bool) error {
	j, err := e.settledJob(ctx, c, id)
	if err != nil {
		return err
	}
	if asJSON {
		if err := printJSON(e.Out, j); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(e.Out, jobLine(j))
	}
	return jobOutcome(j)
}

// jobOutcome is the exit code of a job as it stands.
func jobOutcome(j view.Job) error {
	switch j.State {
	case view.JobFailed:
		return outcome{exitFailed}
	case view.JobCancelled:
		return outcome{exitCancelled}
	case view.JobReview, view.JobTrouble:
		return outcome{exitRefused} // a person is needed
	}
	return nil
}

// settledJob waits until a person or nobody is needed.
func (e *env) settledJob(ctx context.Context, c control.Control, id event.FlowID) (view.Job, error) {
	return e.untilJob(ctx, c, id, func(j view.Job) bool { return len(j.Heard) == 0 && (j.State.Frozen() || j.State.Over()) })
}

// untilJob follows a job until it stands as wanted. If its driver is gone another
// is called, as long as each brings it further.
func (e *env) untilJob(ctx context.Context, c control.Control, id event.FlowID, wanted func(view.Job) bool) (view.Job, error) {
	var stuck uint64 // how far it had come when a driver was called last, if one was
	for {
		s, err := c.Open(ctx, id)
		switch {
		case err != nil:
			return view.Job{}, err
		case s.Job == nil:
			return view.Job{}, control.Usagef("%s is not a job", id)
		case wanted(*s.Job):
			return *s.Job, nil
		}
		if _, driven, err := c.Driver(ctx, id); err == nil && !driven {
			far, err := progress(ctx, c, id)
			if err != nil {
				return *s.Job, err
			}
			if stuck == far {
				return *s.Job, doesNotGoOn(c, id)
			}
			stuck = far
		}
		if err := c.Wake(ctx, id); err != nil {
			return *s.Job, err
		}
		e.followJob(ctx, c, id, s, wanted)
		if ctx.Err() != nil {
			return *s.Job, ctx.Err()
		}
	}
}

// progress is the number of the newest event that says more than that somebody
// has taken the flow up.
func progress(ctx context.Context, c control.Control, id event.FlowID) (far uint64, err error) {
	for ev, err := range c.Read(ctx, id) {
		if err != nil {
			return far, err
		}
		if _, taken := ev.Body.(event.Resumed); !taken {
			far = ev.Seq
		}
	}
	return far, nil
}

// doesNotGoOn says why nobody brings a job further.
func doesNotGoOn(c control.Control, id event.FlowID) error {
	if said := view.Clean(c.LastWords(id)); said != "" {
		return fmt.Errorf("%s does not go on: %s", id, said)
	}
	return fmt.Errorf("%s does not go on, and whoever was to drive it has ended; see why with: conclave resume %[1]s", id)
}

// followJob returns when the job stands as wanted or nobody drives it.
func (e *env) followJob(ctx context.Context, c control.Control, id event.FlowID, s view.Snapshot, wanted func(view.Job) bool) {
	ctx, done := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer done()
	wg.Go(func() {
		defer done()
		whileDriven(ctx, c, id, func(live.Delta) {})
	})
	for ev, err := range c.Follow(ctx, id, s.Seq+1) {
		if err != nil {
			return
		}
		if s = s.Apply(ev); wanted(*s.Job) {
			return
		}
	}
}

// jobLine says in one line or two how a job stands and what can be done.
func jobLine(j view.Job) string {
	why := ""
	if j.Why != "" {
		why = ": " + view.OneLine(j.Why)
	}
	switch j.State {
	case view.JobReview:
		return fmt.Sprintf("%s waits for you to look at its plan%s\nLook at it with: conclave job review %[1]s", j.ID, why)
	case view.JobTrouble:
		return fmt.Sprintf("%s cannot go on by itself%s\nLook at it with: conclave job review %[1]s", j.ID, why)
	case view.JobCompleted:
		if j.Ended != nil && j.Ended.Summary != "" {
			why = ": " + view.OneLine(j.Ended.Summary)
		}
		return fmt.Sprintf("%s is complete%s\nSee it with: conclave job show %[1]s", j.ID, why)
	}
	return fmt.Sprintf("%s is %s%s", j.ID, j.State, why)
}

// resumeJob drives a job here until it needs a person or is over.
func (e *env) resumeJob(ctx context.Context, c control.Control, id event.FlowID, s show, takeOver bool) error {
	e.say(s, "Going on with %s\n", id)
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := c.Settle(ctx, id, takeOver)
	if err != nil && ctx.Err() != nil {
		e.say(s, "%s is left as it is; go on with: conclave resume %[1]s\n", id)
		return outcome{exitCancelled}
	}
	if err != nil {
		return err
	}
	now, err := c.Open(ctx, id)
	if err != nil {
		return err
	}
	if s.json {
		if err := printJSON(e.Out, now.Job); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(e.Out, jobLine(*now.Job))
	}
	return jobOutcome(*now.Job)
}
