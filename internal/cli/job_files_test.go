package cli

import (
	"strings"
	"testing"

	"conclave/internal/control"
)

// Lines of a difference keep how far they are indented: in YAML it is what they mean.
func TestDiffKeepsIndentation(t *testing.T) {
	var out strings.Builder
	showDiff(&out, []control.FileDiff{{Kind: "changed", Path: "todos.yaml", Hunks: []control.Hunk{{Old: 1, New: 1, Lines: []control.DiffLine{
		{Op: " ", Text: "todos:"}, {Op: "-", Text: "  - text:  one"}, {Op: "+", Text: "\t- \x1b[2Jtwo\rthree\r"},
	}}}}}, false)
	if want := "   todos:\n  -  - text:  one\n  +\t- two three\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("%q", out.String())
	}
}
