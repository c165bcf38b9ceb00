package control

import (
	"context"
	"time"

	"conclave/internal/event"
	"conclave/internal/view"
)

// Teams is what surfaces can do with teams. A team is a flow: it is followed,
// opened (view.Snapshot.Team), resumed and spoken to like any other. Event.Messaged
// (to the leader if it names nobody), Withdrawn, StopRequested, WrapUpRequested,
// Renamed, Replied and CancelRequested go by Send; then Wake has somebody act on it.
type Teams interface {
	// NewTeam reads the description of a team, makes its directory and records it.
	// Nobody drives it yet: Wake or Resume does.
	NewTeam(ctx context.Context, r TeamRequest) (event.FlowID, error)
	// TeamKinds are the descriptions that are found here: those of the project and
	// of the user, and the ones that come with the program.
	TeamKinds(ctx context.Context) ([]TeamKind, error)
	// TeamFiles lists the shared tree of a team, or with a member that of the
	// member, as it is committed; TeamFile is one of its files.
	TeamFiles(ctx context.Context, id event.FlowID, member event.AgentID) ([]JobFile, error)
	TeamFile(ctx context.Context, id event.FlowID, member event.AgentID, path string) (JobFile, []byte, error)
	// TeamDiff is what the shared tree, or that of a member, has become since the
	// team began, or since the member's tree did.
	TeamDiff(ctx context.Context, id event.FlowID, member event.AgentID) ([]FileDiff, error)
	// TeamPatch is the same, all of it, as git apply takes it.
	TeamPatch(ctx context.Context, id event.FlowID, member event.AgentID) ([]byte, error)
}

// A TeamRequest is a team somebody wants.
type TeamRequest struct {
	// Team is a file, or the name of a description as TeamKinds gives it.
	Team  string
	Task  string
	Title string
	// Source is a folder of the user's to begin from; empty is what the description
	// says.
	Source string
	Config string
	// MaxCost, Time and Turn are ceilings; nil and zero are those of the
	// description.
	MaxCost *event.Money
	Time    time.Duration
	Turn    time.Duration
	Asks    bool
	By      string
}

// A TeamKind is a description of a team.
type TeamKind struct {
	Name  string   `json:"name"`
	Title string   `json:"title"`
	About string   `json:"about"`
	File  string   `json:"file,omitempty"` // empty if it comes with the program
	Roles []string `json:"roles"`
	// Problem is why it cannot be used.
	Problem string `json:"problem,omitempty"`
}

// teamState is how a team stands. One in trouble needs nobody to drive it.
func (f Flow) teamState() string {
	switch {
	case f.Finished:
		return string(f.Status)
	case f.Waiting && f.Answered && f.Driver == nil:
		return Answered
	case f.Team == view.TeamTrouble, f.Driver != nil && f.Waiting:
		return "waiting for you"
	case f.Driver != nil:
		return "running"
	}
	return "unfinished"
}
