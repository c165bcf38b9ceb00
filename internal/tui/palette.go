package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/tui/text"
)

const atPalette Where = "commands"

// newPalette is everything that can be done where the person is, by its words,
// its key or its name.
func newPalette(m *Model) Screen {
	places := []Where{Anywhere, InInput}
	if m.inList {
		places = []Where{InList, Anywhere}
	}
	if s := m.top(); s != nil && s.Where() != atPalette {
		places = []Where{s.Where(), InDialog}
	}
	p := &picker{where: atPalette, title: "Commands", empty: "There is nothing to be done here."}
	for _, w := range places {
		for _, a := range m.table {
			if a.Where == w && !slices.Contains([]string{"palette", "dialog_palette"}, a.Name) {
				p.rows = append(p.rows, pick{key: a.Name, text: text.Pad(capital(a.Title), 18), about: paletteWords(a), why: a.why(m), value: a})
			}
		}
	}
	// What cannot be done now comes last.
	slices.SortStableFunc(p.rows, func(a, b pick) int { return min(len(a.why), 1) - min(len(b.why), 1) })
	p.chosen = func(m *Model, r pick) tea.Cmd {
		m.closeTop()
		return m.run(r.value.(Action), "")
	}
	return p
}

func paletteWords(a Action) string {
	return text.Pad(text.Cut(howTo(a), 22), 22) + " " + a.About
}

// capital is a title as the first word of a line.
func capital(s string) string {
	for i, r := range s {
		return strings.ToUpper(string(r)) + s[i+len(string(r)):]
	}
	return s
}
