package input

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"conclave/internal/tui/text"
	"conclave/internal/tui/theme"
)

func look(t testing.TB, name string) theme.Theme {
	t.Helper()
	th, ok := theme.Named(name, true)
	if !ok {
		t.Fatalf("there is no theme %s", name)
	}
	return th
}

// screen draws a composer as people see it: the popup, a rule, the lines with
// the cursor as a block.
func screen(t testing.TB, m *Model, width, height int, th theme.Theme) string {
	t.Helper()
	lines, x, y, popup := m.View(width, height, th)
	var b strings.Builder
	for _, l := range popup {
		b.WriteString("|" + text.Pad(ansi.Strip(l), width) + "|\n")
	}
	b.WriteString("+" + strings.Repeat("-", width) + "+\n")
	for i, l := range lines {
		l = text.Pad(ansi.Strip(l), width)
		if i == y {
			l = ansi.Cut(l, 0, x) + "█" + ansi.Cut(l, x+max(1, text.Width(firstOf(ansi.Cut(l, x, width)))), width)
		}
		b.WriteString("|" + l + "|\n")
	}
	return b.String()
}

func firstOf(s string) string {
	c, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return c
}

func TestView(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(m *Model)
	}{
		{"empty", func(m *Model) { m.Placeholder("Ask anything, / for commands, @ for files") }},
		{"text", func(m *Model) { play(m, "The quick brown fox jumps over the lazy dog, and looks at @src/main.go:w") }},
		{"lines", func(m *Model) { play(m, "one<ctrl+j><ctrl+j>  three\t.<up><up>") }},
		{"wide", func(m *Model) {
			play(m, "日本語のテキストは幅が二つで、行の終わりで切れない 👩\u200d👩\u200d👧 e\u0301<left>")
		}},
		{"long", func(m *Model) { play(m, strings.Repeat("word ", 60)+"<ctrl+a>") }},
		{"word", func(m *Model) { play(m, strings.Repeat("0123456789", 5)) }},
		{"scrolled", func(m *Model) { play(m, "1<ctrl+j>2<ctrl+j>3<ctrl+j>4<ctrl+j>5<ctrl+j>6<ctrl+j>7<up><up><up>") }},
		{"chips", func(m *Model) {
			play(m, "look ")
			paste(m, strings.Repeat("x\n", 42))
			play(m, " ")
			paste(m, "a/screen shot of the window.png")
		}},
		{"shell", func(m *Model) { play(m, "!git status @x") }},
		{"commands", func(m *Model) { play(m, "/<down>") }},
		{"command", func(m *Model) { play(m, "/cl") }},
		{"paths", func(m *Model) { play(m, "see @") }},
		{"write", func(m *Model) { play(m, "see @main<right>") }},
		{"nopath", func(m *Model) {
			m.opt.Paths = nil
			play(m, "see @zzz")
		}},
		{"search", func(m *Model) { play(m, "draft<ctrl+r>i<ctrl+r>") }},
		{"nomatch", func(m *Model) { play(m, "<ctrl+r>zzz") }},
		{"blurred", func(m *Model) {
			play(m, "unsent")
			m.Blur()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := New(sample())
			m.PopupRows(5)
			c.make(m)
			var b strings.Builder
			for _, width := range []int{20, 40, 80} {
				fmt.Fprintf(&b, "%d:\n%s", width, screen(t, m, width, 5, look(t, "none")))
			}
			golden.RequireEqual(t, b.String())
		})
	}
}

// Roles have their styles.
func TestViewStyles(t *testing.T) {
	m := New(sample())
	th := look(t, "dark")
	play(m, "/theme @src/main.go x ")
	m.AddChip("out", "1")
	lines, _, _, _ := m.View(80, 3, th)
	want := th.Accent.Render("❯") + " " + th.Accent.Render("/theme") + th.Text.Render(" ") + th.Accent.Render("@src/main.go") +
		th.Text.Render(" x ") + th.Chip.Render("[out]")
	if lines[0] != want {
		t.Errorf("got %q, want %q", lines[0], want)
	}
	m.Clear()
	play(m, "!ls")
	lines, _, _, _ = m.View(80, 3, th)
	if want := th.Warn.Render("$") + " "; !strings.HasPrefix(lines[0], want) {
		t.Errorf("a shell line begins %q, want %q", lines[0], want)
	}
	m.Clear()
	play(m, "/can")
	_, _, _, popup := m.View(80, 3, th)
	if !strings.Contains(popup[0], "nothing is running") {
		t.Errorf("why a command cannot be run is not said: %q", popup[0])
	}
}

func TestClick(t *testing.T) {
	m := New(sample())
	play(m, "one two three four<ctrl+j>日本語")
	th := look(t, "none")
	m.View(12, 5, th) // "one two ", "three ", "four", "日本語"
	for _, c := range []struct {
		x, y int
		want string
	}{
		{2, 0, "|one two three four\n日本語"},
		{0, 0, "|one two three four\n日本語"},
		{4, 0, "on|e two three four\n日本語"},
		{11, 0, "one two| three four\n日本語"}, // stays on its row
		{3, 1, "one two t|hree four\n日本語"},
		{11, 2, "one two three four|\n日本語"},
		{5, 3, "one two three four\n日|本語"},
		{4, 99, "one two three four\n日|本語"},
	} {
		if m.Click(c.x, c.y); seen(m) != c.want {
			t.Errorf("a click on %d,%d: %q, want %q", c.x, c.y, seen(m), c.want)
		}
	}
	if h := m.Height(12, 9); h != 4 {
		t.Errorf("height %d", h)
	}
	if h := m.Height(12, 2); h != 2 {
		t.Errorf("height %d of 2", h)
	}
}
