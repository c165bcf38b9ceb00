package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"
)

// folded breaks the lines of a text between words where they are wider than a
// terminal; what has no spaces, such as a path, stays whole. With no columns, and
// so for whoever reads it from a pipe, it stays as it is.
func folded(s string, columns int) []string {
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		if columns <= 0 || runewidth.StringWidth(line) <= columns {
			out = append(out, line)
			continue
		}
		text := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(text)]
		words := strings.Split(text, " ")
		now := indent + words[0]
		for _, w := range words[1:] {
			if runewidth.StringWidth(now)+1+runewidth.StringWidth(w) > columns {
				out = append(out, now)
				now = indent + w
				continue
			}
			now += " " + w
		}
		out = append(out, now)
	}
	return out
}

// hung is a text folded beside a margin, the first line without it: what stands
// there is the caller's.
func hung(s string, margin, columns int) string {
	if columns > 0 {
		columns = max(columns-margin, 20)
	}
	return strings.Join(folded(s, columns), "\n"+strings.Repeat(" ", margin))
}

// width is how many columns there are to print in; zero if nobody sees them.
func (e *env) width(terminal bool) int {
	if !terminal {
		return 0
	}
	w, _ := e.Size()
	return w
}

// complain prints what went wrong.
func (e *env) complain(what string) {
	fmt.Fprintln(e.Err, strings.Join(folded("conclave: "+what, e.width(e.ErrTerminal)), "\n"))
}

// widest is how wide help becomes: longer lines are hard to read.
const widest = 100

// foldFlags has a template of help fold the flags' texts. Help is prose: it is as
// wide as a page where there is no terminal, as all of it is.
func foldFlags(template string, columns int) string {
	columns = min(cmp.Or(columns, 80), widest)
	return strings.ReplaceAll(template, "Flags.FlagUsages ", fmt.Sprintf("Flags.FlagUsagesWrapped %d ", columns))
}
