package tui

import (
	tea "charm.land/bubbletea/v2"
)

const atHistory Where = "what was said before"

// newHistory is what was said before; Enter puts it into the input.
func newHistory(m *Model) Screen {
	p := &picker{where: atHistory, title: "Said before", full: true, empty: "Nothing was said here before."}
	for _, s := range m.history {
		p.rows = append(p.rows, pick{text: oneLine(s), value: s})
	}
	p.preview = func(m *Model, p pick, width int) []string { return bodyLines(p.value.(string), width) }
	p.chosen = func(m *Model, p pick) tea.Cmd {
		m.closeAll()
		m.inList = false
		m.input.SetText(p.value.(string))
		return nil
	}
	return p
}
