package tui

import (
	"conclave/internal/event"
	"conclave/internal/live"
	"conclave/internal/view"
)

// A story is one run as it is shown: folds of its events, and what its agents
// are saying at the moment. The events are thin (texts.thin).
type story struct {
	id      event.FlowID
	seq     uint64 // of the last event taken in
	until   uint64 // of the last event when it was opened: later ones are news
	started event.RunStarted

	card     view.Card
	timeline view.Timeline
	cost     view.Cost
	result   view.Result
	answers  view.Answers
	tools    view.Tools
	tasks    view.Tasks
	shells   view.Shells
	saying   map[event.AgentID]*speech
	wishes   wishes
	messages view.Messages

	// wrapping: everybody has been told to come to an end.
	wrapping bool
	// behind is what card and result are made of: they stay as a snapshot has
	// them until the events have caught up with it.
	behind view.Snapshot
}

func newStory(id event.FlowID) *story {
	return &story{id: id, saying: map[event.AgentID]*speech{}}
}

// opened is a story as a snapshot shows it, before its events are there.
func (s *story) opened(snap view.Snapshot) {
	s.card, s.result, s.until = snap.Card, snap.Result, snap.Seq
}

// apply takes in an event, once. Thin is what is kept of it; what reads long
// texts and keeps none of them is given all of it.
func (s *story) apply(full, thin event.Event) {
	e := thin
	if e.Seq <= s.seq {
		return
	}
	s.seq = e.Seq
	switch b := e.Body.(type) {
	case event.RunStarted:
		s.started = b
	case event.Warned:
		s.wrapping = s.wrapping || e.Agent == ""
	}
	s.behind.Card, s.behind.Result = s.behind.Card.Apply(e), s.behind.Result.Apply(e)
	if s.seq >= s.until {
		s.card, s.result = s.behind.Card, s.behind.Result
	}
	s.timeline = s.timeline.Apply(e)
	s.cost = s.cost.Apply(e)
	s.wishes.apply(e)
	s.messages = s.messages.Apply(e)
	s.answers = s.answers.Apply(e)
	s.tools = s.tools.Apply(e)
	s.tasks = s.tasks.Apply(full)
	s.shells = s.shells.Apply(full)
	s.silence(e)
}

// silence drops live text that an event says, or that nobody says any more.
func (s *story) silence(e event.Event) {
	switch e.Body.(type) {
	case event.Lost:
		delete(s.saying, e.Agent)
		return
	case event.Finished:
		clear(s.saying)
		return
	}
	if p, ok := live.Said(e); ok {
		s.speech(e.Agent).end(p)
	}
}

// hear takes in live text.
func (s *story) hear(d live.Delta) { s.speech(d.Agent).hear(d) }

// speech is that of an agent.
func (s *story) speech(a event.AgentID) *speech {
	now := s.saying[a]
	if now == nil {
		now = &speech{}
		s.saying[a] = now
	}
	return now
}

// name is an agent by its label, which it has in this run alone, and its id.
func (s *story) name(a event.AgentID) string {
	l := view.AgentLine{}
	if s != nil {
		l, _ = s.card.Agent(a)
	}
	return agentName(l.Label, a)
}

// over reports whether the run has ended.
func (s *story) over() bool { return s.card.Status != "" }
