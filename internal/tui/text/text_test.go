package text_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"conclave/internal/tui/text"
)

const (
	red    = "\x1b[31m"
	bold   = "\x1b[1m"
	end    = "\x1b[m"
	family = "👨‍👩‍👧"
)

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{
		"":                     0,
		"abc":                  3,
		red + "abc" + end:      3,
		"世界":                   4,
		"e\u0301a":             2,
		family:                 2,
		"👍🏽!":                  3,
		"🇩🇪":                   2,
		"a\tb":                 5,
		"abcd\te":              9,
		"a\nb":                 3,
		"\x1b[38;2;1;2;3mx":    1,
		"\x1b]8;;u\x1b\\x":     1,
		"1\ufe0f\u20e3x":       3,
		strings.Repeat("─", 9): 9,
	} {
		if got := text.Width(s); got != want {
			t.Errorf("Width(%q) = %d, want %d", s, got, want)
		}
	}
}

// What terminals draw in different widths takes as many cells as we count on
// those that know nothing of emoji put together, like tmux, too; and what others
// draw narrower than the sum of its parts is counted as wide as they may have it.
func TestSteady(t *testing.T) {
	for s, want := range map[string]string{
		"plain":                   "plain",
		family + "|":              "👨|",
		"👍🏽|":                     "👍|",
		"❤\ufe0f|":                "❤ |",
		"1\ufe0f\u20e3|":          "1 |",
		"🏳️‍🌈|":                   "🏳 |",
		"👩🏽‍🚀" + red + "x" + end:  "👩" + red + "x" + end,
		"🇩🇪|":                     "🇩🇪|",
		"e\u0301|":                "e\u0301|",
		"क्षि|":                   "क्षि|",
		"क्\u200dष|❤\ufe0f":       "क्\u200dष|❤ ",
		"กำ|ﾊﾟ|" + "⚠\ufe0f\n\tx": "กำ|ﾊﾟ|⚠ \n\tx",
	} {
		got := text.Steady(s)
		if got != want {
			t.Errorf("Steady(%q) = %q, want %q", s, got, want)
		}
		if strings.ContainsAny(s, "\n\t") {
			continue
		}
		if w, drawn := text.Width(s), ansi.StringWidthWc(got); w != drawn {
			t.Errorf("%q takes %d cells, and %q %d", s, w, got, drawn)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		s          string
		width      int
		want, left string
	}{
		{"hello", 5, "hello", "hello"},
		{"hello", 4, "hel…", "…llo"},
		{"hello", 1, "…", "…"},
		{"hello", 0, "", ""},
		{"hello", -3, "", ""},
		{"", 3, "", ""},
		{"世界人", 5, "世界…", "…界人"},
		{"世界人", 4, "世…", "…人"},
		{red + "hello" + end, 3, red + "he…" + end, red + "…lo" + end},
		{red + "he" + end + "llo", 3, red + "he" + end + "…", "…lo"},
		{"a\nb\tc", 9, "a b c", "a b c"},
		{family + "ab", 3, family + "…", "…ab"},
	} {
		if got := text.Cut(c.s, c.width); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.s, c.width, got, c.want)
		}
		if got := text.CutLeft(c.s, c.width); got != c.left {
			t.Errorf("CutLeft(%q, %d) = %q, want %q", c.s, c.width, got, c.left)
		}
	}
}

func TestPadAndFit(t *testing.T) {
	for _, s := range []string{"", "abc", "世界世界", "a\tb", red + "x" + end, family} {
		for w := range 12 {
			if got := text.Width(text.Pad(s, w)); got != w {
				t.Errorf("Pad(%q, %d) has %d cells", s, w, got)
			}
		}
	}
	if got := text.Width(text.Pad("x", 500)); got != 500 {
		t.Errorf("a wide line has %d cells", got)
	}
	got := text.Fit([]string{"ab", "世界", "left out"}, 3, 2)
	if d := cmp.Diff([]string{"ab ", "世…"}, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"a ", "  "}, text.Fit([]string{"a"}, 2, 2)); d != "" {
		t.Error(d)
	}
	if got := text.Fit([]string{"a"}, 2, -1); len(got) != 0 {
		t.Errorf("no height has lines: %q", got)
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		name, s string
		width   int
		want    []string
	}{
		{"nothing", "", 5, []string{""}},
		{"fits", "a b", 5, []string{"a b"}},
		{"words", "one two three", 7, []string{"one two", "three"}},
		{"just fits", "one two", 7, []string{"one two"}},
		{"blanks at a break", "one    two", 5, []string{"one", "two"}},
		{"blanks at the end", "one      ", 5, []string{"one"}},
		{"blanks only", "         ", 5, []string{""}},
		{"indent", "  one two", 5, []string{"  one", "two"}},
		{"indent too deep", "        one", 5, []string{"one"}},
		{"styled indent too deep", red + "        one" + end, 5, []string{red + "one" + end}},
		{"long word", "abcdefgh ij", 3, []string{"abc", "def", "gh", "ij"}},
		{"long word after a short", "a bcdefgh", 4, []string{"a", "bcde", "fgh"}},
		{"lines", "a\n\nb\n", 5, []string{"a", "", "b", ""}},
		{"wide", "世界人民", 5, []string{"世界", "人民"}},
		{"wide beside words", "ab 世界 cd", 5, []string{"ab 世", "界 cd"}},
		{"wide after a word", "abc世界", 4, []string{"abc", "世界"}},
		{"combining", "e\u0301e\u0301e\u0301", 2, []string{"e\u0301e\u0301", "e\u0301"}},
		{"family", family + family, 3, []string{family, family}},
		{"tab", "a\tb", 3, []string{"a", "b"}},
		{"style over lines", red + "one two" + end + " x", 3, []string{red + "one" + end, red + "two" + end, "x"}},
		{"style over a long word", red + "abcdef" + end, 3, []string{red + "abc" + end, red + "def" + end}},
		{"style over a line break", red + "a\nb" + end, 3, []string{red + "a" + end, red + "b" + end}},
		{"two styles", red + bold + "a b" + end, 1, []string{red + bold + "a" + end, red + bold + "b" + end}},
		{"style ends at a break", red + "one" + end + " two", 4, []string{red + "one" + end, "two"}},
		{"one cell", "世a", 1, []string{"…", "a"}},
		{"no cell", "ab", 0, []string{"a", "b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, text.Wrap(c.s, c.width)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestChop(t *testing.T) {
	for _, c := range []struct {
		s     string
		width int
		want  []string
	}{
		{"if  x == 1 {", 5, []string{"if  x", " == 1", " {"}},
		{"世界人", 3, []string{"世", "界", "人"}},
		{red + "abcd" + end, 2, []string{red + "ab" + end, red + "cd" + end}},
		{"", 4, []string{""}},
	} {
		if d := cmp.Diff(c.want, text.Chop(c.s, c.width)); d != "" {
			t.Errorf("Chop(%q, %d): %s", c.s, c.width, d)
		}
	}
}

// Styles that follow one another for ever do not make every line longer.
func TestWrapBoundsItsPen(t *testing.T) {
	var b strings.Builder
	for range 2000 {
		b.WriteString("\x1b[31mab\x1b[39mcd ")
	}
	for _, line := range text.Wrap(b.String()+"\x1b[32mz", 10) {
		if len(line) > 400 {
			t.Fatalf("a line of 10 cells has %d bytes: %q", len(line), line)
		}
	}
}

func TestClean(t *testing.T) {
	for s, want := range map[string]string{
		"plain\ttext\n":      "plain\ttext\n",
		"a\rb":               "a\nb",
		"a\r\nb":             "a\nb",
		"\x1b[2Jx\x1b[1;1Hy": "xy",
		"\x1b]8;;http://e.org\x1b\\link\x1b]8;;\a": "link",
		"\x1b]0;title\ax":                          "x",
		"\u009b31mred":                             "red",
		"\u202eabc\u202c\u2066d":                   "abcd",
		"\x00\x08\x7fx":                            "x",
		"a\x80b":                                   "a\ufffdb",
		family:                                     family,
		"so\u00adft\u1160":                         "soft",
	} {
		if got := text.Clean(s); got != want {
			t.Errorf("Clean(%q) = %q, want %q", s, got, want)
		}
	}
}

// FuzzWrap: whatever anybody wrote fits the line and holds nothing that could
// change the terminal.
func FuzzWrap(f *testing.F) {
	for _, s := range []string{"", "one two three", "世界 e\u0301 " + family, "a\tb\r\nc\x1b[31md\x1b]0;x\a", "\u202e\u200b\u0301", "\xff\xfe", "🇩🇪🇩 1\ufe0f\u20e3", "        x  "} {
		f.Add(s, 2)
		f.Add(s, 7)
	}
	f.Fuzz(func(t *testing.T, s string, w int) {
		if w < 2 || w > 200 {
			w = 2 + (w&0xff)%120
		}
		s = text.Clean(s)
		for name, lines := range map[string][]string{"plain": text.Wrap(s, w), "chop": text.Chop(s, w), "styled": text.Wrap(bold+s+end, w)} {
			for _, line := range lines {
				if got := text.Width(line); got > w {
					t.Errorf("%s: %q has %d cells, %d is the most", name, line, got, w)
				}
				if got := ansi.StringWidth(line); got > w {
					t.Errorf("%s: the terminal takes %d cells for %q, %d is the most", name, got, line, w)
				}
				line = strings.NewReplacer(bold, "", end, "").Replace(line)
				if i := strings.IndexFunc(line, unicode.IsControl); i >= 0 {
					t.Errorf("%s: %q has a control character at %d", name, line, i)
				}
			}
			if got, want := letters(lines...), letters(s); name != "styled" && got != want {
				t.Errorf("%s: text was lost: %q, want %q", name, got, want)
			}
		}
		for _, one := range []string{text.Cut(s, w), text.CutLeft(s, w)} {
			if got := text.Width(one); got > w {
				t.Errorf("%q has %d cells, %d is the most", one, got, w)
			}
		}
		if got := text.Width(text.Pad(s, w)); got != w {
			t.Errorf("Pad(%q, %d) has %d cells", s, w, got)
		}
	})
}

// letters is everything but blanks and what takes no room.
func letters(lines ...string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '\n' || r == '\t' || text.Width(string(r)) == 0 {
			return -1
		}
		return r
	}, strings.Join(lines, ""))
}

func BenchmarkWrap(b *testing.B) {
	s := strings.Repeat("the quick brown fox jumps over the lazy dog ", 100)
	for name, s := range map[string]string{"plain": s, "styled": red + s + end} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				text.Wrap(s, 80)
			}
		})
	}
}

func BenchmarkPad(b *testing.B) {
	s := red + "the quick brown fox" + end + " jumps over the lazy dog"
	b.ReportAllocs()
	for b.Loop() {
		text.Pad(s, 120)
	}
}
