package team

import (
	"conclave/internal/event"
	"conclave/internal/flow"
)

// A Problem is something a log must not say.
type Problem = flow.Problem

// Check proves a team's log against the invariants.
func Check(log []event.Event) []Problem {
	var c flow.Checker
	for i, e := range log {
		c.Envelope(i, e, "team_started")
		c.Last = e
	}
	c.Replays(&Team{}, log)
	return c.Found
}
