package tui

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

// held is why the window cannot turn to something else: it keeps a run going.
func (m *Model) held() string {
	if m.busy() && m.driver.drives(m.drivenFlow()) {
		return "This window keeps a run going. Stop it (Esc twice), or leave with Ctrl+D and keep it running, then open the other."
	}
	return ""
}

// turnTo turns the window to another flow, and leaves the one it showed as it is.
func (m *Model) turnTo(id event.FlowID) tea.Cmd {
	if id == m.id || m.id == "" && m.story != nil && id == m.story.id {
		m.closeAll()
		m.notify("That is what this window shows.")
		return nil
	}
	if why := m.held(); why != "" {
		m.notify(why)
		return nil
	}
	freed, c, config := m.vacate(), m.c, m.o.Config
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		freed()
		s, session, err := readSession(ctx, c, id)
		if s.Config != "" {
			config = s.Config
		}
		team, strange := c.Team(ctx, config)
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.notify(fmt.Sprintf("%s cannot be read: %v", id, err))
				return nil
			}
			m.joined(team, strange)
			return m.turned(id, s, session)
		}
	})
}

// joined takes in who works in the conversation that is shown.
func (m *Model) joined(team control.Team, err error) {
	if err != nil {
		m.notify("Its agents cannot be told: " + err.Error())
		return
	}
	m.team = team
}

// readSession folds a flow, if it is a conversation.
func readSession(ctx context.Context, c Program, id event.FlowID) (s view.Session, session bool, err error) {
	for e, err := range c.Read(ctx, id) {
		if err != nil {
			return s, false, err
		}
		if _, run := e.Body.(event.RunStarted); run {
			return s, false, nil
		}
		s, session = s.Apply(e), true
	}
	return s, session, nil
}

// turned shows a flow from here on.
func (m *Model) turned(id event.FlowID, s view.Session, session bool) tea.Cmd {
	m.closeAll()
	run := id
	if session {
		m.id, m.session, m.modes = id, s, s.Modes
		m.feed.follow(id)
		run = m.newestRun()
	}
	if run != "" {
		if err := m.watch(run); err != nil {
			m.notify(err.Error())
		}
	}
	return m.driver.ensure(m.drivenFlow())
}

// vacate empties the window: nothing is followed or driven from here any more.
// What it returns waits, outside the loop, until what was driven is free.
func (m *Model) vacate() (freed func()) {
	freed = m.driver.letGo()
	m.feed.leave(m.id)
	for _, s := range []*story{m.story, m.past} {
		if s != nil {
			m.feed.leave(s.id)
		}
	}
	m.conversation = conversation{}
	m.closeAll()
	m.lanes.reset()
	return freed
}

// anew begins a conversation with nothing said yet.
func (m *Model) anew(string) tea.Cmd {
	if m.id == "" && m.story == nil {
		m.notify("This conversation is new: nothing was said yet.")
		return nil
	}
	freed, c, config := m.vacate(), m.c, m.o.Config
	m.modes = m.team.Modes
	m.notify("A new conversation. The one before is kept: F3 lists it.")
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		freed()
		team, err := c.Team(ctx, config)
		return func(m *Model) tea.Cmd {
			if m.joined(team, err); m.id == "" && m.story == nil {
				m.modes = m.team.Modes
			}
			return nil
		}
	})
}
