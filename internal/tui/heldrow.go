package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// heldRows are the lines above the input about what was said and the agent has
// not heard yet: the newest of them, and what becomes of them.
func (m *Model) heldRows(w int) []string {
	type line struct {
		text event.Content
		fate string
	}
	var all []line
	for _, h := range m.chat().Held {
		all = append(all, line{h.Text, m.heldFate(w)})
	}
	for _, h := range m.session.Heard {
		if h.Said != nil {
			all = append(all, line{h.Said.Text, "on its way"})
		}
	}
	rows := 3
	if m.height < lowHeight {
		rows = 1
	}
	var out []string
	if n := len(all) - rows; n > 0 {
		out = append(out, m.theme.Dim.Render(text.Cut(" ✉ "+moreHeld(n), w)))
		all = all[n:]
	}
	for i, l := range all {
		fate := l.fate
		if i == len(all)-1 && len(m.chat().Held) > 0 && w >= 80 {
			fate += " (↑ edits, Alt+Z removes)"
		}
		out = append(out, m.heldLine(l.text, fate, w))
	}
	return out
}

func moreHeld(n int) string {
	if n == 1 {
		return "1 more is held"
	}
	return fmt.Sprintf("%d more are held", n)
}

// heldFate is when what is held will be heard.
func (m *Model) heldFate(w int) string {
	long := w >= barRoom
	switch {
	case m.runGoesOn() && long:
		return "held until the run ends"
	case m.session.State() == view.SessionAwaiting && long:
		return "held until you have decided"
	case m.runGoesOn() || m.session.State() == view.SessionAwaiting:
		return "held"
	case m.busy() && long:
		return "heard after the next step"
	}
	return "on its way"
}

func (m *Model) heldLine(words event.Content, fate string, w int) string {
	head := " ✉ "
	room := w - text.Width(head) - text.Width(fate) - 4
	line := head
	if room > 4 {
		line += text.Cut(text.Clean(view.OneLine(m.texts.of(words))), room) + " – "
	}
	return m.theme.User.Render(text.Cut(line+fate, w))
}

// withHeld is why nothing can be taken back.
func withHeld(m *Model) string {
	switch {
	case !m.talks():
		return notTalking
	case len(m.chat().Held) == 0:
		return "Nothing is held that could be taken back."
	}
	return ""
}

// edits reports whether a key, with nothing typed, takes back what is held: it is
// nearer than what was said before.
func (m *Model) edits(msg tea.KeyPressMsg) bool {
	return msg.Keystroke() == "up" && m.chatting() && m.input.Empty() && len(m.chat().Held) > 0 && len(m.talk.back) == 0
}
