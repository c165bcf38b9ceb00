package tui

import (
	"fmt"

	"conclave/internal/tui/text"
)

// welcome is what an empty conversation shows: who is there.
func (m *Model) welcome(w, h int) []string {
	lines := []string{"", "  " + m.theme.Title.Render("Conclave"), "  " + m.theme.Dim.Render("Several agents, one answer."), ""}
	lines = append(lines, "  "+text.Cut(text.Clean(m.team.Source), w-2), "")
	for i, a := range m.team.Agents {
		style := m.theme.Agent(i)
		if m.greyed(a.ID) {
			style = m.theme.Locked
		}
		lines = append(lines, text.Cut(fmt.Sprintf("  %s  %s", style.Render(text.Clean(string(a.ID))), m.theme.Faint.Render(text.Clean(a.Model))), w))
	}
	return lines
}
