package flow

import (
	"fmt"

	"conclave/internal/event"
)

// A Problem is something a log must not say.
type Problem struct {
	Seq  uint64 // the event where it shows; zero for the log as a whole
	What string
}

func (p Problem) String() string {
	if p.Seq == 0 {
		return p.What
	}
	return fmt.Sprintf("event %d: %s", p.Seq, p.What)
}

// A Checker proves what must hold of the log of any flow. Whoever knows what the
// facts of one kind of flow mean builds on it. The zero value is ready.
type Checker struct {
	Found []Problem
	Last  event.Event       // the one looked at before
	IDs   map[string]uint64 // of the events so far
}

// Report notes a problem.
func (c *Checker) Report(seq uint64, format string, args ...any) {
	c.Found = append(c.Found, Problem{seq, fmt.Sprintf(format, args...)})
}

// Envelope looks at an event's place in its log. Logs of the flow begin with the
// kind named first, once.
func (c *Checker) Envelope(i int, e event.Event, first string) {
	if e.Seq != uint64(i+1) {
		c.Report(e.Seq, "stands at place %d", i+1)
	}
	if i > 0 && e.Flow != c.Last.Flow {
		c.Report(e.Seq, "belongs to %s, not to %s", e.Flow, c.Last.Flow)
	}
	if e.At.Before(c.Last.At) {
		c.Report(e.Seq, "is earlier than the event before it")
	}
	if e.ID == "" {
		c.Report(e.Seq, "has no id")
	}
	if at, dup := c.IDs[e.ID]; dup {
		c.Report(e.Seq, "has the id of event %d: %s", at, e.ID)
	}
	if c.IDs == nil {
		c.IDs = map[string]uint64{}
	}
	c.IDs[e.ID] = e.Seq
	if (event.Kind(e.Body) == first) != (i == 0) {
		c.Report(e.Seq, "a log begins with %s, once", first)
	}
}

// Replays has a fresh decider go through the log, and reports whether it decides
// what the log says. A log with facts of a newer version is not replayed.
func (c *Checker) Replays(d Decider, log []event.Event) bool {
	for _, e := range log {
		if _, ok := e.Body.(event.Unknown); ok {
			return false
		}
	}
	if err := Replay(d, log); err != nil {
		c.Report(0, "%v", err)
		return false
	}
	return true
}
