// Package control is the one interface between surfaces and the program behind
// them: what a person can do, whichever window they sit at.
//
// Surfaces show view values folded from the events that Read and Follow yield,
// and say what their user wants through Send. They hold no truth of their own
// and know nothing of logs, engines or backends; app implements the interface.
package control

import (
	"context"
	"iter"
	"time"

	"conclave/internal/event"
	"conclave/internal/live"
	"conclave/internal/view"
)

// Control is what surfaces can do. It is safe for concurrent use.
type Control interface {
	// Prepare makes a run of a request and checks everything that can be
	// checked before it starts. Nothing is recorded.
	Prepare(ctx context.Context, r Request) (Run, error)
	// Start opens a prepared run and drives it to its end in this process. A
	// context that ends leaves the run to be resumed.
	Start(ctx context.Context, r Run) error
	// Resume drives a flow that nobody drives, or, with takeOver, one whose
	// driver hangs. What is given in also is recorded before anything begins.
	Resume(ctx context.Context, id event.FlowID, takeOver bool, also ...event.Fact) error
	// Background has a process of its own drive a flow that nobody drives: a
	// fresh run from its start, or with nil the flow in the log. It returns
	// when that process has taken the flow up.
	Background(ctx context.Context, id event.FlowID, fresh *Run) (pid int, err error)

	// Find resolves what a person typed: an id or the part of one that only one
	// flow has; empty is the newest flow. Its error is a *NotFound.
	Find(ctx context.Context, typed string) (event.FlowID, error)
	// Flows lists what there is, newest first.
	Flows(ctx context.Context) ([]Flow, error)
	// Open gives what a window on a flow shows first, however long its log is.
	Open(ctx context.Context, id event.FlowID) (view.Snapshot, error)
	// Read yields the events of a flow as far as it has come; Follow goes on.
	// ReadFrom is Read from the event with that number on.
	Read(ctx context.Context, id event.FlowID) iter.Seq2[event.Event, error]
	ReadFrom(ctx context.Context, id event.FlowID, from uint64) iter.Seq2[event.Event, error]
	Follow(ctx context.Context, id event.FlowID, from uint64) iter.Seq2[event.Event, error]
	// Listen hands live text to f until ctx ends. With here it is that of a flow
	// which this process drives or is about to; otherwise that of another
	// process, with a conversation also that of its runs, and Listen also returns
	// when there is nobody to be heard.
	Listen(ctx context.Context, id event.FlowID, here bool, f func(live.Delta))
	// Driver tells who drives a flow.
	Driver(ctx context.Context, id event.FlowID) (Driver, bool, error)
	// Send says something to a flow, durably. Its driver answers in the log.
	Send(ctx context.Context, id event.FlowID, f event.Fact) error
	// Text resolves content.
	Text(ctx context.Context, c event.Content) (string, error)
	// Providers lists the models that can be asked here without a configuration:
	// those with a key in the environment, and servers on this machine.
	Providers(ctx context.Context) []Provider
	// Trust records that the user knows the project's own configuration as it is
	// now, and returns the file and what it may do.
	Trust() (file string, risks []string, err error)
	// Doctor looks at everything a run here needs, in the order it is best read.
	Doctor(ctx context.Context, q Checkup) []Health
	// Check proves the log of a flow, or with no id the whole log.
	Check(ctx context.Context, id event.FlowID) ([]Finding, error)

	Looks
	Sessions
	Launches
	Projects
	Jobs
	Teams
}

// A Request is a run somebody wants.
type Request struct {
	Task string
	// Piped: nobody typed the task. It may hold anything, so an @path in it is
	// text and gives agents nothing.
	Piped   bool
	Config  string          // a file; empty is the project's own, or the demo
	Agents  []event.AgentID // empty is all configured
	Single  bool
	Quick   bool
	Timeout time.Duration // zero is the configured one
	// Context are files and folders of the user's, besides the configured ones;
	// for the same path what is said here holds. Images are files to show.
	// What the task itself names as @path is added to them.
	Context []event.ContextPath
	Images  []string
	// MaxCost and MaxTokens are the ceilings; nil is the configured one.
	MaxCost   *event.Money
	MaxTokens *int64
	// AskFirst: permissions are asked for and waited for, wherever somebody
	// answers; otherwise what would have to be asked is denied.
	AskFirst bool
	// Asks: the surface can put a gate to a person.
	Asks bool
}

// A Provider is somebody who can be asked for a model.
type Provider struct {
	Type string
	// Key is the variable that holds its key, Keys all that may. Local ones need
	// none.
	Key    string
	Keys   []string
	Local  bool
	Model  string // the one to take if none is named
	Models []string
	// Program is the file that is started, of an agent that is a program of the
	// user's; Login says that the user has logged it in. It needs no model.
	Program string
	Login   bool
}

// A Run is a run that is ready to start.
type Run struct {
	ID      event.FlowID
	Started event.RunStarted
	// Offline: every agent is scripted, so no model is called.
	Offline bool
	// Source says where the agents come from.
	Source string
	// Warnings are about the configuration.
	Warnings []string
}

// A Flow is one line of the list of flows.
type Flow struct {
	view.Row
	Driver *Driver `json:"driver,omitempty"` // nil if nobody drives it
	// Offline: every agent is scripted, so no model is called.
	Offline bool `json:"offline"`
	// Waiting: it asks a person something and waits for the answer.
	Waiting bool `json:"waiting,omitempty"`
	// Answered: it has the answers to all it asks, and nobody drives it who would
	// hear them.
	Answered bool `json:"answered,omitempty"`
	// Damaged is why the flow cannot be read; empty if it can.
	Damaged string `json:"damaged,omitempty"`
}

// State is how a flow stands, in one word.
func (f Flow) State() string {
	switch {
	case f.Damaged != "":
		return "damaged"
	case f.Kind == view.KindSession:
		return f.sessionState()
	case f.Kind == view.KindJob:
		return f.jobState()
	case f.Kind == view.KindTeam:
		return f.teamState()
	case f.Finished:
		return string(f.Status)
	case f.Driver != nil && f.Waiting:
		return "waiting for you"
	case f.Driver != nil:
		return "running"
	}
	return "unfinished"
}

// A Driver is the process that drives a flow.
type Driver struct {
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
}

// A Finding is something wrong with a log.
type Finding struct {
	Flow event.FlowID `json:"flow,omitempty"`
	What string       `json:"what"`
}
