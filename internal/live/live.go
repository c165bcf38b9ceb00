// Package live carries what agents are saying right now.
//
// Live text is a courtesy: it is lossy, never stored, and superseded by the fact
// that ends it. A [Hub] hands every [Delta] to whoever listens and never waits
// for anybody; whoever begins to listen is first given what is being said from
// its beginning, until the call that it is said in has ended. [Serve] offers a hub to other processes on a private unix socket;
// [Dial] listens to one.
//
// Goroutines: Serve owns one that accepts and one per listener; Close of the
// server ends and waits for all of them.
package live

import (
	"sync"

	"conclave/internal/event"
)

// A Delta is a piece of text of a turn in progress.
type Delta struct {
	Flow  event.FlowID  `json:"flow"`
	Agent event.AgentID `json:"agent"`
	Turn  event.Turn    `json:"turn"`
	Kind  Kind          `json:"kind"`
	Text  string        `json:"text"`
	// Call counts the calls of the model in the turn, from 1.
	Call int `json:"call,omitempty"`
	// Anew: what the agent says is given from its beginning, to somebody who has
	// begun to listen. What they have heard of it before is in it.
	Anew bool `json:"anew,omitempty"`
}

// A Kind says what kind of text it is.
type Kind string

const (
	Text     Kind = "text"
	Thinking Kind = "thinking"
	Tool     Kind = "tool" // the name of a tool being called
	// End has no text: the call has ended. What was said in it is not given to
	// new listeners any more; a fact, if it came to one, will say it.
	End Kind = "end"
)

// buffer is how far a listener may fall behind before it loses text.
const buffer = 1024

// A Hub hands deltas on. The zero value is ready.
type Hub struct {
	mu        sync.Mutex
	listeners map[chan Delta]bool
	// said is what is being said in calls that have not ended.
	said map[event.FlowID]map[event.AgentID]*stretch
}

// Publish hands d to every listener that has room for it.
func (h *Hub) Publish(d Delta) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.note(d)
	for ch := range h.listeners {
		select {
		case ch <- d:
		default:
		}
	}
}

// note keeps what is being said for those who come later.
func (h *Hub) note(d Delta) {
	of := h.said[d.Flow]
	if d.Kind == End {
		if delete(of, d.Agent); len(of) == 0 {
			delete(h.said, d.Flow)
		}
		return
	}
	if of == nil {
		if h.said == nil {
			h.said = map[event.FlowID]map[event.AgentID]*stretch{}
		}
		of = map[event.AgentID]*stretch{}
		h.said[d.Flow] = of
	}
	s := of[d.Agent]
	if s == nil {
		s = &stretch{}
		of[d.Agent] = s
	}
	s.add(d)
}

// Forget drops what is kept of a flow: nobody drives it any more.
func (h *Hub) Forget(flow event.FlowID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.said, flow)
}

// Listen returns a channel of what is being said, from its beginning, and of what
// is published from now on. Calling stop closes it.
func (h *Hub) Listen() (deltas <-chan Delta, stop func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var before []Delta
	for f, of := range h.said { // order does not matter: each agent for itself
		for a, s := range of {
			before = append(before, s.again(f, a)...)
		}
	}
	ch := make(chan Delta, buffer+len(before))
	for _, d := range before {
		ch <- d
	}
	if h.listeners == nil {
		h.listeners = map[chan Delta]bool{}
	}
	h.listeners[ch] = true
	return ch, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.listeners[ch] {
			delete(h.listeners, ch)
			close(ch)
		}
	}
}
