package chat

import (
	"fmt"

	"conclave/internal/event"
	"conclave/internal/flow"
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

// Check proves a session's log against the invariants: it counts for itself and
// does not trust the decider, then replays the decider and compares.
func Check(log []event.Event) []Problem {
	c := &checker{ids: map[string]uint64{}, said: map[string]bool{}, runs: map[event.FlowID]bool{}, revisions: map[string]int{}}
	for i, e := range log {
		c.envelope(i, e)
		c.body(e)
		c.last = e
	}
	c.replay(log)
	return c.found
}

type checker struct {
	found     []Problem
	last      event.Event
	ids       map[string]uint64
	said      map[string]bool       // by id; true once it is admitted
	runs      map[event.FlowID]bool // launched
	active    event.FlowID
	revisions map[string]int // of each plan, the newest
	gate      string         // that is open
	asked     int            // its revision
}

func (c *checker) report(seq uint64, format string, args ...any) {
	c.found = append(c.found, Problem{seq, fmt.Sprintf(format, args...)})
}

func (c *checker) envelope(i int, e event.Event) {
	if e.Seq != uint64(i+1) {
		c.report(e.Seq, "stands at place %d", i+1)
	}
	if i > 0 && e.Flow != c.last.Flow {
		c.report(e.Seq, "belongs to %s, not to %s", e.Flow, c.last.Flow)
	}
	if e.At.Before(c.last.At) {
		c.report(e.Seq, "is earlier than the event before it")
	}
	if e.ID == "" {
		c.report(e.Seq, "has no id")
	}
	if at, dup := c.ids[e.ID]; dup {
		c.report(e.Seq, "has the id of event %d: %s", at, e.ID)
	}
	c.ids[e.ID] = e.Seq
	if _, ok := e.Body.(event.SessionStarted); ok != (i == 0) {
		c.report(e.Seq, "a log begins with session_started, once")
	}
}

func (c *checker) body(e event.Event) {
	switch b := e.Body.(type) {
	case event.Said:
		c.said[e.ID] = false
	case event.Admitted:
		if _, ok := c.ids[b.Ref]; !ok {
			c.report(e.Seq, "admits %q, which nobody said", b.Ref)
		}
		if _, ok := c.said[b.Ref]; ok {
			c.said[b.Ref] = true
		}
	case event.Launched:
		c.launch(e.Seq, b)
	case event.Returned:
		if c.active != b.Run || b.Run == "" {
			c.report(e.Seq, "%q returns, which is not going on", b.Run)
		}
		if b.Status == "" && b.Error == "" {
			c.report(e.Seq, "%q returns without a status and without an error", b.Run)
		}
		c.active = ""
	case event.Planned:
		if b.Revision != c.revisions[b.Plan]+1 {
			c.report(e.Seq, "revision %d of %s follows revision %d", b.Revision, b.Plan, c.revisions[b.Plan])
		}
		c.revisions[b.Plan] = b.Revision
	case event.Asked:
		if b.Revision == 0 || c.revisions[b.Gate] != b.Revision {
			c.report(e.Seq, "asks about revision %d of %s, whose newest is %d", b.Revision, b.Gate, c.revisions[b.Gate])
		}
		if c.active != "" {
			c.report(e.Seq, "asks while %s is going on", c.active)
		}
		c.gate, c.asked = b.Gate, b.Revision
	case event.Closed:
		if c.gate == "" || c.gate != b.Gate {
			c.report(e.Seq, "closes %q, which is not being asked", b.Gate)
		}
		c.gate = ""
	}
}

func (c *checker) launch(seq uint64, b event.Launched) {
	switch {
	case b.Run == "":
		c.report(seq, "launches a run without an id")
	case c.runs[b.Run]:
		c.report(seq, "launches %s twice", b.Run)
	case c.active != "":
		c.report(seq, "launches %s while %s is going on", b.Run, c.active)
	case !c.said[b.Said]:
		c.report(seq, "launches %s for %q, which was not admitted", b.Run, b.Said)
	case c.gate != "":
		c.report(seq, "launches %s while %q is being asked", b.Run, c.gate)
	case b.Purpose == event.PurposeExecute && (b.Revision == 0 || c.revisions[b.Plan] != b.Revision || c.asked != b.Revision):
		c.report(seq, "carries out revision %d of %q, which nobody approved", b.Revision, b.Plan)
	}
	c.runs[b.Run], c.active = true, b.Run
}

// replay compares what the log says with what its beginning decides. A log with
// facts of a newer version cannot be replayed here; that is no fault of the log.
func (c *checker) replay(log []event.Event) {
	for _, e := range log {
		if _, ok := e.Body.(event.Unknown); ok {
			return
		}
	}
	if err := flow.Replay(&Session{}, log); err != nil {
		c.report(0, "%v", err)
	}
}
