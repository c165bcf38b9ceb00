package tui

import (
	tea "charm.land/bubbletea/v2"
)

// lookActions are for looking around: the browsers, and what is done with what
// is seen there. Each browser has a key for everywhere and, as the timeline has
// no use for letters, a letter there.
func lookActions() []Action {
	var out []Action
	for _, b := range browsers() {
		out = append(out, b.Action)
		if b.letter != "" {
			a := b.Action
			a.Name, a.Command, a.Aliases, a.Args = "timeline_"+a.Name, false, nil, ""
			a.Keys, a.Where, a.Hint = []string{b.letter}, InList, b.hint
			out = append(out, a)
		}
	}
	return append(out, errandActions()...)
}

// A browser is a screen to look around in, and the action that opens it.
type browser struct {
	Action
	letter string // in the timeline
	hint   int    // there
}

func browsers() []browser {
	open := func(f func(*Model) Screen) func(*Model, string) tea.Cmd {
		return func(m *Model, _ string) tea.Cmd { m.open(f(m)); return nil }
	}
	return []browser{
		{Action{Name: "palette", Command: true, Aliases: []string{"commands"}, Keys: []string{"f2", "alt+x"}, Where: Anywhere, Title: "commands", Hint: 6,
			About: "Everything that can be done now, with its key", Do: open(newPalette)}, "", 0},
	}
}
