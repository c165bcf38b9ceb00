package dialog

import (
	"time"

	"conclave/internal/event"
)

// A Clock keeps the time of a flow, which runs while a driver does. Deadlines are
// measured against what it said when a timer last fired, so that facts which come
// in together are judged together.
type Clock struct {
	Now  time.Time     `json:"now,omitzero"` // of the last event
	Up   time.Duration `json:"up,omitempty"`
	Rung time.Duration `json:"rung,omitempty"` // at the last TimerFired
}

// Tick advances the clock to an event and returns how much of it has passed.
func (c *Clock) Tick(e event.Event) time.Duration {
	passed := e.At.Sub(c.Now)
	if _, down := e.Body.(event.Resumed); down || c.Now.IsZero() || passed < 0 {
		passed = 0
	}
	c.Now = e.At
	c.Up += passed
	if _, ok := e.Body.(event.TimerFired); ok {
		c.Rung = c.Up
	}
	return passed
}
