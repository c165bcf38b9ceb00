package coord

import (
	"slices"

	"conclave/internal/event"
)

// steer counts what people say to a run, and what becomes of it.
func (c *checker) steer(e event.Event) {
	switch b := e.Body.(type) {
	case event.Messaged, event.PauseRequested, event.ContinueRequested, event.Held:
		c.said[e.ID] = b
	case event.Admitted:
		switch said := c.said[b.Ref].(type) {
		case event.PauseRequested:
			c.paused = true
		case event.ContinueRequested:
			c.paused = false
		case event.Held:
			if !c.asked[said.Gate] {
				c.Report(e.Seq, "%q is read though it is not being asked", said.Gate)
			}
			c.held[said.Gate] = said.On
		case event.Messaged:
			c.messages[b.Ref] = said
		}
	case event.Warned:
		if e.Agent == "" && c.warned {
			c.Report(e.Seq, "everybody is told twice to finish")
		}
		c.warned = c.warned || e.Agent == ""
	case event.Resumed:
		clear(c.held)
	case event.Ending:
		c.ending = true
	}
}

// reads checks that what an agent reads was said to it and taken in.
func (c *checker) reads(seq uint64, a event.AgentID, ids []string) {
	for _, id := range ids {
		m, ok := c.messages[id]
		if !ok || len(m.To) > 0 && !slices.Contains(m.To, a) {
			c.Report(seq, "%s reads %q, which nobody has said to it", a, id)
		}
	}
}
