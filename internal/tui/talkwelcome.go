package tui

import (
	"fmt"

	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// unspoken reports whether nothing was said in the conversation yet.
func (m *Model) unspoken() bool {
	return m.session.Turns.Len()+len(m.session.Heard)+len(m.chat().Held)+len(m.chat().Wants) == 0
}

// talkHead is who is talked to, and what about.
func (m *Model) talkHead(w, h int) []string {
	if h < lowHeight || m.unspoken() {
		return nil
	}
	t := &m.theme
	seat := m.partner()
	mark := "○"
	if m.busy() {
		mark = "●"
	}
	line := " " + t.Agent(0).Render(mark+" "+m.partnerName())
	if model := view.OneLine(shortModel(seat.Model)); model != "" {
		line += " " + t.Faint.Render(model)
	}
	line = text.Cut(line, w)
	if room := w - text.Width(line); room > 12 {
		title := text.Cut(view.OneLine(m.texts.of(m.session.Title())), min(room-3, 60))
		line += text.Spaces(room-text.Width(title)-1) + t.Faint.Render(title)
	}
	return []string{line, m.rule(w)}
}

// talkWelcome is what a conversation shows in which nothing was said: who listens,
// who can be set to work, and how that goes.
func (m *Model) talkWelcome(w, h int) []string {
	t := &m.theme
	inner := max(w-4, 1)
	var lines []string
	add := func(more ...string) { lines = append(lines, more...) }
	roomy := h >= len(m.team.Agents)+11
	gap := func() {
		if roomy {
			add("")
		}
	}
	gap()
	add(t.Title.Render("Conclave") + t.Dim.Render("  "+m.talkWords()))
	gap()
	seat := m.partner()
	add(text.Cut(t.Agent(0).Render("○ "+m.partnerName())+"  "+t.Faint.Render(view.Engine(seat.Backend, seat.Model)), inner))
	gap()
	add(t.Strong.Render(text.Cut(m.crewWords(), inner)))
	shown := len(m.team.Agents)
	if room := max(h-len(lines)-4, 1); shown > room {
		shown = max(room-1, 0)
	}
	for i, a := range m.team.Agents[:shown] {
		add(text.Cut(t.Agent(i+1).Render("○ "+view.OneLine(string(a.ID)))+"  "+t.Faint.Render(view.Engine(a.Backend, a.Model)), inner))
	}
	if n := len(m.team.Agents) - shown; n > 0 {
		add(t.Faint.Render(fmt.Sprintf("and %d more", n)))
	}
	gap()
	add(text.Wrap(t.Dim.Render(m.costHint()), inner)...)
	if roomy {
		add(text.Wrap(t.Dim.Render("F3 lists earlier conversations, /project NAME opens a project, F1 helps."), inner)...)
	}
	if m.team.Source != "" {
		add(t.Faint.Render(text.Cut(view.OneLine(m.team.Source), inner)))
	}
	for i, l := range lines {
		lines[i] = text.Cut("  "+l, w)
	}
	return lines
}

func (m *Model) talkWords() string {
	s := "you talk to " + m.partnerName()
	if m.team.Offline {
		s += " (it follows a script: no model is asked)"
	}
	return s
}

// crewWords is how many agents can be set to work.
func (m *Model) crewWords() string {
	if n := len(m.team.Agents); n != 1 {
		return fmt.Sprintf("It answers small things itself and sets %d agents to work on the rest", n)
	}
	return "It answers small things itself and sets 1 agent to work on the rest"
}

// costHint is what is spent, and when.
func (m *Model) costHint() string {
	if m.team.Offline {
		return "Nothing here costs anything."
	}
	s := "Every message is a call of its model; a run is many calls of all who work on it."
	if i := m.team.Interactive; i != nil && i.Approve {
		return s + " You see what a run may cost and approve it before it begins."
	}
	return s + " Runs begin without asking you, as configured."
}
