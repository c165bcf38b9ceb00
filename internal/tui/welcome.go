package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// welcome is what an empty conversation shows: who is there, from where, and how
// they would work.
func (m *Model) welcome(w, h int) []string {
	t := &m.theme
	inner := max(w-4, 1)
	var lines []string
	add := func(more ...string) { lines = append(lines, more...) }
	roomy := h >= len(m.team.Agents)+9
	if roomy {
		add("")
	}
	add(t.Title.Render("Conclave") + t.Dim.Render("  several agents, one answer"))
	if roomy {
		add("")
	}
	add(t.Strong.Render(m.teamWords()))
	first := len(lines)
	// The last lines say how it goes on; who does not fit before them is counted.
	tail := 2
	if roomy {
		tail = 4
	}
	shown := len(m.team.Agents)
	if room := max(h-first-tail, 1); shown > room {
		shown = max(room-1, 0)
	}
	for i, a := range m.team.Agents[:shown] {
		style, about := t.Agent(i), view.Engine(a.Backend, a.Model)
		if m.greyed(a.ID) {
			style, about = t.Locked, about+" (sits out)"
		}
		add(text.Cut(style.Render("○ "+view.OneLine(string(a.ID)))+"  "+t.Faint.Render(about), inner))
		m.clickable(0, first+i, w, 1, func(m *Model, _, _ int) tea.Cmd { return m.openTab(i + 1) })
	}
	if n := len(m.team.Agents) - shown; n > 0 {
		add(t.Faint.Render(fmt.Sprintf("and %d more", n)))
	}
	if roomy {
		add("")
	}
	add(text.Wrap(t.Dim.Render(modeWords(m.modes, view.OneLine(string(m.single())))), inner)...)
	if m.team.Source != "" {
		add(t.Faint.Render(text.Cut(view.OneLine(m.team.Source), inner)))
	}
	for i, l := range lines {
		lines[i] = text.Cut("  "+l, w)
	}
	return lines
}

// teamWords is how many agents are there.
func (m *Model) teamWords() string {
	s := "1 agent is ready"
	if n := len(m.team.Agents); n != 1 {
		s = fmt.Sprintf("%d agents are ready", n)
	}
	if m.team.Offline {
		s += " (they follow scripts: no model is asked)"
	}
	return s
}

// modeWords is how what is said next will be worked on.
func modeWords(o event.Modes, alone string) string {
	s := "All work on it, see each other's answers, and vote."
	switch {
	case o.Single && o.Quick:
		s = alone + " answers alone, once."
	case o.Single:
		s = alone + " works alone and refines its answer."
	case o.Quick:
		s = "Each answers once, unseen by the others; the best of it becomes one answer."
	}
	if o.Plan {
		s += " First they make a plan, which you approve."
	}
	return s
}
