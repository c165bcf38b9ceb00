package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/tui/diff"
	"conclave/internal/tui/markdown"
	"conclave/internal/tui/theme"
)

const atThemes Where = "themes"

// themes lets the person choose how things look, and shows each at once.
type themes struct {
	picker
	before string // the theme to go back to
	taken  bool
}

func newThemes(m *Model) *themes {
	t := &themes{before: m.o.Look.Theme, picker: picker{where: atThemes, title: "Theme"}}
	for _, n := range theme.Names() {
		about := map[string]string{"auto": "dark or light, as your terminal is", "none": "no colours", "contrast": "as strong as can be"}[n]
		t.rows = append(t.rows, pick{key: n, text: n, about: about, value: n})
	}
	t.point(themeName(m.o.Look.Theme))
	t.preview = func(m *Model, _ pick, width int) []string { return m.sample(width) }
	t.moved = func(m *Model, p pick) tea.Cmd { m.setTheme(p.value.(string)); return nil }
	t.chosen = func(m *Model, p pick) tea.Cmd {
		t.taken = true
		m.closeTop()
		m.takeTheme(p.value.(string))
		return nil
	}
	return t
}

// gone gives the theme back that there was, unless another was taken.
func (t *themes) gone(m *Model) {
	if !t.taken {
		m.setTheme(t.before)
	}
}

func themeName(s string) string {
	if s == "" {
		return "auto"
	}
	return s
}

// takeTheme has a theme from here on, and says how to have it for ever.
func (m *Model) takeTheme(name string) {
	m.o.Look.Theme = name
	m.setTheme(name)
	where := "your configuration"
	if m.o.Look.File != "" {
		where = m.o.Look.File
	}
	words := "Theme " + name + ". To keep it: ui: {theme: " + name + "} in " + where
	if m.o.NoColor && name != "none" {
		words = "Theme " + name + ", but colours are turned off (NO_COLOR)."
	}
	m.notify(words)
}

// sample is a bit of everything.
func (m *Model) sample(width int) []string {
	out := markdown.Render("# Heading\nText with **weight**, `code` and a [link](https://example.org).\n\n- one\n- two", width, m.theme)
	out = append(out, diff.Unified("old line\nsame", "new line\nsame", width, m.theme)...)
	agents := ""
	for i, n := range []string{"ada", "bob", "cyd"} {
		agents += m.theme.Agent(i).Render(n) + " "
	}
	return append(out, agents+m.theme.Good.Render("good ")+m.theme.Warn.Render("mind ")+m.theme.Bad.Render("bad ")+m.theme.Dim.Render("dim"))
}

// chooseTheme takes the theme that is named, or shows them all.
func (m *Model) chooseTheme(args string) tea.Cmd {
	name := strings.ToLower(args)
	switch {
	case name == "":
		m.open(newThemes(m))
	case !slices.Contains(theme.Names(), name):
		m.notify("There is no theme " + name + "; there are " + strings.Join(theme.Names(), ", ") + ".")
	default:
		m.takeTheme(name)
	}
	return nil
}

// nextTheme goes on to the next theme.
func (m *Model) nextTheme(string) tea.Cmd {
	names := theme.Names()
	m.takeTheme(names[(slices.Index(names, themeName(m.o.Look.Theme))+1)%len(names)])
	return nil
}
