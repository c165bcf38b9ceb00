package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// A zone is a part of the frame that can be clicked.
type zone struct {
	x, y, w, h int
	do         func(m *Model, x, y int) tea.Cmd
}

// clickable marks a part of the frame that is being drawn. What it does is told
// where it was clicked, counted from its own corner.
func (m *Model) clickable(x, y, w, h int, do func(m *Model, x, y int) tea.Cmd) {
	m.zones = append(m.zones, zone{x, y, w, h, do})
}

// mouse takes a click or a turn of the wheel.
func (m *Model) mouse(msg tea.MouseMsg) tea.Cmd {
	at := msg.Mouse()
	switch msg.(type) {
	case tea.MouseWheelMsg:
		lines := 3
		if at.Button == tea.MouseWheelUp {
			lines = -3
		}
		if m.top() != nil {
			m.scrollTop(lines)
			return m.spin.turn(m.quiet != nil)
		}
		m.lane().Scroll(lines)
		return m.spin.turn(m.quiet != nil)
	case tea.MouseClickMsg:
		if at.Button != tea.MouseLeft {
			return nil
		}
		// What is drawn last lies on top.
		for i := len(m.zones) - 1; i >= 0; i-- {
			z := m.zones[i]
			if at.X >= z.x && at.X < z.x+z.w && at.Y >= z.y && at.Y < z.y+z.h {
				return z.do(m, at.X-z.x, at.Y-z.y)
			}
		}
	}
	return nil
}

// A spin keeps a wheel that is spun from having a frame drawn for every notch:
// there may be thousands, and the window would go on scrolling long after.
type spin struct {
	on   bool // a frame will be drawn in a moment
	skip bool // and none before
	last tea.View
}

// spun says that the moment has passed.
type spun struct{}

// turn is a notch of the wheel; without a terminal every one is drawn.
func (s *spin) turn(terminal bool) tea.Cmd {
	if s.skip = s.on; s.on || !terminal {
		return nil
	}
	s.on = true
	return tea.Tick(frameTime, func(time.Time) tea.Msg { return spun{} })
}

// filter drops what a terminal sends far more often than anybody can see, and
// takes a terminal that does not know its size for one as they used to be.
func (m *Model) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	switch msg := msg.(type) {
	case tea.MouseMotionMsg:
		return nil
	case tea.WindowSizeMsg:
		if msg.Width <= 0 || msg.Height <= 0 {
			return tea.WindowSizeMsg{Width: 80, Height: 24}
		}
	}
	return msg
}
