package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/event"
)

func newResume(e *env) *cobra.Command {
	var s show
	var background, takeOver bool
	c := &cobra.Command{
		Use:   "resume [flags] [ID]",
		Short: "Go on with a run that was cut off or left",
		Long: `Resume goes on where a run's log ends. Turns that were cut off are taken again;
nothing that was recorded is lost or done twice. Without an ID it takes the
newest run that is not finished.

A run that another process drives is not resumed: follow it with
"conclave log --follow ID". If that process hangs, --take-over makes this one the
driver, and whatever the other still tries to record is refused.`,
		Example: `  conclave resume
  conclave resume k3f9
  conclave resume --background run-20261115-084210-k3f9`,
		Args:              args(0, 1, "at most one run"),
		ValidArgsFunction: e.runIDs(func(f control.Flow) bool { return !f.Finished }),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.with(func(c control.Control) error {
				ctx := cmd.Context()
				id, err := unfinished(ctx, c, a)
				if err != nil {
					return err
				}
				if background {
					return e.background(ctx, c, id, s)
				}
				if err := s.check(); err != nil {
					return err
				}
				w := newWatch(e, c, id, s)
				if err := w.fresh(ctx, takeOver); err != nil {
					return err
				}
				return w.run(ctx, func(ctx context.Context) error { return c.Resume(ctx, id, takeOver) })
			})
		},
	}
	f := c.Flags()
	f.BoolVar(&background, "background", false, "go on in a background process")
	f.BoolVar(&takeOver, "take-over", false, "become the driver although another process is")
	s.flags(f)
	return c
}

// unfinished finds the run to resume.
func unfinished(ctx context.Context, c control.Control, a []string) (event.FlowID, error) {
	if len(a) == 1 {
		return c.Find(ctx, a[0])
	}
	flows, err := c.Flows(ctx)
	if err != nil {
		return "", err
	}
	driven := false
	for _, f := range flows {
		if !f.Finished && f.Driver == nil {
			return f.ID, nil
		}
		driven = driven || f.Driver != nil
	}
	switch {
	case len(flows) == 0:
		return c.Find(ctx, "")
	case driven:
		return "", control.Usagef("the runs that are not finished are being driven; see: conclave runs")
	}
	return "", control.Usagef("every run here is finished; see: conclave runs")
}

// fresh refuses what cannot be resumed before anything is shown.
func (w *watch) fresh(ctx context.Context, takeOver bool) error {
	flows, err := w.c.Flows(ctx)
	if err != nil {
		return err
	}
	for _, f := range flows {
		if f.ID != w.id {
			continue
		}
		if f.Finished {
			return control.Usagef("%s is finished (%s); see it with: conclave runs show %s", f.ID, f.Status, f.ID)
		}
		if f.Driver != nil && !takeOver {
			return control.Usagef("%s is being driven by process %d; follow it with: conclave log --follow %s\nIf that process hangs: conclave resume --take-over %s", f.ID, f.Driver.PID, f.ID, f.ID)
		}
		w.offline = f.Offline
	}
	return nil
}

func (e *env) background(ctx context.Context, c control.Control, id event.FlowID, s show) error {
	w := newWatch(e, c, id, s)
	if err := w.fresh(ctx, false); err != nil {
		return err
	}
	pid, err := c.Background(ctx, id, nil)
	if err != nil {
		return err
	}
	fmt.Fprintln(e.Out, id)
	e.say(s, "Goes on in the background, process %d.\n  follow:  conclave log --follow %s\n  cancel:  conclave runs cancel %s\n", pid, id, id)
	return nil
}
