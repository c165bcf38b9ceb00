package cli

import (
	"conclave/internal/event"
	"conclave/internal/live"
)

// speech is what an agent is saying in the call it is on. Live text and events
// come by different ways: the words of the next call may be there before the
// event that ends the last one, and those of a call after it.
type speech struct {
	turn event.Turn
	call int
	text string
	said live.Place // how far events have said it
}

// speeches are what all agents are saying.
type speeches map[event.AgentID]speech

// hear takes in a piece of live text. Words of an earlier call that have not
// been taken out are returned. What is told anew takes the place of what was
// heard of it; what has been taken out of that is told twice.
func (s speeches) hear(d live.Delta, text string) (now speech, earlier string) {
	now = s[d.Agent]
	if d.Kind == live.End || now.said.Has(d) {
		return now, ""
	}
	if now.turn != d.Turn || now.call != d.Call {
		earlier, now.text = now.text, ""
		now.turn, now.call = d.Turn, d.Call
	}
	if d.Anew {
		now.text = ""
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
	p, ok := live.Said(e)
	if !ok {
		return ""
	}
	now := s[e.Agent]
	now.said = p
	text := now.text
	if !p.Has(live.Delta{Turn: now.turn, Call: now.call}) && (now.call > 0 || now.turn != p.Turn) {
		text = ""
	} else {
		now.text = ""
	}
	s[e.Agent] = now
	return text
}
