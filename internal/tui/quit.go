package tui

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
)

const atLeaving Where = "leaving"

// quit leaves. While a run goes on that this window drives, it asks what is to
// become of it.
func (m *Model) quit() tea.Cmd {
	flow := m.drivenFlow()
	if m.story != nil && m.story.over() && m.session.Running == m.story.id && m.busy() && m.driver.drives(flow) {
		m.leaving = true // the run is over, and the conversation is about to know
		return nil
	}
	if m.busy() && m.driver.drives(flow) {
		m.open(&ask{where: atLeaving, title: "Leave while agents are at work?", words: "Esc stays; Ctrl+C again leaves it as it is."})
		return nil
	}
	m.part()
	return tea.Quit
}

// part has it said on the ordinary terminal how to come back.
func (m *Model) part() {
	id := m.comeback()
	switch {
	case id == "":
	case m.stalled():
		m.parting = fmt.Sprintf("It stands still until somebody takes it up: conclave resume %s", id)
	case m.busy():
		m.parting = fmt.Sprintf("It goes on in another process. Come back with: conclave resume %s", id)
	default:
		m.parting = fmt.Sprintf("Go on with: conclave resume %s", id)
	}
}

// Parting is what is to be said on the ordinary terminal once the window is
// closed.
func (m *Model) Parting() string { return m.parting }

// comeback is the flow that this window is about.
func (m *Model) comeback() event.FlowID {
	if m.id != "" || m.story == nil {
		return m.id
	}
	return m.story.id
}

// background hands what this window drives to a process of its own, and leaves.
func (m *Model) background() tea.Cmd {
	m.closeTop()
	flow := m.drivenFlow()
	if !m.driver.drives(flow) {
		m.part()
		return tea.Quit
	}
	m.notify("Handing over to a background process.")
	freed := m.driver.letGo()
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		freed()
		pid, err := m.c.Background(ctx, flow, nil)
		if err != nil { // another window may have been quicker
			if d, driven, e := m.c.Driver(ctx, flow); e == nil && driven {
				pid, err = d.PID, nil
			}
		}
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.notify("It stays here: " + err.Error())
				return m.driver.ensure(flow)
			}
			m.parting = fmt.Sprintf("It goes on in process %d. Come back with: conclave resume %s", pid, flow)
			return tea.Quit
		}
	})
}

// leaveAtEnd closes the window once the run has ended, if that was asked for. Who
// leaves a conversation does not wait until its agent has spoken about the run.
func (m *Model) leaveAtEnd() tea.Cmd {
	switch {
	case !m.leaving:
		m.hushed = false
		return nil
	case !m.busy():
		m.part()
		return tea.Quit
	case m.talks() && !m.hushed && !m.runGoesOn() && m.chat().Turn != nil:
		m.hushed = true
		return m.send(m.id, fact(event.CancelRequested{By: by}), "Not stopped", nil)
	}
	return nil
}

func leaveActions() []Action {
	return []Action{
		{Name: "leave_background", Keys: []string{"b"}, Where: atLeaving, Title: "keep it running", Hint: 1,
			About: "Keep it running in a background process",
			Do:    func(m *Model, _ string) tea.Cmd { return m.background() }},
		{Name: "leave_resumable", Keys: []string{"l", "ctrl+c"}, Where: atLeaving, Title: "leave it", Hint: 2,
			About: "Leave it as it is, to be resumed later",
			Do: func(m *Model, _ string) tea.Cmd {
				m.parting = fmt.Sprintf("It stands still until somebody takes it up: conclave resume %s", m.comeback())
				return tea.Quit
			}},
		{Name: "leave_cancel", Keys: []string{"c"}, Where: atLeaving, Title: "cancel it", Hint: 3,
			About: "Cancel it, keep what there is, and leave when it has ended",
			Do: func(m *Model, _ string) tea.Cmd {
				m.closeTop()
				m.leaving, m.hushed = true, m.talks() && !m.runGoesOn() // else it is stopped already
				cmd := m.cancel()
				m.notifyNow("Stopping; the window closes when the run has ended. Esc stays.")
				return tea.Batch(cmd, m.leaveAtEnd())
			}},
	}
}
