package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"conclave/internal/config"
	"conclave/internal/control"
)

// args limits how many arguments a command takes; the error says what it takes.
func args(low, high int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, a []string) error {
		if slices.Contains(a, "") {
			return control.Usagef("an argument is empty; %s takes %s\nSee: %[1]s --help", c.CommandPath(), what)
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
	var near []string
	word := strings.ToLower(a[0])
	for _, sub := range c.Commands() {
		name := sub.Name()
		if !sub.IsAvailableCommand() {
			continue
		}
		if config.Slips(word, name) <= max(1, len(word)/3) || len(word) > 1 && strings.HasPrefix(name, word) {
			near = append(near, name)
		}
	}
	return orMeant(near)
}

// wrongFlag explains a flag that cannot be parsed: which there is, and what its
// value has to be.
func wrongFlag(c *cobra.Command, err error) error {
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return control.Usagef("--%s %s: %s\nSee: %s --help", bad.GetFlag().Name, bad.GetValue(), expected(bad), c.CommandPath())
	}
	hint := ""
	if no, ok := errors.AsType[*pflag.NotExistError](err); ok {
		hint = nearestFlag(c, no.GetSpecifiedName())
	}
	return control.Usagef("%w%s\nSee: %s --help", err, hint, c.CommandPath())
}

// expected is what a flag takes, and what was probably meant.
func expected(bad *pflag.InvalidValueError) string {
	value := strings.TrimSpace(bad.GetValue())
	switch bad.GetFlag().Value.Type() {
	case "int", "int64", "uint64":
		return "write a whole number such as 200000" + orMeant(plainNumber(value))
	case "duration":
		if _, err := strconv.ParseFloat(value, 64); err == nil {
			return fmt.Sprintf("write a time with its unit such as 90s, 10m or 1h; did you mean %ss or %sm?", value, value)
		}
		return "write a time with its unit such as 90s, 10m or 1h"
	case "bool":
		return "write true or false"
	}
	return errors.Unwrap(bad).Error()
}

// plainNumber is a number that somebody wrote for people: 200k, 1.5M, 200,000.
func plainNumber(s string) []string {
	s = strings.ToLower(strings.NewReplacer(",", "", "_", "", " ", "").Replace(s))
	times := 1.0
	for unit, n := range map[string]float64{"k": 1e3, "m": 1e6} {
		if rest, ok := strings.CutSuffix(s, unit); ok {
			s, times = rest, n
		}
	}
	n, err := strconv.ParseFloat(s, 64)
	if n *= times; err != nil || n < 0 || n > 1e15 || n != math.Trunc(n) {
		return nil
	}
	return []string{strconv.FormatInt(int64(n), 10)}
}

// nearestFlag offers the one flag that is likely meant.
func nearestFlag(c *cobra.Command, name string) string {
	best, distance := "", 3
	c.Flags().VisitAll(func(f *pflag.Flag) {
		d := config.Slips(name, f.Name)
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
