// Package talk decides what a session with one agent does next: a person talks to
// it, it answers or wants runs launched, and is told what they have come to. A
// session of a client is the same without the agent: a program outside wants the
// runs.
//
// A [Session] is a [flow.Decider]. What people say waits until the agent can hear
// it: it opens a turn if none goes on, is heard between two calls of the model,
// and is held while a run is wanted or goes on. A run that is wanted is launched
// at once, or a gate asks a person first, who may change it before deciding; what
// runs is what was shown last. One turn goes on at a time.
//
//	talk.go      the state, and what can be read from it
//	apply.go     what an event changes, and which commands it gives rise to
//	decide.go    what the state demands to be recorded next
//	judge.go     verdicts on what people and clients say
//	want.go      wanted runs: gates, launches, what they may spend
//	command.go   what the shell is asked to do
//	check.go     the invariants of a log
//
// Nothing is stored that can be derived, and the whole state is one
// JSON-serialisable value.
package talk

import (
	"time"

	"conclave/internal/event"
)

// An Entry is one thing in the conversation as its agent knows it: exactly one of
// the pointers is set.
type Entry struct {
	ID   string     `json:"id"` // of the fact
	At   time.Time  `json:"at"`
	Turn event.Turn `json:"turn,omitzero"` // in which the agent heard or said it
	// Said is something a person said, once the agent hears it.
	Said *event.Said `json:"said,omitempty"`
	// Called is what the agent said, with the calls it made.
	Called *event.Called `json:"called,omitempty"`
	// Returned is what one of those calls gave back; Run is the run it is the
	// result of, if it is one of launch_run.
	Returned *event.ToolReturned `json:"returned,omitempty"`
	Run      event.FlowID        `json:"run,omitempty"`
	// Pinned: it stays word for word.
	Pinned bool `json:"pinned,omitempty"`
}

// A Want is a run that somebody wants.
type Want struct {
	ID    string        `json:"id"` // of its fact
	At    time.Time     `json:"at"`
	Agent event.AgentID `json:"agent,omitempty"`
	// Wanted is as it was wanted; Launch as it is after Revision-1 changes.
	event.Wanted
	Revision int `json:"revision"`
	// Refused is why nothing comes of it: it was turned down at once.
	Refused *event.Refused `json:"refused,omitempty"`
	// Asked is the gate, nil if nobody is asked; Closed how it ended.
	Asked    *event.Asked  `json:"asked,omitempty"`
	Closed   *event.Closed `json:"closed,omitempty"`
	ClosedAt time.Time     `json:"closed_at,omitzero"`
	// Launched is its run; Cancel who wants it to end; Returned what it came to.
	Launched *event.Launched `json:"launched,omitempty"`
	Cancel   *Cancel         `json:"cancel,omitempty"`
	Returned *event.Returned `json:"returned,omitempty"`
	// Pinned: its result stays word for word once the agent has it.
	Pinned bool `json:"pinned,omitempty"`
}

// Over reports whether nothing more comes of it.
func (w *Want) Over() bool {
	return w.Refused != nil || w.Returned != nil || w.Closed != nil && w.Closed.Choice != event.LaunchApprove
}

// A Phase is what a session does.
type Phase string

const (
	Idle      Phase = "idle"
	Chatting  Phase = "chatting"
	Awaiting  Phase = "awaiting_approval"
	Running   Phase = "running"
	Results   Phase = "processing_results"
	Partial   Phase = "processing_partial"   // of a run that failed or ran out of time
	Cancelled Phase = "processing_cancelled" // or was not approved
)
