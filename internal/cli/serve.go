package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"conclave/internal/control"
)

// Web is the cockpit's server. The program gives it to the command line: surfaces
// know nothing of one another. It serves until ctx ends.
type Web func(ctx context.Context, c control.Control, o WebOptions) error

// WebOptions are what the cockpit is started with.
type WebOptions struct {
	// Listen is the address to listen on; with port 0 it is the last one that was
	// listened on here, if that is free.
	Listen string
	Config string
	// Open has the person's browser show the pages.
	Open bool
	// Out is where the address goes; Say tells the person anything else.
	Out io.Writer
	Say func(string)
}

func newServe(e *env) *cobra.Command {
	var o WebOptions
	c := &cobra.Command{
		Use:   "serve",
		Short: "Open the cockpit in a browser",
		Long: `Serve is the cockpit: pages that show what needs you, what is at work and what is
done, where plans of jobs are reviewed, conversations are held and runs are
watched. It prints an address with a token; whoever has it can do what you can,
so it listens on this machine only.

Jobs and conversations that were cut off go on when it starts. They are driven by
processes of their own: ending the cockpit ends nothing else.`,
		Example: "  conclave serve --open\n  conclave serve --listen 127.0.0.1:8080",
		Args:    args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Out = e.Out
			o.Say = func(s string) { fmt.Fprintln(e.Err, s) }
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			return e.with(func(c control.Control) error { return e.web(ctx, c, o) })
		},
	}
	f := c.Flags()
	f.StringVar(&o.Listen, "listen", "127.0.0.1:0", "listen on this `address` of this machine; port 0 is any, the last one if it is free")
	f.BoolVar(&o.Open, "open", false, "open the browser")
	f.StringVar(&o.Config, "config", "", "the agents and their rules, a YAML `file`")
	return c
}
