package tui

import (
	"testing"

	"conclave/internal/event"
)

// What could not begin says why and what to do, and nothing of a run that there
// is not.
func TestUnbegun(t *testing.T) {
	s := newScene(t, 100, 24, "ada", "bob")
	s.talk(event.SessionStarted{Kind: event.SessionCoordinate})
	s.talk(event.Said{Text: event.Inline("Read @nodir"), By: by})
	s.talk(event.Admitted{Ref: "session-2"})
	s.talk(event.Launched{Said: "session-2", Run: s.flow})
	s.talk(event.Returned{Run: s.flow, Error: "no such file or folder: nodir"})
	s.see(" could not begin\n", "no such file or folder: nodir", "say it again")
	s.gone("Enter opens the run", "0 tokens", "has not started")
}

// Who speaks to one agent reads of one agent; what waits for a decision is not
// gone on with.
func TestWordsOfTheInput(t *testing.T) {
	s := newScene(t, 100, 24, "ada", "bob")
	s.modes.Single, s.modes.Agent = true, "bob"
	s.see("What do you want done by bob alone?")
	s.still.team.Agents = s.still.team.Agents[:1]
	s.start("Sort.", event.Rules{})
	s.see("❯ Say something to agent1 (ada)", "messages to ada")
	s.gone("all agents", "to all")
	s.on("", event.Finished{Status: event.StatusSuccess, Answer: event.Inline("Merge.")})
	s.see("Type below to go on.")
	s.talk(event.SessionStarted{Kind: event.SessionCoordinate, From: s.flow})
	s.talk(event.Asked{Gate: "plan-1", Kind: event.GatePlan, Revision: 1})
	s.closeAll()
	s.gone("Type below to go on.")
}
