package control

import (
	"context"
	"encoding/json"

	"conclave/internal/event"
	"conclave/internal/launch"
	"conclave/internal/project"
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
	// Newest is the session with an agent that was used last here and is not put
	// away: of those begun with the configuration file config, or without one if it
	// is empty; where none is given, of all.
	Newest(ctx context.Context, config ...string) (id event.FlowID, ok bool, err error)
	// Fork begins a new session with everything another one holds, up to where
	// its last turn was over.
	Fork(ctx context.Context, id event.FlowID) (event.FlowID, error)
}

// Launches is what surfaces can do about runs that are wanted. Whether one is
// launched is decided by the session it is wanted in, and told by its events.
type Launches interface {
	// Want asks for a run in a session of a client, under an id that makes asking
	// twice the same as asking once. What is wrong with the call is a
	// *launch.Problem, and nothing is recorded.
	Want(ctx context.Context, session event.FlowID, id string, p launch.Params, by string) error
	// Amend changes a wanted run that a person is being asked about; revision is
	// the one that was changed.
	Amend(ctx context.Context, session event.FlowID, want string, revision int, p launch.Params, by string) error
	// Params is a launch as a person edits it.
	Params(ctx context.Context, l event.Launch) (launch.Params, error)
	// Offer is what whoever may launch runs here is told.
	Offer(ctx context.Context, config string) (Offer, error)
}

// An Offer is what a program outside is told of launch_run.
type Offer struct {
	Team        []event.Teammate
	Guidance    string // when and how to launch runs
	Description string // of the tool
	Schema      json.RawMessage
	Approve     bool // a person is asked before each run
}

// Projects is what surfaces can see of the projects of sessions.
type Projects interface {
	// Projects lists them, the one that changed last first.
	Projects(ctx context.Context) ([]project.Project, error)
	// Project is one of them; its error is a *NotFound if there is none.
	Project(ctx context.Context, name string) (project.Project, error)
	// Deliverable is a file of a project: version n, or with zero as it is now.
	Deliverable(ctx context.Context, name, path string, n int) ([]byte, error)
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
	// Dir is where relative paths begin that a person writes.
	Dir string
	// Interactive is the agent people talk to; nil where interactive mode is off.
	Interactive *Interactive
}

// Interactive is how interactive mode is configured.
type Interactive struct {
	Agent Member
	// Approve: a person is asked before a run is launched. Disabled: nothing is
	// held while one goes on.
	Approve  bool
	Disabled bool
	// Dir is where projects are.
	Dir string
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

// Answered is the state of a session that goes on with an answer as soon as
// somebody takes it up.
const Answered = "answered, unfinished"

// sessionState is how a session stands. One that does nothing is idle, whether
// somebody has it open or not.
func (f Flow) sessionState() string {
	switch {
	case f.Waiting && f.Answered:
		return Answered
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
