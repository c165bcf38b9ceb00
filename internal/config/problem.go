package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Problem is something wrong or doubtful in a configuration. Lines and columns
// count from 1, columns in characters.
type Problem struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	// Key is the path of the key concerned: "agents[0].backend.type".
	Key        string `json:"key,omitempty"`
	Message    string `json:"message"`
	Suggestion string `json:"suggestion,omitempty"`
	// Text is the offending value as it was written; empty where there is none
	// to show, and always empty for secrets.
	Text string `json:"text,omitempty"`
	// Excerpt is the line it stands on, secrets left out.
	Excerpt string `json:"excerpt,omitempty"`
	Warning bool   `json:"warning,omitempty"`
	// Note marks a warning of which nothing need come: the file does what it
	// says, or what it says goes without saying.
	Note bool `json:"note,omitempty"`
}

// String is the problem on one line: "team.yaml:6:7: message; suggestion".
func (p Problem) String() string {
	s := fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
	if p.Suggestion != "" {
		s += "; " + p.Suggestion
	}
	return s
}

// An Error is a configuration that cannot be used. Problems holds everything
// that was found, the warnings included, sorted by position.
type Error struct {
	Problems []Problem
}

// Error has one line for each problem.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// tidy sorts problems by position and drops repetitions: what stands behind an
// anchor is read once for every alias. Broken says that there are errors.
func tidy(problems []Problem) (sorted []Problem, broken bool) {
	var files []string // lower layers first
	for _, p := range problems {
		if !slices.Contains(files, p.File) {
			files = append(files, p.File)
		}
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(slices.Index(files, a.File), slices.Index(files, b.File)), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	var out []Problem
	type place struct {
		file         string
		line, column int
		message      string
	}
	seen := map[place]bool{}
	for _, p := range problems {
		broken = broken || !p.Warning
		at := place{p.File, p.Line, p.Column, p.Message}
		if !seen[at] {
			out = append(out, p)
		}
		seen[at] = true
	}
	return out, broken
}
