package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"conclave/internal/control"
)

func newTrust(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "trust",
		Short: "Say that you know the project's configuration",
		Long: `Trust says that you have looked at the .conclave/config.yaml of this project
and at its descriptions of teams in .conclave/teams, and that they may do what
they say: start programs, send keys to the addresses they name, run commands
outside a sandbox. It holds until a file changes. The runs in the project's log
may be resumed then, too, if the log did not come into being here. A file you
name on the command line needs no trust.`,
		Args: args(0, 0, "nothing"),
		RunE: func(*cobra.Command, []string) error {
			return e.with(func(c control.Control) error {
				file, risks, err := c.Trust()
				if err != nil {
					return err
				}
				fmt.Fprintf(e.Out, "%s is trusted as it is now.\n", file)
				for _, r := range risks {
					fmt.Fprintf(e.Out, "  - it will %s\n", r)
				}
				return nil
			})
		},
	}
}
