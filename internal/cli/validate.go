package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"conclave/internal/config"
	"conclave/internal/control"
)

func newValidate(e *env) *cobra.Command {
	var asJSON, strict bool
	c := &cobra.Command{
		Use:   "validate [flags] [FILE…]",
		Short: "Check configurations and descriptions of teams",
		Long: `Validate reads configurations, and descriptions of teams, and says everything
that is wrong or doubtful with them: where it is, what is there, and what was
probably meant. Nothing is run and no model is asked. Without FILE it reads the
project's configuration and your own for all projects.

Exit codes: 0 all are valid, 1 one is not.`,
		Example: `  conclave validate team.yaml
  conclave validate --strict --json *.yaml`,
		RunE: func(_ *cobra.Command, files []string) error {
			if len(files) == 0 {
				files = configured(e.dir)
			}
			if len(files) == 0 {
				return control.Usagef("there is no configuration here; name a file, or write one with: conclave init")
			}
			r := report{Valid: true}
			for _, f := range files {
				v := judged(f, strict)
				r.Files = append(r.Files, v)
				r.Valid = r.Valid && v.Valid
			}
			if asJSON {
				if err := printJSON(e.Out, r); err != nil {
					return err
				}
			} else {
				r.print(e.Out)
			}
			if !r.Valid {
				return outcome{exitUsage}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print what was found as JSON")
	c.Flags().BoolVar(&strict, "strict", false, "take warnings for errors")
	return c
}

// configured are the configurations that a run here would read.
func configured(dir string) []string {
	var out []string
	if f, ok := config.UserFile(); ok {
		out = append(out, f)
	}
	if f, ok := config.ProjectFile(dir); ok {
		out = append(out, f)
	}
	return out
}

// A report is what validate found.
type report struct {
	Valid bool      `json:"valid"`
	Files []verdict `json:"files"`
}

type verdict struct {
	File     string  `json:"file"`
	Valid    bool    `json:"valid"`
	Errors   []found `json:"errors"`
	Warnings []found `json:"warnings"`
	Notes    []found `json:"notes"`
}

type found struct {
	Message    string `json:"message"`
	Line       int    `json:"line,omitempty"`
	Column     int    `json:"column,omitempty"`
	Path       string `json:"path,omitempty"`
	Excerpt    string `json:"excerpt,omitempty"`
	Suggestion string `json:"suggestion,omitempty"`
}

// judged reads one file. A user's own for all projects need not name agents.
func judged(file string, strict bool) verdict {
	v := verdict{File: file, Errors: []found{}, Warnings: []found{}, Notes: []found{}}
	problems, err := read(file)
	if broken, ok := errors.AsType[*config.Error](err); ok {
		problems = broken.Problems
	} else if err != nil {
		v.Errors = append(v.Errors, found{Message: err.Error()})
	}
	for _, p := range problems {
		x := found{p.Message, p.Line, p.Column, p.Key, p.Excerpt, p.Suggestion}
		switch {
		case p.Note:
			v.Notes = append(v.Notes, x)
		case p.Warning && !strict:
			v.Warnings = append(v.Warnings, x)
		default:
			v.Errors = append(v.Errors, x)
		}
	}
	v.Valid = len(v.Errors) == 0
	return v
}

// read reads a file for what it is: a configuration, or the description of a team.
func read(file string) ([]config.Problem, error) {
	if config.DescribesTeam(file) {
		t, err := config.LoadTeam(file)
		if err != nil {
			return nil, err
		}
		return append(t.Warnings, t.Notes...), nil
	}
	load := config.Load
	if own, ok := config.UserFile(); ok && same(own, file) {
		load = func(path string) (*config.File, error) { return config.LoadOver(path, "") }
	}
	f, err := load(file)
	if err != nil {
		return nil, err
	}
	return append(f.Warnings, f.Notes...), nil
}

func same(a, b string) bool {
	x, err := filepath.Abs(a)
	y, err2 := filepath.Abs(b)
	return err == nil && err2 == nil && x == y
}

func (r report) print(w io.Writer) {
	for _, v := range r.Files {
		for _, list := range []struct {
			word  string
			found []found
		}{{"error", v.Errors}, {"warning", v.Warnings}, {"note", v.Notes}} {
			for _, f := range list.found {
				f.print(w, v.File, list.word)
			}
		}
		fmt.Fprintf(w, "%s: %s\n", v.File, v.summary())
	}
}

// print shows a problem, the line it stands on and a caret below its place.
func (f found) print(w io.Writer, file, word string) {
	if f.Line == 0 {
		fmt.Fprintf(w, "%s: %s\n\n", word, f.Message)
		return
	}
	fmt.Fprintf(w, "%s:%d:%d: %s: %s\n", file, f.Line, f.Column, word, f.Message)
	if f.Excerpt != "" {
		number := fmt.Sprintf("%5d", f.Line)
		fmt.Fprintf(w, "%s | %s\n", number, visible(f.Excerpt))
		if f.Column <= len([]rune(f.Excerpt))+1 {
			fmt.Fprintf(w, "%s | %s^\n", strings.Repeat(" ", len(number)), strings.Repeat(" ", f.Column-1))
		}
	}
	if f.Suggestion != "" {
		fmt.Fprintf(w, "        %s\n", f.Suggestion)
	}
	fmt.Fprintln(w)
}

func (v verdict) summary() string {
	if v.Valid && len(v.Warnings) == 0 {
		return "valid"
	}
	if v.Valid {
		return "valid, with " + count(len(v.Warnings), "warning")
	}
	s := "not valid: " + count(len(v.Errors), "error")
	if len(v.Warnings) > 0 {
		s += ", " + count(len(v.Warnings), "warning")
	}
	return s
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// visible keeps what a file holds from steering the terminal.
func visible(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return '\ufffd'
	}, strings.ReplaceAll(s, "\t", " "))
}
