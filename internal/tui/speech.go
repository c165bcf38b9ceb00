package tui

import (
	"strings"

	"conclave/internal/event"
	"conclave/internal/live"
)

// speech is what an agent is saying in the turn it is on, until an event says it.
type speech struct {
	turn  event.Turn
	parts []part
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
// ways: the words of the next turn may be there before the event that ends the
// last one.
func (s *speech) hear(d live.Delta) {
	if s.turn != d.Turn {
		*s = speech{turn: d.Turn, version: s.version}
	}
	s.version++
	if n := len(s.parts); n == 0 || s.parts[n-1].kind != d.Kind || d.Kind == live.Tool {
		s.parts = append(s.parts, part{kind: d.Kind})
	}
	p := &s.parts[len(s.parts)-1]
	if p.text.Len() < maxSpeech {
		p.text.WriteString(d.Text)
	}
}

// ends reports whether an event says what was being said until then.
func (s *speech) ends(e event.Event) bool {
	switch f := e.Body.(type) {
	case event.Called:
		return s.turn == f.Turn
	case event.Failed:
		return s.turn == f.Turn
	case event.Interrupted:
		return s.turn == f.Turn
	case event.Lost, event.Finished:
		return true
	}
	return false
}
