package input

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
)

func paste(m *Model, s string) Outcome { return deliver(m, tea.PasteMsg{Content: s}) }

func TestPaste(t *testing.T) {
	ten := strings.Repeat("line\n", 10)
	for _, c := range []struct{ paste, want, text string }{
		{"a\r\nb\rc\n", "a\nb\nc\n|", "a\nb\nc\n"}, // and it is not sent
		{"a\x1b[31mb\x00\x07\u202e\u009bc", "ab|", "ab"},
		{"a\x1b]0;title\x07b\tc", "ab\tc|", "ab\tc"},
		{strings.Repeat("x\n", 9), strings.Repeat("x\n", 9) + "|", strings.Repeat("x\n", 9)},
		{ten, "[Pasted text #1 +10 lines]|", ten},
		{strings.Repeat("é", 499), strings.Repeat("é", 499) + "|", strings.Repeat("é", 499)},
		{strings.Repeat("é", 500), "[Pasted text #1 +500 characters]|", strings.Repeat("é", 500)},
		{"shots/a.png", "[Image #1 a.png]|", "[Image #1]"},
		{" /tmp/my shot.png\n", "[Image #1 my shot.png]|", "[Image #1]"},
		{`/tmp/my\ shot.png '/tmp/b c.png'`, "[Image #1 my shot.png] [Image #2 b c.png]|", "[Image #1] [Image #2]"},
		{"file:///tmp/my%20shot.png", "[Image #1 my shot.png]|", "[Image #1]"},
		{"a.png and b.png", "a.png and b.png|", "a.png and b.png"},
		{"a.png b.txt", "a.png b.txt|", "a.png b.txt"},
		{"/", "/|", "/"},
		{"", "|", ""},
		{"\x07", "|", ""},
	} {
		m := New(sample())
		if out := paste(m, c.paste); out != nil {
			t.Errorf("%q: outcome %#v", c.paste, out)
		}
		if got := seen(m); got != c.want {
			t.Errorf("%q: got %q, want %q", c.paste, got, c.want)
		}
		if got := m.Text(); got != c.text {
			t.Errorf("%q: text %q, want %q", c.paste, got, c.text)
		}
	}
}

func TestChips(t *testing.T) {
	long := strings.Repeat("line\n", 42)
	m := New(sample())
	play(m, "see ")
	paste(m, long)
	play(m, " and ")
	paste(m, "a.png")
	m.AddChip("output of\nls", "x\ny")
	paste(m, "b.png")
	if want := "see [Pasted text #1 +42 lines] and [Image #1 a.png][output of ls][Image #2 b.png]|"; seen(m) != want {
		t.Fatalf("got %q", seen(m))
	}
	kept := m.buf.state

	got := play(m, "<enter>")
	text := "see " + long + " and [Image #1]x\ny[Image #2]"
	if want := (Submit{Text: text, Line: text, Images: []string{"a.png", "b.png"}}); !cmp.Equal(got, Outcome(want)) {
		t.Error(cmp.Diff(Outcome(want), got))
	}

	for _, c := range []struct{ script, want string }{
		{"<backspace><backspace><backspace>", "see [Pasted text #1 +42 lines] and |"},
		{"<left><left><backspace>", "see [Pasted text #1 +42 lines] and |[output of ls][Image #1 b.png]"},
		{"<alt+b><alt+b><alt+b><alt+b><alt+b><ctrl+d>", "see | and [Image #1 a.png][output of ls][Image #2 b.png]"},
		{"<ctrl+w><ctrl+a><ctrl+y>", "[Image #1 a.png][output of ls][Image #2 b.png]|see [Pasted text #1 +42 lines] and "},
		{"<ctrl+u><ctrl+_>", "see [Pasted text #1 +42 lines] and [Image #1 a.png][output of ls][Image #2 b.png]|"},
		{"<ctrl+u><ctrl+y>x", "see [Pasted text #1 +42 lines] and [Image #1 a.png][output of ls][Image #2 b.png]x|"},
		// Letters do not become one with those of a chip.
		{"<ctrl+u>/<ctrl+y>", "/see [Pasted text #1 +42 lines] and [Image #1 a.png][output of ls][Image #2 b.png]|"},
	} {
		m := New(sample())
		m.buf.load(kept)
		if play(m, c.script); seen(m) != c.want {
			t.Errorf("%q: got %q, want %q", c.script, seen(m), c.want)
		}
	}
}

// What stands in a chip is data: it makes no command and no shell line.
func TestChipsCommandNothing(t *testing.T) {
	for _, s := range []string{"!rm", "/help", "@src"} {
		m := New(sample())
		m.AddChip("x", s)
		if got := play(m, "<enter>").(Submit); got.Shell || got.Command != "" || got.Text != s {
			t.Errorf("%q: %+v", s, got)
		}
	}
	m := New(sample())
	play(m, "/theme ")
	m.AddChip("x", "a\nb")
	if got := play(m, "<enter>").(Submit); got.Command != "theme" || got.Args != "a\nb" {
		t.Errorf("arguments in a chip: %+v", got)
	}
}

// Pictures live through an editor.
func TestEditorKeepsPictures(t *testing.T) {
	m := New(sample())
	m.AddImage("a.png")
	m.AddImage("b.png")
	e := play(m, "x<ctrl+g>").(Editor)
	if e.Text != "[Image #1][Image #2]x" {
		t.Fatalf("the editor gets %q", e.Text)
	}
	m.SetText("first [Image #2], no [Image #7]")
	if got := play(m, "<enter>").(Submit); got.Text != "first [Image #1], no [Image #7]" || !cmp.Equal(got.Images, []string{"b.png"}) {
		t.Errorf("got %+v", got)
	}
}

func TestHugeTextIsOneChip(t *testing.T) {
	m := New(Options{})
	huge := strings.Repeat("0123456789\n", 100_000)
	m.SetText(huge)
	if len(m.buf.atoms) != 1 || m.Text() != huge {
		t.Errorf("%d characters to step over", len(m.buf.atoms))
	}
}
