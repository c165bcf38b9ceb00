package cli

import (
	"fmt"
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

// shelved has a difference in both forms.
type shelved struct{}

func (shelved) read() ([]control.FileDiff, error) {
	return []control.FileDiff{{Kind: "added", Path: "a.md"}}, nil
}
func (shelved) patch() ([]byte, error) { return []byte("diff --git a/a.md b/a.md\n"), nil }

// On a terminal a difference is for people; else, or if it is asked for, for git apply.
func TestDiffForms(t *testing.T) {
	for _, tt := range []struct {
		form     diffForm
		terminal bool
		want     string
	}{
		{diffForm{}, true, "  added a.md\n"},
		{diffForm{}, false, "diff --git a/a.md b/a.md\n"},
		{diffForm{patch: true}, true, "diff --git a/a.md b/a.md\n"},
		{diffForm{json: true}, false, `"path"`},
		{diffForm{json: true, patch: true}, false, "not both"},
	} {
		var out strings.Builder
		e := &env{Streams: Streams{Out: &out, OutTerminal: tt.terminal}}
		err := tt.form.show(e, shelved{}.read, shelved{}.patch)
		if got := out.String() + fmt.Sprint(err); !strings.Contains(got, tt.want) {
			t.Errorf("%+v, terminal %t: %q", tt.form, tt.terminal, got)
		}
	}
}
