package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/event"
)

func newLog(e *env) *cobra.Command {
	var follow, asJSON, tokens bool
	c := &cobra.Command{
		Use:   "log [flags] [ID]",
		Short: "Show what happened in a run, or watch it happen",
		Long: `Log prints what happened in a run, one line for each thing; without an ID that
of the newest run. With --json it prints every event with all its texts: the
whole record of the run.

With --follow it goes on until the run is over, wherever the run is driven. It
never drives the run itself. On a terminal, what the agents are saying is shown
as they say it; elsewhere --live adds it.`,
		Example: `  conclave log
  conclave log --follow k3f9
  conclave log --json k3f9 > run.ndjson
  conclave log check`,
		Args:              args(0, 1, "at most one run"),
		ValidArgsFunction: e.runIDs(nil),
		RunE: func(cmd *cobra.Command, a []string) error {
			if tokens && !follow {
				return control.Usagef("--live goes with --follow: what has been said is in the log")
			}
			return e.with(func(c control.Control) error {
				ctx := cmd.Context()
				id, err := c.Find(ctx, strings.Join(a, ""))
				if err != nil {
					return err
				}
				if follow {
					return e.followLog(ctx, c, id, show{json: asJSON, everything: true, tokens: tokens})
				}
				return e.printLog(ctx, c, id, asJSON)
			})
		},
	}
	f := c.Flags()
	f.BoolVarP(&follow, "follow", "f", false, "go on until the run is over")
	f.BoolVar(&asJSON, "json", false, "print every event as a line of JSON")
	f.BoolVar(&tokens, "live", false, "with --follow: also what is being said right now")
	c.AddCommand(newLogCheck(e))
	return c
}

func (e *env) printLog(ctx context.Context, c control.Control, id event.FlowID, asJSON bool) error {
	lines := &plain{out: e.Out, feed: newFeed(ctx, c, true), said: speeches{}}
	for ev, err := range c.Read(ctx, id) {
		if err != nil {
			return err
		}
		if !asJSON {
			lines.event(ev)
		} else if err := printEvent(ctx, c, e.Out, ev); err != nil {
			return err
		}
		if e.out.err != nil {
			return e.out.err
		}
	}
	lines.close()
	return nil
}

// followLog watches a run without driving it.
func (e *env) followLog(ctx context.Context, c control.Control, id event.FlowID, s show) error {
	w := newWatch(e, c, id, s)
	w.following = true
	return w.run(ctx, nil)
}

func newLogCheck(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "check [ID]",
		Short: "Prove a log, or all of them, against what must hold",
		Long: `Check replays a run's log and compares every decision in it with what the events
before it lead to, and checks everything that must hold of any run. Without an
ID it checks all runs and the storage under them: checksums, gaps, blobs.`,
		Example:           "  conclave log check\n  conclave log check k3f9",
		Args:              args(0, 1, "at most one run"),
		ValidArgsFunction: e.runIDs(nil),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.with(func(c control.Control) error { return e.checkLog(cmd.Context(), c, a) })
		},
	}
}

func (e *env) checkLog(ctx context.Context, c control.Control, a []string) error {
	var id event.FlowID
	what := "all runs and the storage under them"
	if len(a) == 1 {
		var err error
		if id, err = c.Find(ctx, a[0]); err != nil {
			return err
		}
		what = string(id)
	}
	found, err := c.Check(ctx, id)
	if err != nil {
		return err
	}
	for _, f := range found {
		if f.Flow != "" {
			fmt.Fprintf(e.Out, "%s: ", f.Flow)
		}
		fmt.Fprintln(e.Out, f.What)
	}
	if len(found) > 0 {
		return fmt.Errorf("%s in %s", plural(len(found), "problem"), what)
	}
	fmt.Fprintf(e.Out, "sound: %s\n", what)
	return nil
}
