package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/tui/theme"
)

// setTheme takes the theme that was asked for, as it is on this terminal.
func (m *Model) setTheme(name string) {
	if m.o.NoColor {
		name = "none"
	}
	t, ok := theme.Named(name, m.dark)
	if !ok {
		m.notify("There is no theme " + name + ".")
		t, _ = theme.Named("auto", m.dark)
	}
	m.theme = t
	m.lanes.changed()
}

// windowActions are about the window itself.
func windowActions() []Action {
	return []Action{
		{Name: "help", Command: true, Aliases: []string{"?", "h"}, Keys: []string{"f1"}, Where: Anywhere, Title: "help", Hint: 8, About: "Every key and command",
			Do: func(m *Model, _ string) tea.Cmd { m.open(newHelp(m)); return nil }},
		{Name: "quit", Command: true, Aliases: []string{"exit", "q"}, Keys: []string{"ctrl+d"}, Where: Anywhere, Title: "leave", Hint: 9, About: "Leave; nothing is lost",
			Do: func(m *Model, _ string) tea.Cmd { return m.quit() }},
		{Name: "clear_or_quit", Keys: []string{"ctrl+c"}, Where: Anywhere, Title: "clear, leave", About: "Clear the input; with nothing in it, leave (press twice)",
			Do: func(m *Model, _ string) tea.Cmd {
				if !m.input.Empty() {
					m.input.Clear()
					m.notify("Cleared; Ctrl+_ brings it back.")
					return nil
				}
				if !m.busy() && !m.again("leave") {
					m.notifyNow("Press Ctrl+C again to leave.")
					return nil
				}
				return m.quit()
			}},
		{Name: "redraw", Keys: []string{"ctrl+l"}, Where: Anywhere, Title: "redraw", About: "Draw the window anew",
			Do: func(m *Model, _ string) tea.Cmd { m.notify("Drawn anew."); return tea.ClearScreen }},
	}
}

// screenActions are those of the screens.
func screenActions() []Action {
	return slices.Concat(browserActions(), overrideActions(), permissionActions(), launchActions(), planActions(), leaveActions(), confirmActions(), jobScreenActions(), teamActions())
}
