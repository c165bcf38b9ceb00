package tui

import (
	"strings"

	"conclave/internal/event"
	"conclave/internal/live"
)

// speech is what an agent is saying in the call it is on, until an event says it.
type speech struct {
	turn  event.Turn
	call  int
	parts []part
	gen   uint64 // changes when it begins anew
	// said is how far events have said it.
	said live.Place
	// version changes with every piece that comes.
	version uint64
}

// part is a stretch of one kind: thinking, text, or the name of a tool.
type part struct {
	kind live.Kind
	text strings.Builder
}

// maxSpeech is how much live text of one stretch is kept: what is longer shows
// its beginning until the event comes, which has all of it.
const maxSpeech = 1 << 20

// hear takes in a piece of live text. Live text and events come by different
// ways: the words of the next call may be there before the event that ends the
// last one, and those of a call after it.
func (s *speech) hear(d live.Delta) {
	if d.Kind == live.End || s.said.Has(d) {
		return // what was said stays until the event is there
	}
	s.version++
	if s.turn != d.Turn || s.call != d.Call || d.Anew {
		s.turn, s.call, s.parts, s.gen = d.Turn, d.Call, nil, s.gen+1
	}
	if n := len(s.parts); n == 0 || s.parts[n-1].kind != d.Kind || d.Kind == live.Tool {
		s.parts = append(s.parts, part{kind: d.Kind})
	}
	p := &s.parts[len(s.parts)-1]
	if p.text.Len() < maxSpeech {
		p.text.WriteString(d.Text)
	}
}

// end takes in how far events say it.
func (s *speech) end(p live.Place) {
	s.said = p
	if s.said.Has(live.Delta{Turn: s.turn, Call: s.call}) || s.call == 0 && s.turn == p.Turn {
		s.version++
		s.parts = nil
	}
}
