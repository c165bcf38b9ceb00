package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/tui/text"
)

// How large the window must be for a part of it to be shown.
const (
	lowHeight  = 16 // below: one line for the agents and their state, no hints
	splitWidth = 50 // of each agent in the split view
	maxInput   = 8  // lines
)

// View draws the frame.
func (m *Model) View() tea.View {
	if m.spin.skip {
		return m.spin.last
	}
	v := tea.NewView("")
	v.AltScreen, v.ReportFocus = true, true
	v.WindowTitle = m.title()
	if !m.o.Look.NoMouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	v.Content, v.Cursor = m.frame()
	m.spin.last = v
	return v
}

// frame is the whole window as text: exactly its height in lines, each exactly
// its width in cells.
func (m *Model) frame() (string, *tea.Cursor) {
	m.zones = m.zones[:0]
	w, h := max(m.width, 1), max(m.height, 1)
	if s := m.top(); s != nil && s.Full() {
		return join(m.fullScreen(s, w, h), w, h), nil
	}
	s := m.top()
	if s == nil {
		lines, cursor := m.mainView(w, h)
		return join(lines, w, h), cursor
	}
	return join(m.dialog(s, m.under(w, h), w, h), w, h), nil
}

// under is what lies below a dialog: the browser it was opened from, or the main
// view.
func (m *Model) under(w, h int) []string {
	for i := len(m.screens) - 1; i >= 0; i-- {
		if s := m.screens[i]; s.Full() {
			return text.Fit(m.fullScreen(s, w, h), w, h)
		}
	}
	lines, _ := m.mainView(w, h)
	return lines
}

func join(lines []string, w, h int) string {
	return text.Steady(strings.Join(text.Fit(lines, w, h), "\n"))
}

// mainView is the view without anything on top of it.
func (m *Model) mainView(w, h int) ([]string, *tea.Cursor) {
	foot, x, y, popup := m.foot(w, h)
	head := m.head(w, h)
	room := max(h-len(head)-len(foot), 0)
	m.lanes.top, m.lanes.room = len(head), room
	lines := append(head, m.body(w, room)...)
	lines = text.Fit(lines, w, len(head)+room)
	// Menus of the input lie over the end of the body.
	popup = popup[max(len(popup)-len(lines), 0):]
	at := len(lines) - len(popup)
	copy(lines[at:], popup)
	for i := range popup {
		m.clickable(0, at+i, w, 1, func(m *Model, _, _ int) tea.Cmd { return m.clickPopup(i) })
	}
	var cursor *tea.Cursor
	if !m.inList && m.top() == nil {
		cursor = tea.NewCursor(x, len(lines)+y)
	}
	lines = append(lines, foot...)
	return lines, cursor
}

// head is who works and how things stand.
func (m *Model) head(w, h int) []string {
	if m.chatting() {
		return m.talkHead(w, h)
	}
	if m.inRun() {
		return m.runHead(w, func() []string { return m.teamHead(w, h) })
	}
	if m.story == nil {
		return nil
	}
	return m.teamHead(w, h)
}

// teamHead is who works on a run.
func (m *Model) teamHead(w, h int) []string {
	lines := []string{m.tabs(w)}
	if h < lowHeight {
		return append(lines, m.consensus(w))
	}
	return append(lines, m.ribbon(w), m.consensus(w), m.rule(w))
}

func (m *Model) rule(w int) string { return m.theme.Border.Render(strings.Repeat("─", w)) }

// body is the timeline, or several side by side, or the welcome.
func (m *Model) body(w, h int) []string {
	switch {
	case m.chatting() && m.unspoken():
		return m.talkWelcome(w, h)
	case m.chatting():
		return m.laneView(w, h)
	case m.story == nil && m.session.Turns.Len()+len(m.session.Heard) == 0:
		return m.welcome(w, h)
	case m.splits(w):
		return m.splitView(w, h)
	}
	return m.laneView(w, h)
}

// foot is everything below the timeline; x and y are where the cursor is in it.
func (m *Model) foot(w, h int) (lines []string, x, y int, popup []string) {
	at := func(more ...string) { lines = append(lines, more...) }
	at(m.below(w)...)
	at(m.waits(w)...)
	at(m.queue(w)...)
	at(m.detourLines(w)...)
	mode := len(lines)
	at(m.bar(w))
	inputLines, x, y, popup := m.inputView(w, h)
	y += len(lines)
	at(inputLines...)
	at(m.footer(w, h)...)
	m.barZones(h-len(lines)+mode, w)
	return lines, x, y, popup
}

// bar is the line above the input: the modes, or what a conversation with one
// agent is about.
func (m *Model) bar(w int) string {
	if m.talks() {
		return m.contextBar(w)
	}
	return m.modeBar(w)
}

func (m *Model) barZones(y, w int) {
	m.detourZone(y, w)
	if m.talks() {
		m.contextZones(y, w)
		return
	}
	m.modeZones(y, w)
}
