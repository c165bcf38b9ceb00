package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/launch"
	"conclave/internal/view"
)

// watch shows a run, if it is not shown already: at first as a snapshot has it,
// which is nothing of a run that begins. Who looks at another run of a conversation
// with one agent goes on looking at it.
func (m *Model) watch(id event.FlowID, snap view.Snapshot) {
	if m.story != nil && m.story.id == id {
		return
	}
	if !m.inRun() {
		m.leavePast()
	}
	if m.story != nil && m.story != m.past {
		m.feed.leave(m.story.id)
	}
	if m.past == nil {
		m.texts.forget()
		m.lanes.reset()
	}
	m.story, m.unheard = newStory(id), nil
	m.story.opened(snap)
	for _, d := range m.feed.said(id) {
		m.story.hear(d)
	}
	m.feed.follow(id)
}

// begins takes in that a run begins.
func (m *Model) begins(b event.Launched) {
	m.notice.changed()
	m.watch(b.Run, view.Snapshot{})
	if m.past == nil {
		m.tab = m.tabFor(b.Modes)
		return
	}
	task := ""
	if b.Launch != nil {
		task = ": " + launch.Summary(m.texts.of(b.Launch.Task))
	}
	m.notify("Another run has begun" + task + ". You still see the one you have opened; Esc goes back to the conversation.")
}

// take takes in what has come.
func (m *Model) take(b batch) tea.Cmd {
	var cmds []tea.Cmd
	for _, x := range b.items {
		switch {
		case m.job != nil && x.flow == m.job.id && !x.quiet && x.err == nil:
			cmds = append(cmds, m.job.take(m, x))
		case m.crew != nil && x.flow == m.crew.id && !x.quiet && x.err == nil:
			cmds = append(cmds, m.crew.take(m, x))
		case x.err != nil:
			m.feed.leave(x.flow)
			m.notify(fmt.Sprintf("%s cannot be followed: %v. F3 opens it again.", x.flow, x.err))
		case x.quiet:
			cmds = append(cmds, m.fellQuiet(x.flow))
		case x.flow == m.id && x.event.Seq > 0:
			cmds = append(cmds, m.sessionEvent(x.event))
		case x.event.Seq > 0:
			cmds = append(cmds, m.runEvent(x.flow, x.event))
		case m.story != nil && x.flow == m.story.id:
			m.story.hear(*x.delta)
		case x.delta != nil && x.flow == m.id:
			m.talk.hear(*x.delta)
		case x.delta != nil:
			m.feed.early.Publish(*x.delta)
		}
	}
	m.lanes.changed()
	m.attend()
	if s, ok := m.top().(Refresher); ok {
		cmds = append(cmds, s.Refresh(m))
	}
	return tea.Batch(append(cmds, m.attention(), m.leaveAtEnd())...)
}

// applySession takes an event of the conversation in.
func (m *Model) applySession(e event.Event) { m.session = m.session.Apply(e) }

// sessionEvent takes an event of the conversation in, and shows the run that it
// launches.
func (m *Model) sessionEvent(e event.Event) tea.Cmd {
	if e.Seq <= m.session.Seq {
		return nil
	}
	m.applySession(e)
	m.wishes.apply(e)
	m.talkEvent(e)
	switch b := e.Body.(type) {
	case event.Launched:
		m.begins(b)
	case event.Refused:
		if _, want := m.session.Want(b.Ref); !want && e.Agent == "" { // a card tells why a run is not launched
			m.refused(b)
		}
	case event.Closed:
		m.closed(b)
	}
	return nil
}

// runEvent takes an event of a run in.
func (m *Model) runEvent(id event.FlowID, e event.Event) tea.Cmd {
	for _, s := range []*story{m.story, m.past} {
		if s != nil && s.id == id {
			s.apply(e, m.texts.thin(e))
		}
	}
	if m.story == nil || m.story.id != id {
		return nil
	}
	switch b := e.Body.(type) {
	case event.Refused:
		if e.Agent == "" && m.caughtUp() {
			m.refused(b)
		}
	case event.Admitted:
		m.heard(b.Ref)
	case event.Finished:
		m.notice.changed()
		m.tooLate()
	case event.Closed:
		m.closed(b)
	}
	return nil
}

// drivenFlow is what this window drives: the conversation, or the run it is
// open on.
func (m *Model) drivenFlow() event.FlowID {
	if m.id != "" {
		return m.id
	}
	if m.story != nil && !m.story.over() {
		return m.story.id
	}
	return ""
}

// busy reports whether agents are at work for this conversation.
func (m *Model) busy() bool {
	if m.id != "" {
		switch m.session.State() {
		case view.SessionRunning, view.SessionKeeping, view.SessionChatting, view.SessionProcessing:
			return true
		}
		return len(m.session.Heard) > 0
	}
	return m.story != nil && m.story.seq > 0 && !m.story.over()
}

// stalled reports whether agents should be at work and nobody has them work: this
// window could not, and no other process does.
func (m *Model) stalled() bool {
	flow := m.drivenFlow()
	return m.busy() && !m.driver.drives(flow) && !m.feed.hears(flow)
}

// takeUp drives what has come to a stand.
func (m *Model) takeUp() tea.Cmd {
	if !m.stalled() {
		return nil
	}
	return m.driver.ensure(m.drivenFlow())
}

// gates are the questions that wait for the person, oldest first.
func (m *Model) gates() []view.Gate {
	var out []view.Gate
	if m.story != nil && !m.story.over() {
		out = append(out, m.story.card.Gates...)
	}
	return append(out, m.session.Gates...)
}

// drivenEnded takes in that this window does not drive the flow any more.
func (m *Model) drivenEnded(d driven) tea.Cmd {
	m.driver.ended(d)
	if d.err == nil {
		return nil
	}
	if pid, elsewhere := drivenElsewhere(d.err); elsewhere {
		m.notify(fmt.Sprintf("Process %d drives this; you follow it, and what you say goes there.", pid))
		m.feed.overhear(d.flow)
		return nil
	}
	m.notify("It stopped: " + d.err.Error())
	return nil
}

// fellQuiet takes in that the process that drove a flow does not any more. What
// stood still then would look as if it went on: this window takes it up.
func (m *Model) fellQuiet(id event.FlowID) tea.Cmd {
	m.feed.deaf(id)
	if m.job != nil && m.job.id == id {
		return m.job.rouse(m)
	}
	if m.crew != nil && m.crew.id == id {
		return m.crew.fellQuiet(m)
	}
	if id != m.drivenFlow() {
		return nil
	}
	if m.busy() {
		m.notify("The process that drove this is gone; this window goes on with it.")
	}
	return m.driver.ensure(id)
}
