package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"conclave/internal/control"
)

// args limits how many arguments a command takes; the error says what it takes.
func args(low, high int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, a []string) error {
		if slices.Contains(a, "") {
			return control.Usagef("an empty argument names no run\nSee: %s --help", c.CommandPath())
		}
		if len(a) < low || len(a) > high {
			return control.Usagef("%s takes %s%s\nSee: %s --help", c.CommandPath(), what, meant(c, a), c.CommandPath())
		}
		return nil
	}
}

// noCommand is for the root, whose arguments are commands it does not know.
func noCommand(c *cobra.Command, a []string) error {
	if len(a) == 0 {
		return nil
	}
	hint := meant(c, a)
	if hint == "" {
		hint = fmt.Sprintf("; to have a task worked on: %s run \"your task\"", c.CommandPath())
	}
	return control.Usagef("there is no command %q%s\nSee: %s --help", a[0], hint, c.CommandPath())
}

// meant offers the commands that look like the first argument.
func meant(c *cobra.Command, a []string) string {
	if len(a) == 0 {
		return ""
	}
	c.SuggestionsMinimumDistance = 2
	near := c.SuggestionsFor(a[0])
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}

// wrongFlag explains a flag that cannot be parsed.
func wrongFlag(c *cobra.Command, err error) error {
	hint := ""
	if no, ok := errors.AsType[*pflag.NotExistError](err); ok {
		hint = nearestFlag(c, no.GetSpecifiedName())
	}
	return control.Usagef("%w%s\nSee: %s --help", err, hint, c.CommandPath())
}

// nearestFlag offers the one flag that is likely meant.
func nearestFlag(c *cobra.Command, name string) string {
	best, distance := "", 3
	c.Flags().VisitAll(func(f *pflag.Flag) {
		d := levenshtein.ComputeDistance(f.Name, name)
		if len(name) > 2 && strings.HasPrefix(f.Name, name) {
			d = 1
		}
		if d < distance && d < len(name) {
			best, distance = f.Name, d
		}
	})
	if best == "" {
		return ""
	}
	return "; did you mean --" + best + "?"
}
