package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// mark is the state of an agent as one character.
func mark(s view.AgentState, winner bool) string {
	if winner {
		return "★"
	}
	switch s {
	case view.StateWorking, view.StatePresenting:
		return "●"
	case view.StateVoted:
		return "✓"
	case view.StateLost:
		return "✗"
	case view.StateDone:
		return "·"
	}
	return "○"
}

// shown is the run on the screen: the newest, or an earlier one looked at.
func (m *Model) shown() *story {
	if m.past != nil {
		return m.past
	}
	return m.story
}

// agents are the agents of the tabs: those of the run, or before there is one
// those of the team.
func (m *Model) agents() []view.AgentLine {
	if s := m.shown(); s != nil {
		return s.card.Agents
	}
	var out []view.AgentLine
	for _, a := range m.team.Agents {
		out = append(out, view.AgentLine{ID: a.ID, Model: a.Model, State: view.StateIdle})
	}
	return out
}

// active is the agent whose tab is open; empty for all together.
func (m *Model) active() event.AgentID {
	if a := m.agents(); m.tab > 0 && m.tab <= len(a) {
		return a[m.tab-1].ID
	}
	return ""
}

// tabs is the line of tabs: all together, then each agent.
func (m *Model) tabs(w int) string {
	line, x := "", 0
	add := func(i int, s string, locked bool) {
		style := m.theme.Dim
		switch {
		case i == m.tab:
			style = m.theme.Selected
		case locked:
			style = m.theme.Locked
		case i > 0:
			style = m.theme.Agent(i - 1)
		}
		cell := style.Render(" " + s + " ")
		m.clickable(x, 0, text.Width(cell), 1, func(m *Model, _, _ int) tea.Cmd { return m.openTab(i) })
		line, x = line+cell, x+text.Width(cell)
	}
	add(0, "All", false)
	s := m.shown()
	lines := m.agents()
	each := max((w-6)/max(len(lines), 1)-4, 3)
	for i, a := range lines {
		name := fmt.Sprintf("%s %s", mark(a.State, s != nil && a.ID == s.card.Winner), text.Clean(string(a.ID)))
		if queued := m.queuedFor(a.ID); queued > 0 {
			name += fmt.Sprintf(" ✉%d", queued)
		}
		if model := text.Cut(text.Clean(shortModel(a.Model)), 16); each > len(name)+len(model)+3 && model != "" {
			name += " " + m.theme.Faint.Render(model)
		}
		add(i+1, text.Cut(name, each), m.greyed(a.ID))
	}
	if room := w - x; room > 12 {
		info := text.Cut(m.question(), room-1)
		line += text.Spaces(room-text.Width(info)) + m.theme.Faint.Render(info)
	}
	return text.Cut(line, w)
}

// greyed reports whether an agent sits out what is said next.
func (m *Model) greyed(a event.AgentID) bool {
	return m.modes.Single && a != m.single()
}

// single is the agent that works alone in single mode.
func (m *Model) single() event.AgentID {
	if m.modes.Agent != "" || len(m.team.Agents) == 0 {
		return m.modes.Agent
	}
	return m.team.Agents[0].ID
}

// question is what the run that is shown is about.
func (m *Model) question() string {
	s := m.shown()
	if s == nil {
		return ""
	}
	turn := ""
	if n := len(m.session.Turns); n > 1 {
		turn = fmt.Sprintf("turn %d · ", n)
	}
	return turn + view.Shorten(m.texts.of(s.card.Task), 60)
}

// shortModel is a model's name without what everybody knows.
func shortModel(s string) string {
	if i := strings.LastIndex(s, "/"); i >= 0 {
		s = s[i+1:]
	}
	return strings.TrimSuffix(s, "-latest")
}

// openTab shows an agent's timeline; in single mode, between runs, it also makes
// it the one who works.
func (m *Model) openTab(i int) tea.Cmd {
	n := len(m.agents())
	m.tab = min(max(i, 0), n)
	if a := m.active(); a != "" && m.modes.Single && !m.busy() {
		m.modes.Agent = a
	}
	return nil
}

// tabFor is the tab to look at when a run begins.
func (m *Model) tabFor(modes event.Modes) int {
	if modes.Single {
		return 1
	}
	return min(m.tab, len(m.agents()))
}
