package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/view"
)

// A hold is a question that waits because its dialog is open here, as far as its
// run has been told.
type hold struct {
	flow event.FlowID
	gate string
	// One thing is said at a time, so that what was meant last is heard last.
	id     string // of what was said last
	saying bool   // it is on its way
	over   bool   // it is that nobody reads the question
	failed bool   // the run could not be told
	taken  bool   // the run has taken it in
	// met is the run of which it is known who was reading when it was opened.
	met event.FlowID
}

// is reports whether h holds a question.
func (h hold) is(g view.Gate) bool { return h.gate == g.Gate && !h.over && !h.failed }

// holding tells the run what is being read here, whenever that has changed.
func (m *Model) holding() tea.Cmd {
	h := &m.hold
	if h.saying {
		return nil
	}
	g, reads := m.reading()
	switch {
	case h.gate != "" && m.settled(h.gate):
		*h = hold{met: h.met}
		return nil
	case h.gate != "" && m.answering(h.gate):
		return nil
	case h.gate != "" && (!reads || g.Gate != h.gate || m.flowOf(g) != h.flow):
		return m.says(*h, false)
	case !reads:
		return m.release()
	case h.gate == "":
		m.meet()
		return m.says(hold{flow: m.flowOf(g), gate: g.Gate, met: h.met}, true)
	case h.taken && !g.Held: // somebody else has read it, or another process has taken the run up
		return m.says(*h, true)
	}
	return nil
}

// reading is the question whose dialog is open, if it would expire. One that has
// opened by itself is not read before somebody touches something: perhaps nobody
// is there.
func (m *Model) reading() (view.Gate, bool) {
	if m.put.unread {
		return view.Gate{}, false
	}
	for i := len(m.screens) - 1; i >= 0; i-- {
		if s, ok := m.screens[i].(gateScreen); ok {
			g, ok := m.gate(s.gateID())
			return g, ok && g.Wait > 0 && !m.answering(g.Gate)
		}
	}
	return view.Gate{}, false
}

// settled reports whether a question of what is shown is not open any more.
func (m *Model) settled(gate string) bool {
	shown := m.hold.flow == m.id || m.story != nil && m.story.id == m.hold.flow
	return shown && !m.asks(gate)
}

// answering reports whether the answer to a question is on its way.
func (m *Model) answering(gate string) bool {
	g, ok := m.gate(gate)
	return ok && m.put.replies[gateKey(g)] != ""
}

// meet reports whether a run has just come to be known as it was when it was
// opened.
func (m *Model) meet() bool {
	if m.story == nil || m.story.seq == 0 || !m.caughtUp() || m.hold.met == m.story.id {
		return false
	}
	m.hold.met = m.story.id
	return true
}

// release lets go of a question that was being read when the window was opened:
// who read it may have been killed, and says so again if not.
func (m *Model) release() tea.Cmd {
	if !m.meet() {
		return nil
	}
	for _, g := range m.story.card.Gates {
		if g.Held {
			return m.says(hold{flow: m.story.id, gate: g.Gate, met: m.hold.met}, false)
		}
	}
	return nil
}

// says tells a run that a question is being read, or no longer.
func (m *Model) says(h hold, on bool) tea.Cmd {
	c, f := m.c, fact(event.Held{Gate: h.gate, On: on, By: by})
	m.hold = hold{flow: h.flow, gate: h.gate, id: f.ID, saying: true, over: !on, met: h.met}
	said := func(failed bool) {
		if m.hold.saying, m.hold.failed = false, failed; !on {
			m.hold = hold{met: m.hold.met}
		}
	}
	return m.sending(func(ctx context.Context) sent {
		return sent{
			what: "The question does not wait", err: c.Send(ctx, h.flow, f),
			failed: func(*Model) { said(true) },
			then:   func(*Model) tea.Cmd { said(false); return nil },
		}
	})
}

// letGo says that a window that is being closed reads nothing any more.
func (m *Model) letGo() {
	if m.hold.gate == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.ctx), patience)
	defer cancel()
	// Where it fails, the next to take the run up does not know of this window.
	_ = m.c.Send(ctx, m.hold.flow, fact(event.Held{Gate: m.hold.gate, By: by}))
}

// aboutHold reports whether a verdict is about such words, which nobody has
// written.
func aboutHold(ref string) bool { return strings.HasPrefix(ref, event.Kind(event.Held{})+"/") }
