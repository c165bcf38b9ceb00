package tui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// A detour is a conversation with all agents, apart from the one with a single
// agent that the window comes back to. That one is let go meanwhile: nothing is
// told there of what is said here.
type detour struct {
	on     bool
	home   event.FlowID // empty if nothing was said there yet
	config string       // of the agents, where the conversation has its own
	name   string       // of the agent that is talked to there
	asked  bool         // something was asked here
}

// coordinate goes over to all agents, or back from there.
func (m *Model) coordinate() tea.Cmd {
	if m.detour.on {
		return m.comeHome()
	}
	d := detour{on: true, home: m.id, config: m.session.Config, name: m.partnerName()}
	freed := m.vacate()
	m.detour, m.aside = d, true
	m.modes = m.team.Modes
	m.notify("All agents work on what you ask here, apart from your conversation with " + d.name + ".")
	return m.later(func(context.Context) func(*Model) tea.Cmd {
		freed()
		return nil
	})
}

// strayed reports whether what was asked of all agents is done: the window is
// about to go back.
func (m *Model) strayed() bool {
	return m.detour.on && m.session.Turns.Len() > 0 && m.homeWhy() == ""
}

// homeWhy is why the window cannot go back to the conversation now.
func (m *Model) homeWhy() string {
	begins := m.detour.asked && m.session.Turns.Len()+len(m.session.Refusals) == 0
	switch {
	case m.busy() || begins:
		return "All agents are at work. Wait for them or stop them (Esc twice); then you can go back to " + m.detour.name + "."
	case len(m.gates()) > 0:
		return "A question waits for you here. Decide it (Ctrl+O); then you can go back to " + m.detour.name + "."
	}
	return ""
}

// seenFor is how long what all agents have come to must have been there before the
// window goes back: a key that was pressed until then was meant for the run.
const seenFor = 2 * time.Second

// unseen reports whether what all agents have come to has only just come. It is
// told once: who presses the key again has seen it.
func (m *Model) unseen() bool {
	if !m.strayed() || m.o.Now().Sub(m.session.Last) >= seenFor || m.again("go back") {
		return false
	}
	m.notify("All agents are done, just now. Esc again goes back to " + m.detour.name + ".")
	return true
}

// comeHome goes back to the conversation. What is typed stays in the input.
func (m *Model) comeHome() tea.Cmd {
	if why := m.homeWhy(); why != "" {
		m.notify(why)
		return nil
	}
	if m.unseen() {
		return nil
	}
	return m.goHome()
}

func (m *Model) goHome() tea.Cmd {
	d, apart := m.detour, ""
	if m.session.Turns.Len() > 0 {
		apart = m.texts.of(m.session.Title())
	}
	if d.home != "" {
		return m.turnAnd(d.home, func(m *Model) { m.talk.apart = apart })
	}
	freed := m.vacate()
	m.talk.apart = apart
	m.notify("Back to " + d.name + ".")
	return m.later(func(context.Context) func(*Model) tea.Cmd {
		freed()
		return nil
	})
}

// detourLines say that this is apart from the conversation, and how to go back.
func (m *Model) detourLines(w int) []string {
	d := m.detour
	switch {
	case !d.on && m.talk.apart != "" && m.chatting():
		return []string{m.theme.Dim.Render(text.Cut(" → What all agents were asked is a conversation of its own, listed with F3: "+view.OneLine(m.talk.apart), w))}
	case !d.on:
		return nil
	}
	style, line := m.theme.Accent, " ← Esc goes back to your conversation with "+d.name+"; this is apart from it"
	switch {
	case m.homeWhy() != "":
		style, line = m.theme.Dim, " ← Your conversation with "+d.name+" waits until all agents are done"
	case m.strayed():
		line = " ← Esc goes back to the conversation with " + d.name + ", which is told nothing of this"
	}
	return []string{style.Render(text.Cut(text.Clean(line), w))}
}

// detourZone makes the line clickable; y is that of the line below it.
func (m *Model) detourZone(y, w int) {
	if m.detour.on {
		m.clickable(0, y-1, w, 1, func(m *Model, _, _ int) tea.Cmd { return m.comeHome() })
	}
}

// carryHome goes back with words that were typed here.
func (m *Model) carryHome(words string) tea.Cmd {
	m.giveBack(words)
	if m.unseen() {
		return nil
	}
	if strings.TrimSpace(words) != "" {
		m.notify("Back to " + m.detour.name + ": Enter says there what you have typed.")
	}
	return m.goHome()
}
