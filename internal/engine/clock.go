package engine

import "time"

// clock gives the time events are stamped with: the wall clock's when the driver
// began, and from then on what has really passed. Setting the machine's clock
// moves nothing.
type clock struct {
	base  time.Time
	floor time.Time // never before this
}

func newClock(floor time.Time) clock { return clock{base: time.Now(), floor: floor} }

func (c *clock) now() time.Time {
	t := c.base.Add(time.Since(c.base)).Round(0).UTC().Truncate(time.Microsecond)
	if t.Before(c.floor) {
		return c.floor
	}
	return t
}

// reach makes sure that at has come.
func (c *clock) reach(at time.Time) {
	if c.now().Before(at) {
		c.floor = at
	}
}

// stamp is now, but not before the last event.
func (c *clock) stamp(last time.Time) time.Time {
	c.reach(last)
	return c.now()
}
