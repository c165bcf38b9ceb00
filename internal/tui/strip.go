package tui

import "fmt"

// below is the line that says that there is more below what is seen.
func (m *Model) below(w int) []string {
	if m.story == nil || m.lane().Following() {
		return nil
	}
	what := "the newest is further down"
	if n := m.lane().Below(); n > 0 {
		what = fmt.Sprintf("%d new below", n)
	}
	return []string{m.theme.Accent.Render(" ↓ " + what + " (End)")}
}
