package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/view"
)

func newDoctor(e *env) *cobra.Command {
	var q control.Checkup
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "See whether everything runs need is there",
		Long: `Doctor looks at what runs need: the configuration, keys, providers, servers on
this machine, programs, sandboxes, the log, what killed runs left behind, the
disk and permissions. Each line says how it stands and what helps.

A provider is asked for its list of models, which costs nothing. Keys are never
shown. Nothing is changed without --fix.

Exit codes: 0 no problem, 1 some run would fail.`,
		Example: `  conclave doctor
  conclave doctor --offline --json
  conclave doctor --fix`,
		Args: args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return e.with(func(c control.Control) error { return e.examine(c.Doctor(cmd.Context(), q), asJSON) })
		},
	}
	f := c.Flags()
	f.BoolVar(&asJSON, "json", false, "print what was found as JSON")
	f.BoolVar(&q.Offline, "offline", false, "ask no provider")
	f.BoolVar(&q.Fix, "fix", false, "end the processes and remove the containers and folders that killed runs left")
	f.StringVar(&q.Config, "config", "", "look at this configuration, a YAML `file`")
	return c
}

// findings is everything that was found, with what it comes to.
type findings struct {
	Problems int              `json:"problems"`
	Warnings int              `json:"warnings"`
	Checks   []control.Health `json:"checks"`
}

// examine shows what was found and returns what it comes to.
func (e *env) examine(all []control.Health, asJSON bool) error {
	r := findings{Checks: all}
	for _, h := range all {
		switch h.State {
		case control.Trouble:
			r.Problems++
		case control.Warning:
			r.Warnings++
		}
	}
	if asJSON {
		if err := printJSON(e.Out, r); err != nil {
			return err
		}
	} else {
		r.print(e.Out, paint(e.Color && e.OutTerminal), e.width(e.OutTerminal))
	}
	if r.Problems > 0 {
		return outcome{exitUsage}
	}
	return nil
}

func (r findings) print(w io.Writer, p paint, columns int) {
	colours := map[control.Verdict]func(string) string{control.Well: p.green, control.Warning: p.yellow, control.Trouble: p.red}
	wide := 0
	for _, h := range r.Checks {
		wide = max(wide, len(h.Area))
	}
	margin := 7 + 2 + wide + 2
	for _, h := range r.Checks {
		state := fmt.Sprintf("%-7s", h.State)
		fmt.Fprintf(w, "%s  %-*s  %s\n", colours[h.State](state), wide, h.Area, hung(view.OneLine(h.What), margin, columns))
		if h.Do != "" {
			fmt.Fprintf(w, "%s→ %s\n", strings.Repeat(" ", margin), hung(view.OneLine(h.Do), margin+2, columns))
		}
	}
	fmt.Fprintf(w, "%s, %s.\n", count(r.Problems, "problem"), count(r.Warnings, "warning"))
}
