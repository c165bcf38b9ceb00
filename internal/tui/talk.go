package tui

import (
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/live"
	"conclave/internal/tui/input"
	"conclave/internal/view"
)

// talking is what the window has of a conversation with one agent besides what
// its events say.
type talking struct {
	chat   *lane   // the conversation as it is shown
	saying *speech // what the agent is saying right now
	said   []unheard
	next   []input.Submit // to be said once the session has begun
	// back is what is being taken back to be written anew, by the id of the fact
	// that takes it back.
	back map[string]string
	// apart is what all agents were asked apart from this, until something is said
	// here.
	apart string
}

// talks reports whether the conversation is one with an agent of its own: the one
// that is open, or the one that begins with what is said next.
func (m *Model) talks() bool {
	switch {
	case m.session.Kind != "":
		return m.session.Kind != event.SessionCoordinate
	case m.id == "" && m.story != nil:
		return false
	}
	return m.o.Interactive && m.team.Interactive != nil && !m.aside
}

// chatting reports whether a conversation with one agent is what is seen, and not
// a run of it.
func (m *Model) chatting() bool { return m.talks() && m.past == nil }

// chat is what the events say of the conversation besides its turns.
func (m *Model) chat() view.Talk {
	if m.session.Talk == nil {
		return view.Talk{}
	}
	return *m.session.Talk
}

// partner is the agent that is talked to.
func (m *Model) partner() event.Seat {
	if s := m.chat().Staffed.Seat; s.Agent != "" {
		return s
	}
	if i := m.team.Interactive; i != nil {
		return event.Seat{Agent: i.Agent.ID, Backend: i.Agent.Backend, Model: i.Agent.Model}
	}
	return event.Seat{}
}

// partnerName is the agent that is talked to as people read it.
func (m *Model) partnerName() string {
	if a := m.partner().Agent; a != "" {
		return view.OneLine(string(a))
	}
	if c := m.chat().Client; c != "" {
		return view.OneLine(c)
	}
	return "the agent"
}

// hear takes in what the agent is saying right now.
func (t *talking) hear(d live.Delta) {
	if t.saying == nil {
		t.saying = &speech{}
	}
	t.saying.hear(d)
}

// silence drops what an event of the conversation says, or nobody says any more.
func (t *talking) silence(e event.Event) {
	if t.saying == nil {
		return
	}
	if p, ok := live.Said(e); ok {
		t.saying.end(p)
	}
	if _, over := e.Body.(event.Concluded); over {
		t.saying.parts = nil
		t.saying.version++
	}
}

// talkEvent takes in what an event of the conversation means for the window.
func (m *Model) talkEvent(e event.Event) {
	m.talk.silence(e)
	switch b := e.Body.(type) {
	case event.Admitted:
		m.tookBack(b.Ref)
		m.talk.verdict(b.Ref)
	case event.Refused:
		delete(m.talk.back, b.Ref)
		if words, ok := m.talk.verdict(b.Ref); ok {
			m.giveBack(words)
		}
	}
}

// verdict forgets what was said and is decided about, and returns the words.
func (t *talking) verdict(id string) (words string, ok bool) {
	i := slices.IndexFunc(t.said, func(x unheard) bool { return x.id == id })
	if i < 0 {
		return "", false
	}
	words = t.said[i].words
	t.said = slices.Delete(t.said, i, i+1)
	return words, true
}

// tookBack puts words into the input that the agent will not hear any more.
func (m *Model) tookBack(id string) {
	words, ok := m.talk.back[id]
	if !ok {
		return
	}
	delete(m.talk.back, id)
	if words == "" {
		m.notify("Taken back; it is in the history (↑).")
		return
	}
	if !m.input.Empty() {
		words = words + "\n" + m.input.Text()
	}
	m.input.SetText(words)
	m.inList = false
}

// talkOccasion is what the person should know of when nothing waits for them: the
// agent has answered.
func (m *Model) talkOccasion() (what, key string) {
	t, any := m.session.Turns.Last()
	if !any || m.busy() {
		return "", ""
	}
	return "you are answered", "over " + t.ID
}

// copySaid copies what the agent said last, or last in turn N.
func (m *Model) copySaid(args string) tea.Cmd {
	turns := m.session.Turns
	n, err := strconv.Atoi(args)
	if err != nil || n < 1 || n > turns.Len() {
		n = 0
	}
	for i, t := range turns.Backward() {
		if n > 0 && i != n-1 {
			continue
		}
		for _, s := range t.Steps.Backward() {
			if s.Kind == view.StepText && !s.Text.Empty() {
				return m.copy(m.texts.of(s.Text))
			}
		}
	}
	m.notify("There is no answer to copy.")
	return nil
}
