package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
)

// twice is how soon a key must be pressed again to mean it.
const twice = 3 * time.Second

// steerActions are for a run that goes on.
func steerActions() []Action {
	return []Action{
		{Name: "interrupt", Keys: []string{"esc"}, Where: InInput, Title: "interrupt", Hint: 3, Why: nil,
			About: "Stop what is going on and keep what there is (press twice); with nothing going on, go back",
			Do:    (*Model).escape},
		{Name: "cancel", Command: true, Where: Anywhere, Title: "cancel the run", Why: whileRunning,
			About: "Stop what is going on and keep what there is",
			Do:    func(m *Model, _ string) tea.Cmd { return m.cancel() }},
		{Name: "wrapup", Command: true, Aliases: []string{"now"}, Keys: []string{"alt+n"}, Where: Anywhere, Title: "answer now", Why: whileRunning,
			About: "Ask everybody to come to an end with what they have",
			Do:    func(m *Model, _ string) tea.Cmd { return m.tell("Not asked", event.WrapUpRequested{By: by}) }},
	}
}

// escape goes back one step: out of an earlier run, or, pressed twice, out of the
// run that is going on.
func (m *Model) escape(string) tea.Cmd {
	switch {
	case m.past != nil:
		m.past = nil
		m.lanes.reset()
	case !m.busy():
		m.notify("Nothing is running. Ctrl+D leaves.")
	case m.o.Now().Sub(m.escaped) < twice:
		return m.cancel()
	default:
		m.escaped = m.o.Now()
		m.notify("Esc again stops the run and keeps what there is.")
	}
	return nil
}

func (m *Model) cancel() tea.Cmd {
	m.notify("Stopping; what there is will be kept.")
	return m.tell("Not stopped", event.CancelRequested{By: by})
}
