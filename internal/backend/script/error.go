package script

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// An Error is what is wrong with a script, and where. Lines and columns count
// from 1. More holds the problems after the first, in the order of the file.
type Error struct {
	File    string
	Line    int
	Column  int
	Message string
	Text    string // the offending piece, as it was written
	More    []*Error
}

// Error has one line for each problem: "file:line:col: message".
func (e *Error) Error() string {
	lines := make([]string, 0, 1+len(e.More))
	for _, p := range e.All() {
		lines = append(lines, fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message))
	}
	return strings.Join(lines, "\n")
}

// All lists every problem, the first one included.
func (e *Error) All() []*Error { return append([]*Error{e}, e.More...) }

// chain makes one error of many, nil of none.
func chain(problems []*Error) error {
	if len(problems) == 0 {
		return nil
	}
	slices.SortStableFunc(problems, func(a, b *Error) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	first := problems[0]
	first.More = problems[1:]
	return first
}

// nearest is a hint at the known word that was probably meant.
func nearest(word string, known []string) string {
	best, at := "", len(word)/2+1
	for _, k := range known {
		if d := levenshtein.ComputeDistance(strings.ToLower(word), strings.ToLower(k)); d < at || d == at && best == "" && d <= 2 {
			best, at = k, d
		}
	}
	if best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return "; known here: " + strings.Join(known, ", ")
}
