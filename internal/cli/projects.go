package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/project"
	"conclave/internal/view"
)

func newProjects(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "projects",
		Short: "List the projects of sessions; show one and what was made in it",
		Example: `  conclave projects
  conclave projects show my-app
  conclave projects cat my-app report.md --version 2`,
		Args: args(0, 0, "no arguments; to see one project: conclave projects show NAME"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return e.with(func(c control.Control) error { return e.listProjects(cmd.Context(), c, asJSON) })
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print each project as a line of JSON")
	c.AddCommand(newProjectsShow(e), newProjectsCat(e))
	return c
}

func (e *env) listProjects(ctx context.Context, c control.Control, asJSON bool) error {
	all, err := c.Projects(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		for _, p := range all {
			if err := printJSON(e.Out, p); err != nil {
				return err
			}
		}
		return nil
	}
	if len(all) == 0 {
		fmt.Fprintln(e.Err, "there are no projects here yet; the agent of a session creates them")
		return nil
	}
	rows := [][]string{{"PROJECT", "CHANGED", "RUNS", "DELIVERABLES", "GOAL"}}
	for _, p := range all {
		about := view.Shorten(p.Goal(), longestTask)
		if len(p.Problems) > 0 {
			about = "has a problem: " + view.OneLine(p.Problems[0])
		}
		changed := ""
		if !p.Changed.IsZero() {
			changed = p.Changed.Local().Format("Jan _2 15:04")
		}
		rows = append(rows, []string{p.Name, changed, fmt.Sprint(len(p.Runs)), fmt.Sprint(len(p.Deliverables)), about})
	}
	width := 0
	if e.OutTerminal {
		width, _ = e.Size()
	}
	table(e.Out, rows, width)
	return nil
}

// projectNames completes the names of projects, as the first argument.
func (e *env) projectNames(cmd *cobra.Command, a []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var out []cobra.Completion
	_ = e.with(func(c control.Control) error {
		if len(a) == 1 && cmd.Name() == "cat" {
			p, err := c.Project(cmd.Context(), a[0])
			for _, d := range p.Deliverables {
				out = append(out, d.Path)
			}
			return err
		}
		if len(a) > 0 {
			return nil
		}
		all, err := c.Projects(cmd.Context())
		for _, p := range all {
			out = append(out, cobra.CompletionWithDesc(p.Name, view.Shorten(p.Goal(), 50)))
		}
		return err
	})
	return out, cobra.ShellCompDirectiveNoFileComp
}

func newProjectsShow(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:               "show NAME",
		Short:             "Show a project: its context, paths, runs and deliverables",
		Example:           "  conclave projects show my-app",
		Args:              args(1, 1, "the name of a project"),
		ValidArgsFunction: e.projectNames,
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.with(func(c control.Control) error {
				p, err := c.Project(cmd.Context(), a[0])
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(e.Out, p)
				}
				e.showProject(p)
				return nil
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print it as JSON, with every version")
	return c
}

func (e *env) showProject(p project.Project) {
	b := paint(e.Color && e.OutTerminal)
	fmt.Fprintf(e.Out, "%s\n%s\n", b.bold(p.Name), view.OneLine(p.Dir))
	for _, problem := range p.Problems {
		fmt.Fprintf(e.Out, "\nProblem: %s\n", view.OneLine(problem))
	}
	if text := strings.TrimSpace(p.Context); text != "" {
		fmt.Fprintf(e.Out, "\n%s\n", view.Clean(text))
	}
	if len(p.Paths) > 0 {
		fmt.Fprintf(e.Out, "\n%s\n", b.bold("Paths"))
		for _, name := range slices.Sorted(maps.Keys(p.Paths)) {
			at := p.Paths[name]
			fmt.Fprintf(e.Out, "  %s  %s%s\n", view.OneLine(name), view.OneLine(at.Path), after("  ", view.OneLine(at.Desc)))
		}
	}
	if len(p.Deliverables) > 0 {
		fmt.Fprintf(e.Out, "\n%s, in %s\n", b.bold("Deliverables"), view.OneLine(filepath.Join(p.Dir, "deliverables")))
	}
	for _, d := range p.Deliverables {
		e.showDeliverable(d)
	}
	if len(p.Runs) > 0 {
		fmt.Fprintf(e.Out, "\n%s\n", b.bold("Runs"))
	}
	for _, r := range p.Runs {
		fmt.Fprintf(e.Out, "  %s  %s  %s%s\n", view.OneLine(string(r.ID)), r.At.Local().Format("Jan _2 15:04"), view.OneLine(string(r.Status)), after("  ", view.Shorten(r.Description, longestTask)))
		for _, what := range slices.Sorted(maps.Keys(r.Paths)) {
			fmt.Fprintf(e.Out, "    %s: %s\n", view.OneLine(what), view.OneLine(r.Paths[what]))
		}
	}
}

func (e *env) showDeliverable(d project.Deliverable) {
	state := ""
	switch {
	case d.Missing:
		state = ", removed by hand"
	case d.Edited:
		state = ", edited by hand since its newest version"
	}
	fmt.Fprintf(e.Out, "  %s  %d bytes%s\n", view.OneLine(d.Path), d.Size, state)
	for _, v := range d.Versions {
		fmt.Fprintf(e.Out, "    version %d  %s  %.12s  %s%s\n", v.N, v.At.Local().Format("Jan _2 15:04"), v.Hash,
			view.OneLine(cmp.Or(string(v.Run), v.By, "by hand")), after("  ", view.OneLine(v.Note)))
	}
}

// after is s with something before it, if there is any of it.
func after(before, s string) string {
	if s == "" {
		return ""
	}
	return before + s
}

func newProjectsCat(e *env) *cobra.Command {
	var asJSON bool
	var version int
	c := &cobra.Command{
		Use:               "cat NAME PATH",
		Short:             "Print a deliverable as it is, or one of its versions",
		Example:           "  conclave projects cat my-app report.md\n  conclave projects cat my-app report.md --version 2 > old.md",
		Args:              args(2, 2, "the name of a project and the path of a deliverable"),
		ValidArgsFunction: e.projectNames,
		RunE: func(cmd *cobra.Command, a []string) error {
			if cmd.Flags().Changed("version") && version < 1 {
				return control.Usagef("--version %d: versions are counted from 1", version)
			}
			return e.with(func(c control.Control) error {
				p, err := c.Deliverable(cmd.Context(), a[0], a[1], version)
				if err != nil {
					return err
				}
				return e.catDeliverable(a[0], a[1], version, p, asJSON)
			})
		},
	}
	c.Flags().IntVar(&version, "version", 0, "this version, instead of the file as it is")
	c.Flags().BoolVar(&asJSON, "json", false, "print it as JSON: text, or what is no text as base64")
	return c
}

// catDeliverable prints a deliverable. A terminal gets nothing that it would act on.
func (e *env) catDeliverable(name, path string, version int, p []byte, asJSON bool) error {
	switch {
	case asJSON:
		out := struct {
			Project string `json:"project"`
			Path    string `json:"path"`
			Version int    `json:"version,omitempty"`
			Text    string `json:"text,omitempty"`
			Base64  []byte `json:"base64,omitempty"`
		}{Project: name, Path: path, Version: version}
		if utf8.Valid(p) {
			out.Text = string(p)
		} else {
			out.Base64 = p
		}
		return printJSON(e.Out, out)
	case e.OutTerminal && !utf8.Valid(p):
		return control.Usagef("%s is not text; send it to a file: conclave projects cat %s %[1]s > FILE", path, name)
	case e.OutTerminal:
		p = []byte(view.Clean(string(p)))
	}
	_, err := e.Out.Write(p)
	return err
}
