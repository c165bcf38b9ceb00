package tui

import (
	"fmt"

	"conclave/internal/tui/text"
)

// below is the line that says that there is more below what is seen.
func (m *Model) below(w int) []string {
	if m.shown() == nil && !m.chatting() || m.lane().Following() {
		return nil
	}
	what := "the newest is further down"
	if n := m.lane().Below(); n > 0 {
		what = fmt.Sprintf("%d new below", n)
	}
	key := ""
	if a, ok := m.byName(m.lastAction()); ok && len(a.Keys) > 0 {
		key = " (" + keyName(a.Keys[0]) + ")"
	}
	return []string{m.theme.Accent.Render(text.Cut(" ↓ "+what+key, w))}
}

// lastAction goes to the newest from where the keys are.
func (m *Model) lastAction() string {
	if m.inList {
		return "select_last"
	}
	return "last"
}
