package diff_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"

	"conclave/internal/tui/diff"
	"conclave/internal/tui/text"
	"conclave/internal/tui/theme"
)

func dark(t testing.TB) theme.Theme {
	t.Helper()
	th, ok := theme.Named("dark", true)
	if !ok {
		t.Fatal("there is no dark theme")
	}
	return th
}

func numbered(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("line %d", i+1)
	}
	return out
}

func pair() (a, b string) {
	x, y := numbered(30), numbered(30)
	y[4] = "line five, which is now longer than a narrow window is wide, so it has to be wrapped"
	y[20] = "line 20+1"
	y = append(y[:10], append([]string{"\tnew", "世界"}, y[11:]...)...)
	return strings.Join(x, "\n") + "\n", strings.Join(y, "\n")
}

func TestGolden(t *testing.T) {
	a, b := pair()
	for _, w := range []int{24, 60, 100} {
		t.Run(fmt.Sprint(w), func(t *testing.T) {
			golden.RequireEqual(t, []byte(strings.Join(diff.Unified(a, b, w, dark(t)), "\n")+"\n"))
		})
	}
}

func plain(lines []string) string { return ansi.Strip(strings.Join(lines, "\n")) }

func TestUnified(t *testing.T) {
	for _, c := range []struct{ name, a, b, want string }{
		{"equal", "a\n", "a\n", ""},
		{"new", "", "a\nb\n", "@@ -0,0 +1,2 @@\n  1 + a\n  2 + b"},
		{"gone", "a\n", "", "@@ -1,1 +0,0 @@\n1   - a"},
		{"changed", "one\ntwo\n", "one\ntwo!\n", "@@ -1,2 +1,2 @@\n1 1   one\n2   - two\n  2 + two!"},
		{"last line break", "a\n", "a", "@@ -1,1 +1,1 @@\n1   - a\n  1 + a\n\\ no line break at the end"},
		{"unseen", "a\n", "a\r\x1b[2J\u202eb\n", "@@ -1,1 +1,1 @@\n1   - a\n  1 + a␍␛[2J<U+202E>b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, plain(diff.Unified(c.a, c.b, 60, dark(t)))); d != "" {
				t.Error(d)
			}
		})
	}
}

// What differs within a line stands out.
func TestWithinLines(t *testing.T) {
	lines := diff.Unified("x = compute(1)\n", "x = compute(2)\n", 60, dark(t))
	last := lines[len(lines)-1]
	i := strings.Index(last, "2)")
	if i < 0 {
		i = strings.Index(last, "2\x1b")
	}
	open, _ := theme.Pen(dark(t).Added.Reverse(true))
	if i < len(open) || last[i-len(open):i] != open {
		t.Errorf("the new 2 does not stand out: %q", last)
	}
}

func TestStat(t *testing.T) {
	for _, c := range []struct {
		a, b           string
		added, removed int
	}{
		{"", "", 0, 0},
		{"a\n", "a\n", 0, 0},
		{"", "a\nb", 2, 0},
		{"a\nb\nc\n", "a\nx\ny\nc\n", 2, 1},
	} {
		if added, removed := diff.Stat(c.a, c.b); added != c.added || removed != c.removed {
			t.Errorf("Stat(%q, %q) = +%d -%d", c.a, c.b, added, removed)
		}
	}
}

// Texts too large to compare are not compared.
func TestLarge(t *testing.T) {
	a, b := strings.Repeat("a\n", 1<<20), strings.Repeat("b\n", 30_000)
	want := "1048576 lines replaced by 30000 lines; too large to compare"
	if got := plain(diff.Unified(a, b, 80, dark(t))); got != want {
		t.Errorf("got %q", got)
	}
	if added, removed := diff.Stat(a, b); added != 30_000 || removed != 1<<20 {
		t.Errorf("+%d -%d", added, removed)
	}
	// Just small enough, and nothing in common.
	a, b = strings.Repeat("a\n", 9_000), strings.Repeat("b\n", 9_000)
	if got := len(diff.Unified(a, b, 80, dark(t))); got != 18_001 {
		t.Errorf("%d lines", got)
	}
}

func FuzzUnified(f *testing.F) {
	a, b := pair()
	f.Add(a, b, 40)
	f.Add("a\n", "b\n", 1)
	f.Add("a\r\n\x00", "a\n\t\x1b[31m世界", 3)
	th := dark(f)
	f.Fuzz(func(t *testing.T, a, b string, w int) {
		if w < 1 || w > 200 {
			w = 1 + (w&0xff)%120
		}
		diff.Stat(a, b)
		for _, l := range diff.Unified(a, b, w, th) {
			if got := text.Width(l); got > w {
				t.Errorf("%q has %d cells, %d is the most", l, got, w)
			}
			if i := strings.IndexFunc(ansi.Strip(l), unicode.IsControl); i >= 0 {
				t.Errorf("%q has a control character", l)
			}
		}
	})
}

func BenchmarkUnified(b *testing.B) {
	x, y := pair()
	th := dark(b)
	b.ReportAllocs()
	for b.Loop() {
		diff.Unified(x, y, 100, th)
	}
}
