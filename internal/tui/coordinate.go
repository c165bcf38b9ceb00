package tui

import tea "charm.land/bubbletea/v2"

// coordinate goes over to all agents.
func (m *Model) coordinate() tea.Cmd { return nil }
