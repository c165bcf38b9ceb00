package tui

import (
	"slices"
	"strings"

	"conclave/internal/tui/text"
)

// footer is the last line of the main view.
func (m *Model) footer(w int) string {
	if m.inList {
		return m.lastLine(w, InList, Anywhere)
	}
	return m.lastLine(w, InInput, Anywhere)
}

// lastLine is what the window has to say, or else which keys of some places help
// most now.
func (m *Model) lastLine(w int, where ...Where) string {
	if n := m.notice.at(m.o.Now()); n != "" {
		return text.Cut(" "+m.theme.Warn.Render(text.Clean(strings.ReplaceAll(n, "\n", " "))), w)
	}
	return m.hints(w, where...)
}

// hints are the keys of some places that can be used now, as many as there is
// room for, the most useful first.
func (m *Model) hints(w int, where ...Where) string {
	var best []Action
	taken := map[string]bool{} // a key means what it means in the first place
	for _, w := range where {
		for _, a := range m.table {
			if a.Where != w || len(a.Keys) == 0 || taken[a.Keys[0]] {
				continue
			}
			taken[a.Keys[0]] = true
			if a.Hint > 0 && a.why(m) == "" {
				best = append(best, a)
			}
		}
	}
	slices.SortStableFunc(best, func(a, b Action) int { return a.Hint - b.Hint })
	line := ""
	for _, a := range best {
		s := " " + m.theme.Key.Render(keyName(a.Keys[0])) + " " + m.theme.Dim.Render(a.Title) + " "
		if text.Width(line)+text.Width(s) > w {
			break
		}
		line += s
	}
	return line
}
