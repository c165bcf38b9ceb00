// Package coord decides what a run does next.
//
// A [Run] is a [flow.Decider]. Agents work in parallel, each in rounds of its
// own; a round ends with an answer or a vote. An answer makes every vote that
// has not seen it stale, and whoever is idle with a stale vote is set to work
// again. When nobody works and nobody has anything left to read, the votes are
// counted, a person may override the winner, and the winner presents.
//
// The files follow one event through the package:
//
//	apply.go    what an event changes, and which commands it gives rise to
//	decide.go   what the state demands to be recorded next
//	judge.go    verdicts on what agents and people put forward
//	clock.go    deadlines: time is the time of events, never a clock
//	permit.go   permissions a person is asked for
//	hold.go     questions that somebody is reading
//	message.go  what people say to agents, and who has read it
//	steer.go    wrapping up, pausing, stopping an agent or a command of its
//	final.go    winner, override, presentation, the end
//	account.go  turns that are over for the run, and have not said what they cost
//	command.go  what the shell is asked to do
//	check.go    the invariants of a log
//
// Nothing is stored that can be derived: whether a vote is stale, who waits for
// whom and what phase the run is in are functions of the state. The whole state
// is one JSON-serialisable value, so a fold can be kept as a checkpoint.
package coord

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"conclave/internal/budget"
	"conclave/internal/event"
	"conclave/internal/flow"
)

// A Run is one coordination. The zero value waits for its RunStarted. It is not
// safe for concurrent use.
type Run struct {
	s state
	// inbox is what waits for a verdict, oldest first. It is empty whenever
	// nothing is due, so a checkpoint need not carry it.
	inbox []event.Fact
}

var (
	_ flow.Decider = (*Run)(nil)
	_ flow.Sorter  = (*Run)(nil)
)

// state is everything a run knows.
type state struct {
	Started *event.RunStarted `json:"started,omitempty"`
	// Members are in label order.
	Members []*member     `json:"members,omitempty"`
	Ledger  budget.Ledger `json:"ledger,omitzero"`
	Clock   clock         `json:"clock,omitzero"`
	// Answers counts accepted answers: the serial number of the newest.
	Answers int `json:"answers,omitempty"`

	RunWarned bool `json:"run_warned,omitempty"`
	// WrapUp and Paused are what a person has asked for.
	WrapUp bool `json:"wrap_up,omitempty"`
	Paused bool `json:"paused,omitempty"`
	// Messages are what people have said to agents, oldest first.
	Messages  []*message    `json:"messages,omitempty"`
	Cancelled string        `json:"cancelled,omitempty"` // who asked, and why
	OverSpent string        `json:"over_spent,omitempty"`
	Ending    *ending       `json:"ending,omitempty"`
	Chosen    *event.Chosen `json:"chosen,omitempty"`
	Gate      *gate         `json:"gate,omitempty"`
	// Wishes are the permissions a person is being asked for; Allowed what one
	// was given for the rest of the run.
	Wishes  []*wish      `json:"wishes,omitempty"`
	Allowed []event.Hash `json:"allowed,omitempty"`
	// Present is the newest presentation begun; Final what came of it.
	Present  *presenting     `json:"present,omitempty"`
	Final    *event.Content  `json:"final,omitempty"`
	Finished *event.Finished `json:"finished,omitempty"`
	// Accounts are of turns that are over and have not said what they cost.
	Accounts []account `json:"accounts,omitempty"`
}

type ending struct {
	event.Ending
	Since time.Duration `json:"since"` // on the running clock
}

type presenting struct {
	event.Presenting
	By event.AgentID `json:"by"`
}

type gate struct {
	event.Asked
	Since  time.Duration `json:"since"` // on the clock of questions
	Closed *event.Closed `json:"closed,omitempty"`
	Held   bool          `json:"held,omitempty"` // somebody is reading it
}

// member is one agent's part in the run.
type member struct {
	ID      event.AgentID `json:"id"`
	Label   event.Label   `json:"label"`
	Answers []answer      `json:"answers,omitempty"`
	Vote    *event.Voted  `json:"vote,omitempty"`
	Lost    *event.Lost   `json:"lost,omitempty"`
	// Stopped is who has asked that it does not act again, in words.
	Stopped string `json:"stopped,omitempty"`
	// Turn is what the agent is doing; nil when it is idle.
	Turn *turn `json:"turn,omitempty"`
	// Round is the round it is in, or the last one if that has an outcome.
	Round round `json:"round,omitzero"`
}

// round is what outlasts the takes of a round.
type round struct {
	event.Turn
	Open     bool             `json:"open,omitempty"` // has no outcome yet
	Since    time.Duration    `json:"since,omitempty"`
	Attempts int              `json:"attempts,omitempty"`
	Calls    int              `json:"calls,omitempty"`
	Warned   bool             `json:"warned,omitempty"`
	Rest     time.Duration    `json:"rest,omitempty"` // the next take begins no sooner
	Unknown  []event.ToolCall `json:"unknown,omitempty"`
	// Done are tool calls of takes that were cut, which had returned: what they
	// did outside the workspace stays done.
	Done []event.ToolCall `json:"done,omitempty"`
	// Trouble is the last failure, for the message of a loss.
	Trouble string `json:"trouble,omitempty"`
	// Hopeless means that trying again cannot help.
	Hopeless string `json:"hopeless,omitempty"`
}

// turn is one take of a round, in the hands of the shell.
type turn struct {
	event.Turn
	Role      event.Role       `json:"role"`
	Seen      event.Seen       `json:"seen,omitempty"`
	MayAnswer bool             `json:"may_answer,omitempty"`
	MayVote   bool             `json:"may_vote,omitempty"`
	Closing   bool             `json:"closing,omitempty"`
	Open      []event.ToolCall `json:"open,omitempty"`    // without a result yet
	Done      []event.ToolCall `json:"done,omitempty"`    // with one, the last of them
	Cut       bool             `json:"cut,omitempty"`     // the driver it had is gone
	Held      []string         `json:"held,omitempty"`    // reservations
	Calling   bool             `json:"calling,omitempty"` // what it has put forward came out of a call that goes on
	Jobs      []string         `json:"jobs,omitempty"`    // in the background, as far as is known
	// Waits is what it asked for and could not have while other calls held it.
	Waits *event.Amount `json:"waits,omitempty"`
}

type answer struct {
	Content event.Content `json:"content"`
	Print   event.Hash    `json:"print,omitempty"`
	Serial  int           `json:"serial"`
	// Snapshot names the author's workspace as it was.
	Snapshot string `json:"snapshot,omitempty"`
}

// Step advances the run by one event.
func (r *Run) Step(e event.Event) flow.Ready {
	r.tick(e)
	do := append(r.apply(e), r.released()...)
	return flow.Ready{Record: r.Due(), Do: do}
}

// Done reports whether the run is over.
func (r *Run) Done() bool { return r.s.Finished != nil }

// Rules are what the run was started with.
func (r *Run) Rules() event.Rules {
	if r.s.Started == nil {
		return event.Rules{}
	}
	return r.s.Started.Rules
}

// CheckpointVersion changes with the form of what Checkpoint writes.
func (r *Run) CheckpointVersion() int { return 4 }

// Checkpoint gives the state as a value that Restore takes up. It may be called
// only when nothing is due.
func (r *Run) Checkpoint() ([]byte, error) {
	if len(r.inbox) > 0 {
		return nil, fmt.Errorf("coord: checkpoint while %d inputs wait for a verdict", len(r.inbox))
	}
	// What a tool was called with must come back as it was written, so nothing
	// is escaped on the way.
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r.s); err != nil {
		return nil, fmt.Errorf("coord: checkpoint: %w", err)
	}
	return buf.Bytes(), nil
}

// Restore returns a run to a checkpoint of the same version.
func (r *Run) Restore(p []byte) error {
	var s state
	if err := json.Unmarshal(p, &s); err != nil {
		return fmt.Errorf("coord: restore: %w", err)
	}
	*r = Run{s: s}
	return nil
}

func (r *Run) rules() *event.Rules { return &r.s.Started.Rules }

func (r *Run) member(a event.AgentID) *member {
	for _, m := range r.s.Members {
		if m.ID == a {
			return m
		}
	}
	return nil
}

func (r *Run) byLabel(l event.Label) *member {
	for _, m := range r.s.Members {
		if m.Label == l {
			return m
		}
	}
	return nil
}

// revisions is the newest revision of every agent that has an answer.
func (r *Run) revisions() event.Seen {
	seen := event.Seen{}
	for _, m := range r.s.Members {
		if n := len(m.Answers); n > 0 {
			seen[m.ID] = n
		}
	}
	return seen
}

func (r *Run) live() []*member {
	var out []*member
	for _, m := range r.s.Members {
		if m.Lost == nil {
			out = append(out, m)
		}
	}
	return out
}

func (r *Run) working() bool {
	return slices.ContainsFunc(r.s.Members, func(m *member) bool { return m.Turn != nil })
}
