package chat

import (
	"conclave/internal/event"
	"conclave/internal/flow"
)

// A Problem is something a log must not say.
type Problem = flow.Problem

// Check proves a session's log against the invariants: it counts for itself and
// does not trust the decider, then replays the decider and compares.
func Check(log []event.Event) []Problem {
	c := &checker{said: map[string]bool{}, runs: map[event.FlowID]bool{}, revisions: map[string]int{}}
	for i, e := range log {
		c.Envelope(i, e, "session_started")
		c.body(e)
		c.Last = e
	}
	c.Replays(&Session{}, log)
	return c.Found
}

type checker struct {
	flow.Checker
	said      map[string]bool       // by id; true once it is admitted
	runs      map[event.FlowID]bool // launched
	active    event.FlowID
	revisions map[string]int // of each plan, the newest
	gate      string         // that is open
	asked     int            // its revision
}

func (c *checker) body(e event.Event) {
	switch b := e.Body.(type) {
	case event.Said:
		c.said[e.ID] = false
	case event.Admitted:
		if _, ok := c.IDs[b.Ref]; !ok {
			c.Report(e.Seq, "admits %q, which nobody said", b.Ref)
		}
		if _, ok := c.said[b.Ref]; ok {
			c.said[b.Ref] = true
		}
	case event.Launched:
		c.launch(e.Seq, b)
	case event.Returned:
		if c.active != b.Run || b.Run == "" {
			c.Report(e.Seq, "%q returns, which is not going on", b.Run)
		}
		if b.Status == "" && b.Error == "" {
			c.Report(e.Seq, "%q returns without a status and without an error", b.Run)
		}
		c.active = ""
	case event.Planned:
		if b.Revision != c.revisions[b.Plan]+1 {
			c.Report(e.Seq, "revision %d of %s follows revision %d", b.Revision, b.Plan, c.revisions[b.Plan])
		}
		c.revisions[b.Plan] = b.Revision
	case event.Asked:
		if b.Revision == 0 || c.revisions[b.Gate] != b.Revision {
			c.Report(e.Seq, "asks about revision %d of %s, whose newest is %d", b.Revision, b.Gate, c.revisions[b.Gate])
		}
		if c.active != "" {
			c.Report(e.Seq, "asks while %s is going on", c.active)
		}
		c.gate, c.asked = b.Gate, b.Revision
	case event.Closed:
		if c.gate == "" || c.gate != b.Gate {
			c.Report(e.Seq, "closes %q, which is not being asked", b.Gate)
		}
		c.gate = ""
	}
}

func (c *checker) launch(seq uint64, b event.Launched) {
	switch {
	case b.Run == "":
		c.Report(seq, "launches a run without an id")
	case c.runs[b.Run]:
		c.Report(seq, "launches %s twice", b.Run)
	case c.active != "":
		c.Report(seq, "launches %s while %s is going on", b.Run, c.active)
	case !c.said[b.Said]:
		c.Report(seq, "launches %s for %q, which was not admitted", b.Run, b.Said)
	case c.gate != "":
		c.Report(seq, "launches %s while %q is being asked", b.Run, c.gate)
	case b.Purpose == event.PurposeExecute && (b.Revision == 0 || c.revisions[b.Plan] != b.Revision || c.asked != b.Revision):
		c.Report(seq, "carries out revision %d of %q, which nobody approved", b.Revision, b.Plan)
	}
	c.runs[b.Run], c.active = true, b.Run
}
