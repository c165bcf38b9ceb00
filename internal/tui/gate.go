package tui

import (
	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/view"
)

// asked shows a question that waits for the person.
func (m *Model) asked(a event.Asked) tea.Cmd { return nil }

// answered takes the dialog of a question away that has been answered, here or
// elsewhere.
func (m *Model) answered(gate string) {}

// reply answers a question.
func (m *Model) reply(g view.Gate, choice, words string) tea.Cmd {
	id := m.id
	if g.Kind != event.GatePlan && m.story != nil {
		id = m.story.id
	}
	return m.send(id, "Not answered", event.Replied{Gate: g.Gate, Choice: choice, Text: words, Revision: g.Revision, By: by})
}
