package view

import (
	"strings"
	"testing"
	"unicode"

	"conclave/internal/event"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "a b\tc\nd", "a b\tc\nd"},
		{"colour", "\x1b[1;31mred\x1b[0m", "red"},
		{"cursor", "over\x1b[10Awritten", "overwritten"},
		{"one character introducer", "a\u009b31mb", "ab"},
		{"title by bell", "a\x1b]0;owned\ab", "ab"},
		{"clipboard by terminator", "a\x1b]52;c;aGk=\x1b\\b", "ab"},
		{"string by one character terminator", "a\u009dx\u009cb", "ab"},
		{"device control", "a\x1bPq#0\x1b\\b", "ab"},
		{"short sequences", "a\x1bcb\x1b(Bc\x1b7d", "abcd"},
		{"unfinished sequence keeps the text", "a\x1b]0;owned", "a0;owned"},
		{"unfinished control sequence", "a\x1b[31", "a31"},
		{"escape at the end", "a\x1b", "a"},
		{"escape before a wide character", "a\x1bé", "aé"},
		{"string cut by another", "\x1b]a\x1b[31mb", "ab"},
		{"controls", "a\x00\a\b\x7fb", "ab"},
		{"carriage return cannot overwrite", "good\revil", "good\nevil"},
		{"line ends", "a\r\nb\u2028c\u0085d\fe", "a\nb\nc\nd\ne"},
		{"direction overrides", "a\u202eb\u2066c\u200fd\ufeffe", "abcde"},
		{"hidden tags", "a\U000e0041b", "ab"},
		{"joiners stay", "नी\u200d👩\u200d💻", "नी\u200d👩\u200d💻"},
		{"raw bytes", "a\x9bb\xff", "a\ufffdb\ufffd"},
	} {
		if got := Clean(c.in); got != c.want {
			t.Errorf("%s: Clean(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
	}
}

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"", 5, ""},
		{"short", 5, "short"},
		{"  two\n\n words  ", 20, "two words"},
		{"one two three", 9, "one two…"},
		{"one two three", 8, "one two…"},
		{"one two three", 7, "one tw…"},
		{"one two three", 6, "one…"},
		{"a bc def ghij", 8, "a bc…"},
		{"unbroken_word", 6, "unbro…"},
		{"äöü äöü", 5, "äöü…"},
		{"anything", 1, "…"},
		{"anything", 0, ""},
		{"anything", -3, ""},
		{"\x1b[31mred\x1b[0m", 3, "red"},
		{"exact   ", 5, "exact"},
	} {
		if got := Shorten(c.in, c.width); got != c.want {
			t.Errorf("Shorten(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

// FuzzLine proves that nothing but printable characters gets through, whatever
// a model or a tool writes, and that doing it twice changes nothing.
func FuzzLine(f *testing.F) {
	for _, s := range []string{"", "plain", "\x1b[31m", "\x1b]0;x\a", "\u009d\u009b", "\x1b\x1b[[m", "a\r\nb", "\x9b\xff", "\x1b]\x1b]\x1b\\"} {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, s string, width int) {
		width %= 1000
		item := Item{Label: event.Label(s), Title: s, Detail: event.Inline(s), Tool: &ToolUse{Input: s}}
		for _, got := range []string{OneLine(s), Shorten(s, width), item.Line()} {
			if i := strings.IndexFunc(got, unicode.IsControl); i >= 0 {
				t.Fatalf("%q lets through %q", s, got[i:])
			}
		}
		if got := Shorten(s, width); len([]rune(got)) > max(width, 0) {
			t.Fatalf("Shorten(%q, %d) has %d characters", s, width, len([]rune(got)))
		}
		for _, r := range Clean(s) {
			if unicode.IsControl(r) && r != '\n' && r != '\t' {
				t.Fatalf("Clean(%q) lets through %q", s, r)
			}
		}
		if once := OneLine(s); OneLine(once) != once {
			t.Fatalf("OneLine(%q) = %q is not its own", s, once)
		}
	})
}
