package cli

import (
	"encoding/json"
	"fmt"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/event"
)

// newDrive is what a background process runs: it drives a flow and shows
// nothing. It goes when a run is over, or a session waits for its person. Told
// to end, it leaves the flow to be resumed.
func newDrive(e *env) *cobra.Command {
	var fresh bool
	c := &cobra.Command{
		Use:    "drive ID",
		Short:  "Drive a run without showing it",
		Hidden: true,
		Args:   args(1, 1, "one run"),
		RunE: func(cmd *cobra.Command, a []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
			defer stop()
			return e.with(func(c control.Control) error {
				var err error
				if fresh {
					var run control.Run
					if err := json.NewDecoder(e.In).Decode(&run); err != nil {
						return control.Usagef("drive: the run on standard input cannot be read: %w", err)
					}
					err = c.Start(ctx, run)
				} else {
					err = c.Settle(ctx, event.FlowID(a[0]), false)
				}
				if err != nil && ctx.Err() != nil {
					fmt.Fprintf(e.Err, "%s is left as it is, to be resumed\n", a[0])
					return outcome{exitCancelled}
				}
				return err
			})
		},
	}
	c.Flags().BoolVar(&fresh, "new", false, "start the run given on standard input")
	return c
}
