package tui

import (
	"slices"

	"conclave/internal/tui/text"
)

// footer is the end of the main view: what the window has to say, or else which
// keys help most now.
func (m *Model) footer(w, h int) []string {
	switch {
	case m.top() == nil:
	case h < lowHeight:
		return nil
	default: // what is on top has its own keys, and says what there is to say
		return []string{""}
	}
	if n := m.noticed(w); n != nil || h < lowHeight {
		return n
	}
	if m.inList {
		return []string{m.hints(w, InList, Anywhere)}
	}
	return []string{m.hints(w, InInput, Anywhere)}
}

// screenFoot is the end of a screen. Its keys are always seen: they may be what
// decides.
func (m *Model) screenFoot(s Screen, w int) []string {
	return append(m.noticed(w), m.hints(w, s.Where(), InDialog))
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
		s := " " + m.theme.Key.Render(keyName(a.Keys[0])) + " " + m.theme.Dim.Render(a.title(m)) + " "
		if text.Width(line)+text.Width(s) > w {
			break
		}
		line += s
	}
	return line
}
