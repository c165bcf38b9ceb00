package tui

import (
	"cmp"
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
func (m *Model) turnTo(id event.FlowID) tea.Cmd { return m.turnAnd(id, func(*Model) {}) }

// turnAnd is turnTo, and does something as soon as the other is shown.
func (m *Model) turnAnd(id event.FlowID, then func(*Model)) tea.Cmd {
	if id == m.id || m.id == "" && m.story != nil && id == m.story.id {
		m.closeAll()
		m.notify("That is what this window shows.")
		return nil
	}
	if why := m.held(); why != "" {
		m.notify(why)
		return nil
	}
	c, config := m.c, m.o.Config
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		a, err := arrive(ctx, c, id, config)
		return func(m *Model) tea.Cmd {
			switch why := m.held(); {
			case err != nil:
				m.notify(err.Error())
				return nil
			case why != "": // it has begun meanwhile
				m.notify(why)
				return nil
			}
			freed := m.vacate()
			m.arrived(a)
			then(m)
			return m.later(func(context.Context) func(*Model) tea.Cmd {
				freed()
				return func(m *Model) tea.Cmd { return m.driver.ensure(m.drivenFlow()) }
			})
		}
	})
}

// An arrival is what a window shows first of a flow that is there already.
type arrival struct {
	flow    event.FlowID
	talk    bool // it is a conversation and not a run alone
	session view.Session
	run     event.FlowID // the one to show, if there is any
	snap    view.Snapshot
	team    control.Team
	strange error // why the team cannot be told
}

// arrive finds out about a flow; config is where its agents come from unless it
// says otherwise.
func arrive(ctx context.Context, c Program, id event.FlowID, config string) (arrival, error) {
	a := arrival{flow: id, run: id}
	for e, err := range c.Read(ctx, id) {
		if err != nil {
			return a, fmt.Errorf("%s cannot be read: %w", id, err)
		}
		_, a.talk = e.Body.(event.SessionStarted)
		break
	}
	if a.talk { // however long it is
		snap, err := c.Open(ctx, id)
		if err != nil {
			return a, fmt.Errorf("%s cannot be read: %w", id, err)
		}
		a.session = *snap.Session
	}
	if a.talk {
		a.run = newestRun(a.session)
	}
	if a.run != "" { // whatever is wrong with it, following it tells
		a.snap, _ = c.Open(ctx, a.run)
	}
	a.team, a.strange = c.Team(ctx, cmp.Or(a.session.Config, config))
	return a, nil
}

// newestRun is the run that a conversation is about now.
func newestRun(s view.Session) event.FlowID {
	for _, t := range s.Turns.Backward() {
		if n := len(t.Runs); n > 0 {
			return t.Runs[n-1].ID
		}
	}
	return s.From
}

// arrived shows a flow from here on.
func (m *Model) arrived(a arrival) {
	m.joined(a.team, a.strange)
	if a.talk {
		m.id, m.session, m.modes = a.flow, a.session, a.session.Modes
		m.feed.followFrom(a.flow, a.session.Seq+1)
	}
	if a.run != "" {
		m.watch(a.run, a.snap)
	}
}

// joined takes in who works in the conversation that is shown.
func (m *Model) joined(team control.Team, err error) {
	if err != nil {
		m.notify("Its agents cannot be told: " + err.Error())
		return
	}
	m.team = team
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
