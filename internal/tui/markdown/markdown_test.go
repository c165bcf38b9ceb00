package markdown_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"

	"conclave/internal/tui/markdown"
	"conclave/internal/tui/text"
	"conclave/internal/tui/theme"
)

func named(t testing.TB, name string) theme.Theme {
	t.Helper()
	th, ok := theme.Named(name, true)
	if !ok {
		t.Fatalf("there is no theme %s", name)
	}
	return th
}

func TestGolden(t *testing.T) {
	src, err := os.ReadFile("testdata/all.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []int{20, 40, 80, 120} {
		t.Run(fmt.Sprint(w), func(t *testing.T) {
			lines := markdown.Render(string(src), w, named(t, "dark"))
			fits(t, lines, w)
			golden.RequireEqual(t, []byte(ansi.Strip(strings.Join(lines, "\n"))+"\n"))
		})
	}
	t.Run("styles", func(t *testing.T) {
		golden.RequireEqual(t, []byte(strings.Join(markdown.Render(string(src), 60, named(t, "dark")), "\n")+"\n"))
	})
	t.Run("none", func(t *testing.T) {
		golden.RequireEqual(t, []byte(strings.Join(markdown.Render(string(src), 60, named(t, "none")), "\n")+"\n"))
	})
}

// fits fails if a line is too wide or holds anything but text and styles.
func fits(t *testing.T, lines []string, w int) {
	t.Helper()
	for i, l := range lines {
		if got := text.Width(l); got > w {
			t.Errorf("line %d has %d cells, %d is the most: %q", i, got, w, l)
		}
		plain := ansi.Strip(l)
		if j := strings.IndexFunc(plain, unicode.IsControl); j >= 0 {
			t.Errorf("line %d has a control character: %q", i, plain)
		}
		for s := l; ; {
			j := strings.IndexByte(s, '\x1b')
			if j < 0 {
				break
			}
			s = s[j+1:]
			if end := strings.IndexByte(s, 'm'); end < 0 || !strings.HasPrefix(s, "[") || strings.Trim(s[1:end], "0123456789;:") != "" {
				t.Errorf("line %d has a sequence that is no style: %q", i, l)
			}
		}
	}
}

func render(t *testing.T, src string, w int) string {
	t.Helper()
	lines := markdown.Render(src, w, named(t, "none"))
	fits(t, lines, w)
	return ansi.Strip(strings.Join(lines, "\n"))
}

func TestRender(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"nothing", "", ""},
		{"blank", " \n\n \n", ""},
		{"paragraphs", "a\nb\n\n\n\nc", "a b\n\nc"},
		{"link that says where", "[https://e.org](https://e.org)", "https://e.org"},
		{"link that does not", "[good.org](https://bad.org)", "good.org (https://bad.org)"},
		{"escape in a reference", "a&#27;[31mb&#x9b;1mc&#10;d", "a[31mb›1mc d"},
		{"escape in an address", "[a](<x&#27;]0;t&#7;y>)", "a (xy)"},
		{"escape in a language", "```go\x1b[2J\nx\n```", "┌ go\n│ x"},
		{"carriage return", "safe\rEVIL", "safe EVIL"},
		{"html", "<script>x</script>\n\n<!-- y -->", "<script>x</script>\n\n<!-- y -->"},
		{"unfinished code", "```\nx\n\ny", "│ x\n│\u0020\n│ y"},
		{"reference far away", "[a][r]\n\nb\n\n[r]: http://e.org\n", "a (http://e.org)\n\nb"},
		{"empty item", "-\n- a", "• \n• a"},
		{"table of one", "| a |\n|---|\n| b |", "a\n─\nb"},
		{"image", "![x](y)", "[image: x]"},
		{"line of a quote", "> a\n\nb", "│ a\n\nb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, render(t, c.src, 40)); d != "" {
				t.Error(d)
			}
		})
	}
}

// A table too wide for its columns is a list of its cells.
func TestTableAsRecords(t *testing.T) {
	got := render(t, "| name | votes | reason | more |\n|-|-|-|-|\n| anne-marie | 31415926 | because of it | nothing |\n", 18)
	want := "name: anne-marie\nvotes: 31415926\nreason: because of\nit\nmore: nothing"
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Sources made to be expensive are shown, and soon: the test would take minutes.
func TestExpensive(t *testing.T) {
	const mb = 1 << 20
	rep := strings.Repeat
	for name, src := range map[string]string{
		"one line":         rep("word ", mb/5),
		"one word":         rep("x", mb),
		"quotes":           rep(">", 10_000) + " deep",
		"spaced quotes":    rep("> ", 10_000) + "deep\n" + rep("> ", 10_000) + "deeper",
		"lists":            rep("- ", 10_000) + "deep",
		"numbers":          rep("1. ", 10_000) + "deep",
		"brackets":         rep("[", 100_000) + "x" + rep("]", 100_000),
		"links":            rep("[a](", 30_000),
		"stars":            rep("*a **b ", 15_000),
		"emphasis":         rep("*a_", 40_000) + rep("_a*", 0),
		"nested emphasis":  rep("*_", 20_000) + "x" + rep("_*", 20_000),
		"hidden emphasis":  "- a\n\n  ```\n" + rep("*a_", 40_000),
		"ticks":            rep("`a``b```c````", 9_000),
		"angles":           rep("<", 120_000),
		"comments":         rep("<!--", 30_000),
		"entities":         rep("&", 120_000),
		"wide table":       rep("|a", 30_000) + "\n" + rep("|-", 30_000) + "\n" + rep("|\n", 5_000),
		"long table":       "|a|b|\n|-|-|\n" + rep("|x|y|\n", 5_000),
		"strings":          "```go\n\"" + rep(`\"`, 60_000) + "\n```",
		"code":             "```go\n" + rep("x := \"y\" + 1 // z\n", 6_000) + "```",
		"definitions":      rep("[a]: http://e.org\n\n", 6_000),
		"uses":             "[a]: http://e.org\n\n" + rep("[a] ", 30_000),
		"tildes":           rep("~~a ~b", 20_000),
		"paragraphs":       rep("a\n\n", 50_000),
		"nested by indent": nestedList(150),
		"marks":            "a" + rep("\u0301", 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fits(t, markdown.Render(src, 40, named(t, "dark")), 40)
		})
	}
}

func nestedList(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("  ", i) + "- item\n")
	}
	return b.String()
}

// A stream gives the lines of the whole, however it came.
func TestStream(t *testing.T) {
	src, err := os.ReadFile("testdata/all.md")
	if err != nil {
		t.Fatal(err)
	}
	th := named(t, "dark")
	s := markdown.NewStream(th)
	const piece = 5 // no line, no character, no mark is sure to come whole
	for i := 0; i < len(src); i += piece {
		end := min(len(src), i+piece)
		s.Append(string(src[i:end]))
		if got, want := s.Lines(40), markdown.Render(string(src[:end]), 40, th); !cmp.Equal(got, want) {
			t.Fatalf("after %d bytes:\n%s", end, cmp.Diff(want, got))
		}
	}
	if got, want := s.Lines(80), markdown.Render(string(src), 80, th); !cmp.Equal(got, want) {
		t.Errorf("at another width: %s", cmp.Diff(want, got))
	}
	s.Set(string(src) + "\nmore")
	if got, want := s.Lines(80), markdown.Render(string(src)+"\nmore", 80, th); !cmp.Equal(got, want) {
		t.Errorf("with more set: %s", cmp.Diff(want, got))
	}
	s.Set("other")
	if got := s.Lines(80); !cmp.Equal(got, []string{"other"}) {
		t.Errorf("with something else set: %q", got)
	}
	none := named(t, "none")
	s.Set("**x**")
	s.Lines(80)
	s.SetTheme(none)
	if got, want := s.Lines(80), markdown.Render("**x**", 80, none); !cmp.Equal(got, want) {
		t.Errorf("in another theme: %q, want %q", got, want)
	}
}

func FuzzRender(f *testing.F) {
	src, err := os.ReadFile("testdata/all.md")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(src), 40, 100)
	f.Add(string(src), 9, 7)
	for _, s := range []string{"- - > 1. x", "|a|b\n|-|-\n|世", "```go\n\"\\", "&#27;[2J&#x202e;x", "> ```\n> a\n\nb\n\n```\n\n\r\n\rx", "1.\n\n  ```\nx\n\n[a]: b\n\n[a]"} {
		f.Add(s, 12, 3)
	}
	th := named(f, "dark")
	f.Fuzz(func(t *testing.T, src string, w, cut int) {
		if w < 1 || w > 200 {
			w = 1 + (w&0xff)%120
		}
		lines := markdown.Render(src, w, th)
		fits(t, lines, w)
		s := markdown.NewStream(th)
		if cut >= 0 && cut < len(src) {
			s.Append(src[:cut])
			s.Lines(w)
			s.Append(src[cut:])
		} else {
			s.Append(src)
		}
		if got := s.Lines(w); !slices.Equal(got, lines) {
			t.Errorf("a stream differs: %s", cmp.Diff(lines, got))
		}
	})
}

func BenchmarkRender(b *testing.B) {
	src, err := os.ReadFile("testdata/all.md")
	if err != nil {
		b.Fatal(err)
	}
	th := named(b, "dark")
	b.ReportAllocs()
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		markdown.Render(string(src), 80, th)
	}
}

// One frame of a long text that is being written.
func BenchmarkStream(b *testing.B) {
	src, err := os.ReadFile("testdata/all.md")
	if err != nil {
		b.Fatal(err)
	}
	s := markdown.NewStream(named(b, "dark"))
	s.Set(strings.Repeat(string(src)+"\n", 50))
	s.Lines(80)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if s.Append("word "); i%40 == 39 {
			s.Append("\n\n")
		}
		s.Lines(80)
	}
}
