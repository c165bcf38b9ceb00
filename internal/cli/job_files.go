package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"conclave/internal/control"
	"conclave/internal/view"
)

func newJobFiles(e *env) *cobra.Command {
	var at string
	var asJSON bool
	c := &cobra.Command{
		Use:   "files ID [PATH]",
		Short: "List the files of a job, or print one",
		Example: `  conclave job files k3f9
  conclave job files k3f9 output/report.md
  conclave job files k3f9 plan.md --at phase-1`,
		Args:              args(1, 2, "one job and at most one of its files"),
		ValidArgsFunction: e.jobIDs(),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.with(func(c control.Control) error {
				ctx := cmd.Context()
				_, j, err := findJob(ctx, c, a[0])
				switch {
				case err != nil:
					return err
				case j.Commit == "":
					return control.Usagef("%s has no files yet", j.ID)
				case len(a) == 2:
					return e.catJobFile(ctx, c, j, a[1], at)
				}
				return e.listJobFiles(ctx, c, j, at, asJSON)
			})
		},
	}
	c.Flags().StringVar(&at, "at", "", "as it was at this `commit`, or at the end of a phase (phase-1)")
	c.Flags().BoolVar(&asJSON, "json", false, "print each file as a line of JSON")
	return c
}

func (e *env) listJobFiles(ctx context.Context, c control.Control, j view.Job, at string, asJSON bool) error {
	files, err := c.JobFiles(ctx, j.ID, at)
	if err != nil {
		return err
	}
	for _, f := range files {
		if asJSON {
			if err := printJSON(e.Out, f); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(e.Out, "%10d  %s\n", f.Size, view.OneLine(f.Path))
	}
	return nil
}

// catJobFile prints a file: as it is for a program, and without what a terminal
// would act on for a person.
func (e *env) catJobFile(ctx context.Context, c control.Control, j view.Job, path, at string) error {
	_, text, err := c.JobFile(ctx, j.ID, path, at)
	if err != nil {
		return err
	}
	if e.OutTerminal {
		text = []byte(view.Clean(string(text)))
	}
	_, err = e.Out.Write(text)
	return err
}

func newJobDiff(e *env) *cobra.Command {
	var from, to string
	var form diffForm
	c := &cobra.Command{
		Use:   "diff ID [PATH]",
		Short: "Show what changed in the files of a job",
		Long: `Diff shows what changed between two commits: unless --from says otherwise, since
the round of review before, or else with the newest commit. Where it does not go
to a terminal, or with --patch, it is one that git apply takes.`,
		Example: `  conclave job diff k3f9
  conclave job diff k3f9 plan.md --from phase-1 --to phase-3`,
		Args:              args(1, 2, "one job and at most one of its files"),
		ValidArgsFunction: e.jobIDs(),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.with(func(c control.Control) error {
				ctx := cmd.Context()
				_, j, err := findJob(ctx, c, a[0])
				if err != nil {
					return err
				}
				if n := len(j.Rounds); from == "" && to == "" && n > 0 {
					from = j.Rounds[n-1].Since
				}
				path := ""
				if len(a) == 2 {
					path = a[1]
				}
				return form.show(e,
					func() ([]control.FileDiff, error) { return c.JobDiff(ctx, j.ID, from, to, path) },
					func() ([]byte, error) { return c.JobPatch(ctx, j.ID, from, to, path) })
			})
		},
	}
	c.Flags().StringVar(&from, "from", "", "the `commit` to begin with, or the end of a phase (phase-1)")
	c.Flags().StringVar(&to, "to", "", "the `commit` to end with; the newest if left out")
	form.flags(c.Flags())
	return c
}

// diffForm is the form a difference is printed in: for people on a terminal, else
// one that git apply takes.
type diffForm struct{ patch, json bool }

func (f *diffForm) flags(set *pflag.FlagSet) {
	set.BoolVar(&f.patch, "patch", false, "print it for git apply, on a terminal too")
	set.BoolVar(&f.json, "json", false, "print it as JSON")
}

func (f *diffForm) show(e *env, read func() ([]control.FileDiff, error), patch func() ([]byte, error)) error {
	if f.patch && f.json {
		return control.Usagef("give --patch or --json, not both")
	}
	if f.patch || !f.json && !e.OutTerminal {
		text, err := patch()
		if err == nil {
			_, err = e.Out.Write(text)
		}
		return err
	}
	diff, err := read()
	switch {
	case err != nil:
		return err
	case f.json:
		return printJSON(e.Out, diff)
	}
	showDiff(e.Out, diff, paint(e.Color))
	return nil
}

// diffText is a line as it stands in a file, how far it is indented included, but
// for what a terminal would act on.
func diffText(line string) string {
	return strings.TrimRight(strings.ReplaceAll(view.Clean(line), "\n", " "), " ")
}

// showDiff prints how files changed.
func showDiff(w io.Writer, all []control.FileDiff, p paint) {
	for _, f := range all {
		fmt.Fprintf(w, "  %s %s\n", f.Kind, view.OneLine(f.Path))
		for _, h := range f.Hunks {
			fmt.Fprintf(w, "  @@ line %d, before line %d @@\n", h.New, h.Old)
			for _, l := range h.Lines {
				line := "  " + l.Op + diffText(l.Text)
				switch l.Op {
				case "+":
					line = p.green(line)
				case "-":
					line = p.red(line)
				}
				fmt.Fprintln(w, line)
			}
		}
		switch {
		case f.Binary:
			fmt.Fprintln(w, "  (not text)")
		case f.More:
			fmt.Fprintln(w, "  (there is more)")
		}
	}
}
