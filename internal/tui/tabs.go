package tui

import (
	"fmt"
	"slices"
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

// agents are the agents of the tabs: the team as configured with what each of
// them does in the run that is shown, and whoever else is in that run. Of an
// earlier run it is those who were in it.
func (m *Model) agents() []view.AgentLine {
	if m.past != nil {
		return m.past.card.Agents
	}
	return m.agentsIn(m.story)
}

// nameOf is an agent by its label in the run that is shown, and its id.
func (m *Model) nameOf(a event.AgentID) string { return m.shown().name(a) }

// agentsIn are the agents of the team and of a run.
func (m *Model) agentsIn(s *story) []view.AgentLine {
	var out []view.AgentLine
	for _, a := range m.team.Agents {
		l := view.AgentLine{ID: a.ID, Model: a.Model, State: view.StateIdle}
		if s != nil {
			if own, ok := s.card.Agent(a.ID); ok {
				l = own
			}
		}
		out = append(out, l)
	}
	if s == nil {
		return out
	}
	for _, l := range s.card.Agents {
		if !slices.ContainsFunc(out, func(o view.AgentLine) bool { return o.ID == l.ID }) {
			out = append(out, l)
		}
	}
	return out
}

// tabOf is the tab of an agent, 0 if it has none.
func (m *Model) tabOf(a event.AgentID) int {
	return slices.IndexFunc(m.agents(), func(l view.AgentLine) bool { return l.ID == a }) + 1
}

// active is the agent whose tab is open; empty for all together.
func (m *Model) active() event.AgentID {
	if a := m.agents(); m.tab > 0 && m.tab <= len(a) {
		return a[m.tab-1].ID
	}
	return ""
}

// A tab is one cell of the line of tabs.
type tab struct {
	at     int
	words  string
	locked bool
}

// tabs is the line of tabs: all together, then each agent. Where they do not all
// fit, those around the open one are shown.
func (m *Model) tabs(w int) string {
	cells := m.tabCells(w)
	first, last := fitting(cells, m.tab, w)
	line, x := "", 0
	put := func(s string) { line, x = line+s, x+text.Width(s) }
	if first > 0 {
		m.clickable(x, 0, 2, 1, func(m *Model, _, _ int) tea.Cmd { return m.openTab(m.tabAfter(-1)) })
		put(m.theme.Dim.Render("‹ "))
	}
	for _, c := range cells[first:last] {
		style := m.theme.Dim
		switch {
		case c.at == m.tab:
			style = m.theme.Selected
		case c.locked:
			style = m.theme.Locked
		case c.at > 0:
			style = m.agentStyle(m.shown(), m.agents()[c.at-1].ID)
		}
		m.clickable(x, 0, text.Width(c.words), 1, func(m *Model, _, _ int) tea.Cmd { return m.openTab(c.at) })
		put(style.Render(c.words))
	}
	if last < len(cells) {
		m.clickable(x, 0, 2, 1, func(m *Model, _, _ int) tea.Cmd { return m.openTab(m.tabAfter(1)) })
		put(m.theme.Dim.Render(" ›"))
	}
	if room := w - x; room > 12 {
		info := text.Cut(m.question(), room-2)
		line += text.Spaces(room-text.Width(info)-1) + m.theme.Faint.Render(info)
	}
	return text.Cut(line, w)
}

// tabCells are all tabs, each as short as it has to be.
func (m *Model) tabCells(w int) []tab {
	cells := []tab{{0, " All ", false}}
	s := m.shown()
	lines := m.agents()
	each := max((w-5)/max(len(lines), 1)-2, 8)
	for i, a := range lines {
		name := mark(a.State, s != nil && a.ID == s.card.Winner) + " " + view.OneLine(string(a.ID))
		queued := ""
		if n := m.queuedFor(a.ID); n > 0 {
			queued = fmt.Sprintf(" ✉%d", n)
		}
		name = text.Cut(name, max(each-text.Width(queued), 4)) + queued
		if model := text.Cut(view.OneLine(shortModel(a.Model)), 16); model != "" && text.Width(name)+text.Width(model)+1 <= each && w >= 60 {
			name += " " + model
		}
		locked := m.greyed(a.ID)
		if locked && m.theme.Name == "none" {
			name = "(" + name + ")" // greyed where there is no grey
		}
		cells = append(cells, tab{i + 1, " " + name + " ", locked})
	}
	return cells
}

// fitting is which of the cells fit in w, the one at open among them.
func fitting(cells []tab, open, w int) (first, last int) {
	width := func(i, j int) (n int) {
		for _, c := range cells[i:j] {
			n += text.Width(c.words)
		}
		if i > 0 {
			n += 2
		}
		if j < len(cells) {
			n += 2
		}
		return n
	}
	first, last = 0, len(cells)
	for width(first, last) > w && last > open+1 {
		last--
	}
	for width(first, last) > w && first < open {
		first++
	}
	return first, last
}

// tabAfter is the tab n further; side by side only those who are in the run.
func (m *Model) tabAfter(n int) int {
	if m.splits(m.width) {
		all := m.shown().card.Agents
		at := slices.IndexFunc(all, func(l view.AgentLine) bool { return l.ID == m.active() })
		return m.tabOf(all[((max(at, 0)+n)%len(all)+len(all))%len(all)].ID)
	}
	tabs := len(m.agents()) + 1
	return ((m.tab+n)%tabs + tabs) % tabs
}

// greyed reports whether an agent sits out what is said next.
func (m *Model) greyed(a event.AgentID) bool {
	return m.modes.Single && a != m.single()
}

// single is the agent that works alone in single mode.
func (m *Model) single() event.AgentID { return m.singleOf(m.modes) }

func (m *Model) singleOf(o event.Modes) event.AgentID {
	if o.Agent != "" || len(m.team.Agents) == 0 {
		return o.Agent
	}
	return m.team.Agents[0].ID
}

// question is what the run that is shown is about.
func (m *Model) question() string {
	s := m.shown()
	if s == nil || m.inRun() { // which has a title
		return ""
	}
	turn := ""
	if n := m.session.Turns.Len(); n > 1 {
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
	was, alone := m.tab, m.single()
	m.tab = min(max(i, 0), len(m.agents()))
	if m.tab == 0 {
		m.split = false
	}
	if a := m.active(); a != "" && m.modes.Single && !m.busy() {
		m.modes.Agent = a
	}
	if m.tab == was && m.single() == alone {
		m.notify("That tab is open already.")
	}
	return nil
}

// tabFor is the tab to look at when a run begins.
func (m *Model) tabFor(modes event.Modes) int {
	if modes.Single {
		return m.tabOf(m.singleOf(modes))
	}
	return min(m.tab, len(m.agents()))
}
