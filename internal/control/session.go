package control

import (
	"context"

	"conclave/internal/event"
	"conclave/internal/view"
)

// Sessions is what surfaces can do with conversations. A session is a flow: it
// is followed, resumed and spoken to like any other (event.Said, Revised and
// Renamed go by Send), and driving it drives the runs it launches.
type Sessions interface {
	// Begin records a new session, which nobody drives yet: Resume does, until
	// its context ends, or Background.
	Begin(ctx context.Context, s event.SessionStarted) (event.FlowID, error)
	// Settle is Resume until the session is at rest: nothing goes on in it that
	// anybody but a person could end. A run it drives to its end. TakeOver is as
	// for Resume.
	Settle(ctx context.Context, id event.FlowID, takeOver bool) error
	// Team tells who would work on something that is said here, as things stand.
	Team(ctx context.Context, config string) (Team, error)
	// History is what was asked here before, newest first, each text once.
	History(ctx context.Context, limit int) ([]string, error)
}

// A Team is who would work, and how if nothing else is said.
type Team struct {
	Agents []Member
	Modes  event.Modes
	// Offline: every agent is scripted, so no model is called.
	Offline bool
	// Source says where the agents come from, and Warnings what is doubtful.
	Source   string
	Warnings []string
}

// A Member is one agent of a team.
type Member struct {
	ID      event.AgentID
	Backend string
	Model   string
	// Tools: it has files and commands at hand, and does not only speak.
	// Servers are the MCP servers it is configured with.
	Tools   bool
	Servers []string
}

// sessionState is how a session stands. One that does nothing is idle, whether
// somebody has it open or not.
func (f Flow) sessionState() string {
	switch {
	case f.Waiting:
		return "waiting for you"
	case f.Doing == view.SessionIdle && f.Driver != nil:
		return "open"
	case f.Doing == view.SessionIdle, f.Doing == "":
		return "idle"
	case f.Driver != nil:
		return "running"
	}
	return "unfinished"
}
