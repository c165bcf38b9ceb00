package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// title is what the terminal is called.
func (m *Model) title() string {
	about := ""
	if s := m.session.Title(); !s.Empty() {
		about = " – " + view.Shorten(m.texts.of(s), 40)
	}
	switch m.situation() {
	case Gate:
		return text.Clean("? conclave: waiting for you" + about)
	case Running:
		if m.stalled() {
			return text.Clean("conclave: stopped" + about)
		}
		if m.story != nil && m.story.card.Paused {
			return text.Clean("conclave: paused" + about)
		}
		return text.Clean("● conclave: working" + about)
	case Finished:
		return text.Clean("conclave: done" + about)
	}
	return "conclave"
}

// attention calls the person if something waits for them and they look
// elsewhere, once for each occasion. What models have written has no part in it.
func (m *Model) attention() tea.Cmd {
	what, key := m.occasion()
	if key == "" || key == m.called {
		return nil
	}
	m.called = key
	if !m.away || m.o.Look.NoNotify {
		return nil
	}
	return tea.Raw(ansi.Notify("Conclave: "+what) + "\a")
}

// occasion is what the person should know of, and which one it is.
func (m *Model) occasion() (what, key string) {
	if !m.caughtUp() {
		return "", ""
	}
	if gates := m.gates(); len(gates) > 0 {
		g := gates[len(gates)-1]
		switch g.Kind {
		case event.GateOverride:
			what = "the vote is over; you may choose who presents"
		case event.GateLaunch:
			what = "a run waits for your approval"
		case event.GatePlan:
			what = fmt.Sprintf("the plan, revision %d, waits for your review", g.Revision)
		default:
			what = "an agent asks for a permission"
		}
		return what, gateKey(g)
	}
	if m.talks() {
		return m.talkOccasion()
	}
	if s := m.story; s != nil && s.over() && !m.busy() {
		return "the run has ended: " + text.Clean(string(s.card.Status)), "over " + string(s.id)
	}
	return "", ""
}
