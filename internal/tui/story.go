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
	jobs     view.Jobs
	saying   map[event.AgentID]*speech
	wishes   wishes
	messages view.Messages

	// wrapping: everybody has been told to come to an end.
	wrapping bool
	// driven: somebody drives it, as far as we know.
	driven bool
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
	if s.seq == 0 { // whatever a snapshot said, the log says it again
		s.card, s.result = view.Card{}, view.Result{}
	}
	s.seq = e.Seq
	switch b := e.Body.(type) {
	case event.RunStarted:
		s.started = b
	case event.Warned:
		s.wrapping = s.wrapping || e.Agent == ""
	}
	s.card = s.card.Apply(e)
	s.timeline = s.timeline.Apply(e)
	s.cost = s.cost.Apply(e)
	s.result = s.result.Apply(e)
	s.wishes.apply(e)
	s.messages = s.messages.Apply(e)
	s.answers = s.answers.Apply(e)
	s.tools = s.tools.Apply(e)
	s.tasks = s.tasks.Apply(full)
	s.jobs = s.jobs.Apply(e)
	for a, now := range s.saying {
		if (e.Agent == a || e.Agent == "") && now.ends(e) {
			delete(s.saying, a)
		}
	}
}

// hear takes in live text.
func (s *story) hear(d live.Delta) {
	now := s.saying[d.Agent]
	if now == nil {
		now = &speech{}
		s.saying[d.Agent] = now
	}
	now.hear(d)
}

// over reports whether the run has ended.
func (s *story) over() bool { return s.card.Status != "" }
