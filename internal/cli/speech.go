package cli

import (
	"conclave/internal/event"
	"conclave/internal/live"
)

// speech is what an agent is saying in the turn it is on. Live text and events
// come by different ways: the words of the next turn may be there before the
// event that ends the last one.
type speech struct {
	turn event.Turn
	text string
}

// speeches are what all agents are saying.
type speeches map[event.AgentID]speech

// hear takes in a piece of live text. Words of an earlier turn that have not
// been taken out are returned.
func (s speeches) hear(d live.Delta, text string) (now speech, earlier string) {
	now = s[d.Agent]
	if now.turn != d.Turn {
		earlier, now = now.text, speech{turn: d.Turn}
	}
	now.text += text
	s[d.Agent] = now
	return now, earlier
}

// keep replaces what is left of a speech.
func (s speeches) keep(a event.AgentID, text string) {
	now := s[a]
	now.text = text
	s[a] = now
}

// ended takes out what an agent was saying if an event ends it: from now on the
// event says it.
func (s speeches) ended(e event.Event) string {
	var turn event.Turn
	switch f := e.Body.(type) {
	case event.Called:
		turn = f.Turn
	case event.Failed:
		turn = f.Turn
	case event.Interrupted:
		turn = f.Turn
	default:
		return ""
	}
	now, ok := s[e.Agent]
	if !ok || now.turn != turn {
		return ""
	}
	delete(s, e.Agent)
	return now.text
}
