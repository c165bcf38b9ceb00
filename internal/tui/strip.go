package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
)

// below is the line that says that there is more below what is seen.
func (m *Model) below(w int) []string {
	if m.story == nil || m.lane().Following() {
		return nil
	}
	what := "the newest is further down"
	if n := m.lane().Below(); n > 0 {
		what = fmt.Sprintf("%d new below", n)
	}
	return []string{m.theme.Accent.Render(" ↓ " + what + " (End)")}
}

// queue are the messages to agents that wait, and what became of the last ones.
func (m *Model) queue(w int) []string { return nil }

// queuedFor is how many messages an agent has not read yet.
func (m *Model) queuedFor(a event.AgentID) int { return 0 }

// message says something to agents at work.
func (m *Model) message(s string) tea.Cmd {
	return m.tell("Not sent", event.Messaged{Text: event.Inline(s), By: by})
}
