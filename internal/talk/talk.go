// Package talk decides what a session with one agent does next: a person talks to
// it, it answers or wants runs launched, and is told what they have come to. A
// session of a client is the same without the agent: a program outside wants the
// runs. One of a companion is about a job, and launches none.
//
// A [Session] is a [flow.Decider]. What people say waits until the agent can hear
// it: it opens a turn if none goes on, is heard between two calls of the model,
// and is held while a run is wanted or goes on. A run that is wanted is launched
// at once, or a gate asks a person first, who may change it before deciding; what
// runs is what was shown last. One turn goes on at a time.
//
//	talk.go      the state
//	apply.go     what an event changes, and which commands it gives rise to
//	decide.go    what the state demands to be recorded next
//	judge.go     verdicts on what people and the agent put forward
//	turn.go      turns of the agent, their takes, and what they spend
//	want.go      wanted runs: gates, launches, what they may spend
//	memory.go    the conversation: what is held, heard, pinned, summed up
//	permit.go    permissions a person is asked for, and how long
//	companion.go what is said to the companion of a job besides
//	command.go   what the shell is asked to do
//	read.go      what can be read from the state
//	check.go     the invariants of a log
//
// A session has no last event: it waits for whoever speaks next. Nothing is
// stored that can be derived, and the whole state is one JSON-serialisable value.
// What a command is given of it is never changed afterwards.
package talk

import (
	"encoding/json"
	"fmt"
	"time"

	"conclave/internal/budget"
	"conclave/internal/dialog"
	"conclave/internal/event"
	"conclave/internal/flow"
)

// A Session is one conversation. The zero value waits for its SessionStarted. It
// is not safe for concurrent use.
type Session struct {
	s     state
	inbox flow.Inbox
}

var (
	_ flow.Decider = (*Session)(nil)
	_ flow.Sorter  = (*Session)(nil)
)

// state is everything a session knows.
type state struct {
	Flow    event.FlowID          `json:"flow,omitempty"`
	Started *event.SessionStarted `json:"started,omitempty"`
	// Staffed is who talks and by which rules; nil before anybody has said so.
	Staffed  *event.Staffed `json:"staffed,omitempty"`
	Title    string         `json:"title,omitempty"`
	Project  string         `json:"project,omitempty"`
	Job      event.FlowID   `json:"job,omitempty"` // that a companion talks about
	Waived   bool           `json:"waived,omitempty"`
	Archived bool           `json:"archived,omitempty"`
	Clock    dialog.Clock   `json:"clock,omitzero"`

	// Ledger is over everything; Talked and Ran are what of it the conversation
	// itself and its runs have used.
	Ledger budget.Ledger `json:"ledger,omitzero"`
	Talked event.Usage   `json:"talked,omitzero"`
	Ran    event.Usage   `json:"ran,omitzero"`

	// Held is what was said and not heard yet.
	Held []Entry `json:"held,omitempty"`
	dialog.Memory

	// Turn is the one that goes on; Rounds counts all there were.
	Turn   *turn `json:"turn,omitempty"`
	Rounds int   `json:"rounds,omitempty"`
	// Wants are the runs that were wanted, oldest first: all that are not over,
	// all of the turn, and the last of the others.
	Wants []*Want `json:"wants,omitempty"`
	dialog.Wishes
}

// An Entry is one thing in the conversation as its agent knows it.
type Entry = dialog.Entry

// A Want is a run that somebody wants.
type Want struct {
	ID    string        `json:"id"` // of its fact
	At    time.Time     `json:"at"`
	Agent event.AgentID `json:"agent,omitempty"`
	// Wanted is as it was wanted, but for its Launch and Estimate: those are as
	// they are after Revision-1 changes.
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
	// Taken: its agent has taken in what came of it.
	Taken bool `json:"taken,omitempty"`
	// Pinned: its result stays word for word once the agent has it.
	Pinned bool `json:"pinned,omitempty"`
}

// Over reports whether nothing more comes of it.
func (w *Want) Over() bool {
	return w.Refused != nil || w.Returned != nil || w.Closed != nil && w.Closed.Choice != event.LaunchApprove
}

// asking reports whether a person is being asked about it.
func (w *Want) asking() bool { return w.Asked != nil && w.Closed == nil }

// running reports whether its run goes on.
func (w *Want) running() bool { return w.Launched != nil && w.Returned == nil }

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

// Step advances the session by one event.
func (s *Session) Step(e event.Event) flow.Ready {
	s.tick(e)
	do := s.apply(e)
	return flow.Ready{Record: s.Due(), Do: do}
}

// Done is never: somebody may always say something more.
func (s *Session) Done() bool { return false }

// CheckpointVersion changes with the form of what Checkpoint writes.
func (s *Session) CheckpointVersion() int { return 3 }

// Checkpoint gives the state as a value that Restore takes up. It may be called
// only when nothing is due.
func (s *Session) Checkpoint() ([]byte, error) {
	p, err := s.inbox.Checkpoint(s.s)
	if err != nil {
		return nil, fmt.Errorf("talk: %w", err)
	}
	return p, nil
}

// Restore returns a session to a checkpoint of the same version.
func (s *Session) Restore(p []byte) error {
	var st state
	if err := json.Unmarshal(p, &st); err != nil {
		return fmt.Errorf("talk: restore: %w", err)
	}
	*s = Session{s: st}
	return nil
}

// rules are what the session goes by; before it is staffed, nothing.
func (s *Session) rules() event.SessionRules {
	if s.s.Staffed == nil {
		return event.SessionRules{}
	}
	return s.s.Staffed.Rules
}

// client reports whether a program outside wants the runs.
func (s *Session) client() bool { return s.s.Started.Kind == event.SessionClient }
