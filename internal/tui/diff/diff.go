// Package diff shows how two texts differ, for a person who has to decide about
// it: every changed line is there in full, wrapped where it is too long, and
// characters that cannot be seen are shown by signs for them.
package diff

import (
	"fmt"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"conclave/internal/tui/text"
	"conclave/internal/tui/theme"
)

const (
	maxBytes = 1 << 20 // of both texts, to compare them
	maxLines = 20_000  // of both texts, to compare them
	context  = 3       // lines shown around a change
)

// Unified is what makes b of a, as styled lines of at most width cells: hunks
// with the numbers of the lines in a and in b. Texts that are equal have no
// lines; texts too large to compare have one that says so.
func Unified(a, b string, width int, t theme.Theme) []string {
	width = max(width, 1)
	if a == b {
		return nil
	}
	if tooLarge(a, b) {
		note := fmt.Sprintf("%s replaced by %s; too large to compare", lines(count(a)), lines(count(b)))
		return text.Wrap(t.Dim.Render(note), width)
	}
	d, err := udiff.ToUnifiedDiff("", "", a, udiff.Lines(a, b), context)
	if err != nil {
		return text.Wrap(t.Bad.Render(text.Clean("cannot compare: "+err.Error())), width)
	}
	p := newPrinter(width, max(count(a), count(b)), t)
	for _, h := range d.Hunks {
		p.hunk(h)
	}
	return p.out
}

// Stat counts the lines b has that a has not, and those only a has. Of texts too
// large to compare all lines count.
func Stat(a, b string) (added, removed int) {
	switch {
	case a == b:
		return 0, 0
	case tooLarge(a, b):
		return count(b), count(a)
	}
	d, err := udiff.ToUnifiedDiff("", "", a, udiff.Lines(a, b), 0)
	if err != nil {
		return count(b), count(a)
	}
	for _, h := range d.Hunks {
		for _, l := range h.Lines {
			switch l.Kind {
			case udiff.Insert:
				added++
			case udiff.Delete:
				removed++
			}
		}
	}
	return added, removed
}

func tooLarge(a, b string) bool {
	return len(a)+len(b) > maxBytes || count(a)+count(b) > maxLines
}

// count is how many lines a text has.
func count(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

func lines(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}
