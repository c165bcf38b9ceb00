// Package live carries what agents are saying right now.
//
// Live text is a courtesy: it is lossy, never stored, and superseded by the fact
// that ends it. A [Hub] hands every [Delta] to whoever listens and never waits
// for anybody. [Serve] offers a hub to other processes on a private unix socket;
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
}

// A Kind says what kind of text it is.
type Kind string

const (
	Text     Kind = "text"
	Thinking Kind = "thinking"
	Tool     Kind = "tool" // the name of a tool being called
)

// buffer is how far a listener may fall behind before it loses text.
const buffer = 1024

// A Hub hands deltas on. The zero value is ready.
type Hub struct {
	mu        sync.Mutex
	listeners map[chan Delta]bool
}

// Publish hands d to every listener that has room for it.
func (h *Hub) Publish(d Delta) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for ch := range h.listeners {
		select {
		case ch <- d:
		default:
		}
	}
}

// Listen returns a channel of what is published from now on. Calling stop
// closes it.
func (h *Hub) Listen() (deltas <-chan Delta, stop func()) {
	ch := make(chan Delta, buffer)
	h.mu.Lock()
	defer h.mu.Unlock()
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
