// Package wake tells those who wait for news of a flow that there is some.
//
// A waiter calls [Hub.Watch] first, then reads, and blocks on the channel only
// if it found nothing: what is written after Watch closes that channel, so
// nothing is missed. There are no goroutines and no timers here.
package wake

import (
	"sync"

	"conclave/internal/event"
)

// A Hub is the set of waiters of one log. The zero value is ready to use. It is
// safe for concurrent use.
type Hub struct {
	mu      sync.Mutex
	waiting map[event.FlowID]chan struct{}
}

// Watch returns a channel that is closed with the next news of the flow.
func (h *Hub) Watch(flow event.FlowID) <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	c, ok := h.waiting[flow]
	if !ok {
		if h.waiting == nil {
			h.waiting = map[event.FlowID]chan struct{}{}
		}
		c = make(chan struct{})
		h.waiting[flow] = c
	}
	return c
}

// Wake wakes those who wait for the flow.
func (h *Hub) Wake(flow event.FlowID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c, ok := h.waiting[flow]; ok {
		close(c)
		delete(h.waiting, flow)
	}
}

// All wakes everybody.
func (h *Hub) All() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.waiting {
		close(c)
	}
	clear(h.waiting)
}
