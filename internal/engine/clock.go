package engine

import "time"

// clock gives the time events are stamped with: the wall clock's when the driver
// began, or the end of the log where that is later, and from then on what has
// really passed. Setting the machine's clock moves nothing.
type clock struct {
	began time.Time
	ahead time.Duration // of the wall clock
}

func newClock(last time.Time) clock {
	c := clock{began: time.Now()}
	c.reach(last)
	return c
}

// tick is how fine the times in a log are.
const tick = time.Microsecond

func (c *clock) now() time.Time {
	return c.began.Add(time.Since(c.began) + c.ahead).Round(0).UTC().Truncate(tick)
}

// reach makes sure that at has come.
func (c *clock) reach(at time.Time) {
	at = at.Add(tick - 1).Truncate(tick)
	c.ahead += max(at.Sub(c.now()), 0)
}

// stamp is now, but not before the last event.
func (c *clock) stamp(last time.Time) time.Time {
	c.reach(last)
	return c.now()
}
