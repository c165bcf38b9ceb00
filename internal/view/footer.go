package view

import (
	"fmt"
	"strings"
)

// fewFiles is how many written files are named one by one.
const fewFiles = 5

// Footer names the user's files that a run has written, to stand below its
// answer: each of them if they are few, else how many and where they are listed.
// It is empty if there are none.
func (r RunResult) Footer() string {
	switch {
	case r.FilesWrittenTotal == 0:
		return ""
	case r.FilesWrittenTotal > fewFiles || len(r.FilesWritten) < r.FilesWrittenTotal:
		out := fmt.Sprintf("%d files written to context paths", r.FilesWrittenTotal)
		if r.FilesWrittenList != "" {
			out += "; see " + Clean(r.FilesWrittenList)
		}
		return out
	}
	var b strings.Builder
	b.WriteString("Files written to context paths:")
	for _, f := range r.FilesWritten {
		fmt.Fprintf(&b, "\n  %s (%s)", OneLine(f.Path), f.Change)
	}
	return b.String()
}
