package live

import (
	"bytes"
	"math"
	"unicode/utf8"

	"conclave/internal/event"
)

// keep is how much of what an agent is saying is kept for those who begin to
// listen in the middle of it, in bytes. What is older goes first.
const keep = 64 << 10

// piece is what a piece costs besides its text.
const piece = 64

// cutMark stands for what is not kept.
const cutMark = "[…] "

// A stretch is what an agent has said so far in the call it is on.
type stretch struct {
	turn   event.Turn
	call   int
	pieces []spoken
	size   int
	cut    bool // of its beginning something is gone
}

type spoken struct {
	kind Kind
	text []byte
}

// add takes in what is said. Another call begins another stretch.
func (s *stretch) add(d Delta) {
	if s.turn != d.Turn || s.call != d.Call {
		*s = stretch{turn: d.Turn, call: d.Call}
	}
	if n := len(s.pieces); n == 0 || s.pieces[n-1].kind != d.Kind || d.Kind == Tool {
		s.pieces = append(s.pieces, spoken{kind: d.Kind})
		s.size += piece
	}
	last := &s.pieces[len(s.pieces)-1]
	last.text = append(last.text, d.Text...)
	if s.size += len(d.Text); s.size > keep {
		s.shed()
	}
}

// shed forgets the oldest, a quarter more than it has to: the rest is moved, and
// not with every word.
func (s *stretch) shed() {
	s.cut = true
	over := s.size - keep*3/4
	for over > 0 && len(s.pieces) > 1 {
		gone := len(s.pieces[0].text)
		if gone > over {
			break
		}
		s.size, over = s.size-gone-piece, over-gone-piece
		s.pieces = s.pieces[1:]
	}
	if first := &s.pieces[0]; over > 0 {
		n := min(over, len(first.text))
		for n < len(first.text) && !utf8.RuneStart(first.text[n]) {
			n++
		}
		first.text = bytes.Clone(first.text[n:])
		s.size -= n
	}
}

// again is what was said, in few pieces.
func (s *stretch) again(f event.FlowID, a event.AgentID) []Delta {
	var out []Delta
	for i, p := range s.pieces {
		d := Delta{Flow: f, Agent: a, Turn: s.turn, Call: s.call, Kind: p.kind, Text: string(p.text), Anew: i == 0}
		if i == 0 && s.cut && p.kind != Tool {
			d.Text = cutMark + d.Text
		}
		out = append(out, d)
	}
	return out
}

// A Place is how far events say what an agent has said: up to a call of a turn.
type Place struct {
	event.Turn
	Call int
}

// Said is how far an event says what its agent has said; ok is false if it says
// nothing.
func Said(e event.Event) (p Place, ok bool) {
	switch b := e.Body.(type) {
	case event.Called:
		return Place{b.Turn, b.Call}, true
	case event.Failed:
		return Place{b.Turn, math.MaxInt}, true
	case event.Interrupted:
		return Place{b.Turn, math.MaxInt}, true
	}
	return Place{}, false
}

// Has reports whether events have said d by then: live text and events come by
// different ways, and the text may be the later one.
func (p Place) Has(d Delta) bool {
	switch {
	case d.Turn.Round != p.Round:
		return d.Turn.Round < p.Round
	case d.Turn.Take != p.Take:
		return d.Turn.Take < p.Take
	}
	return p.Call == math.MaxInt || d.Call > 0 && d.Call <= p.Call
}
