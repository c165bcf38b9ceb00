package tui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// splits reports whether the agents are shown side by side.
func (m *Model) splits(w int) bool { return m.split && m.splitWhy(w) == "" }

// splitWhy is why agents cannot be shown side by side.
func (m *Model) splitWhy(w int) string {
	switch {
	case m.chatting():
		return "Here is one agent: nobody to show beside it."
	case m.shown() == nil:
		return "There is no run yet; type what you want done."
	case len(m.shown().card.Agents) < 2:
		return "There is one agent: nobody to show beside it."
	case w < 2*splitWidth:
		return fmt.Sprintf("Too narrow for two agents side by side: that takes %d columns, and here are %d.", 2*splitWidth, w)
	}
	return ""
}

// splitCount is how many agents fit side by side.
func (m *Model) splitCount(w int) int { return min(len(m.shown().card.Agents), w/splitWidth) }

// splitColumn is how wide each of n columns is, with a bar between them.
func splitColumn(w, n int) int { return max((w-(n-1))/max(n, 1), 1) }

// splitFirst is the first agent of the run that is shown: those around the open
// tab are.
func (m *Model) splitFirst(n int) int {
	all := m.shown().card.Agents
	open := slices.IndexFunc(all, func(l view.AgentLine) bool { return l.ID == m.active() })
	return max(min(open-(n-1)/2, len(all)-n), 0)
}

// splitView draws agents side by side, each with a head, the one of the open tab
// with the focus.
func (m *Model) splitView(w, h int) []string {
	n := m.splitCount(w)
	cw, first := splitColumn(w, n), m.splitFirst(n)
	agents := m.shown().card.Agents
	out := make([]string, h)
	bar := m.theme.Border.Render("│")
	for i := range n {
		a := agents[first+i]
		x := m.laneOf(a.ID)
		head := " " + mark(a.State, a.ID == m.shown().card.Winner) + " " + agentName(a.Label, a.ID) + "  " + stateWords(a)
		style := m.agentStyle(m.shown(), a.ID)
		if m.active() == a.ID {
			style = m.theme.Selected
		}
		column := append([]string{style.Render(text.Pad(text.Cut(head, cw), cw))}, x.view(cw, max(h-1, 0))...)
		left := i * (cw + 1)
		tab := m.tabOf(a.ID)
		m.clickable(left, m.lanes.top, cw, 1, func(m *Model, _, _ int) tea.Cmd { return m.openTab(tab) })
		m.clickable(left, m.lanes.top+1, cw, max(h-1, 0), func(m *Model, _, y int) tea.Cmd {
			m.openTab(tab)
			return m.clickEntry(m.laneOf(a.ID), y)
		})
		for y := range out {
			if i > 0 {
				out[y] += bar
			}
			if y < len(column) {
				out[y] += column[y]
			}
		}
	}
	return out
}

func splitActions() []Action {
	return []Action{{Name: "split", Command: true, Keys: []string{"alt+s"}, Where: Anywhere, Title: "side by side", Hint: 7,
		About: "Show agents side by side, or one at a time again",
		Why: func(m *Model) string {
			if m.split {
				return ""
			}
			return m.splitWhy(m.width)
		},
		Do: func(m *Model, _ string) tea.Cmd {
			m.split = !m.split
			if m.split && m.tab == 0 {
				m.tab = m.tabOf(m.shown().card.Agents[0].ID)
			}
			if !m.split {
				m.notify("One agent at a time.")
			}
			return nil
		}}}
}
