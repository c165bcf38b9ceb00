package cli

import (
	"fmt"
	"sync"
	"time"

	"conclave/internal/backend"
)

// A Clock measures a turn of a program: how long it takes, and how long nothing
// has come. It stands still while it is held: somebody else is being waited for.
type Clock struct {
	name       string
	turn, idle time.Duration
	timer      *time.Timer

	mu     sync.Mutex
	end    time.Time // of the turn
	silent time.Time // when it will have been silent for too long
	holds  int
	since  time.Time // when the first hold began
}

// NewClock starts the clock of a turn of the named program.
func NewClock(name string, p backend.Program) *Clock {
	c := &Clock{name: name, turn: time.Duration(p.Turn), idle: time.Duration(p.Idle)}
	if c.turn <= 0 {
		c.turn = DefaultTurn
	}
	if c.idle <= 0 {
		c.idle = DefaultIdle
	}
	now := time.Now()
	c.end, c.silent = now.Add(c.turn), now.Add(c.idle)
	c.timer = time.NewTimer(min(c.turn, c.idle))
	return c
}

// C is when to ask Expired.
func (c *Clock) C() <-chan time.Time { return c.timer.C }

// Heard notes that something came from the program.
func (c *Clock) Heard() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.silent = time.Now().Add(c.idle)
}

// Hold stops the clock until the function it returns is called, once: while one
// of our own tools runs, or somebody is asked for permission.
func (c *Clock) Hold() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holds++; c.holds == 1 {
		c.since = time.Now()
	}
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.holds--; c.holds > 0 {
			return
		}
		now := time.Now()
		c.end = c.end.Add(now.Sub(c.since))
		c.silent = now.Add(c.idle)
		c.arm(now)
	})
}

// Expired says which limit was passed, nil if none was. The clock goes on.
func (c *Clock) Expired() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holds > 0 {
		return nil // the release sets the timer
	}
	now := time.Now()
	switch {
	case !now.Before(c.end):
		return c.err(fmt.Sprintf("the turn of %s took longer than %v", c.name, c.turn))
	case !now.Before(c.silent):
		return c.err(fmt.Sprintf("nothing came from %s for %v", c.name, c.idle))
	}
	c.arm(now)
	return nil
}

func (c *Clock) arm(now time.Time) { c.timer.Reset(max(0, min(c.end.Sub(now), c.silent.Sub(now)))) }

func (c *Clock) err(what string) error {
	return &backend.Error{Kind: backend.TimedOut, Message: what}
}

// Stop ends the clock.
func (c *Clock) Stop() { c.timer.Stop() }
