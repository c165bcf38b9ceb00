// Package chat decides what a session does next.
//
// A [Session] is a [flow.Decider]. A session of kind coordinate is a
// conversation without an agent of its own: each thing that is said launches a
// run, and whoever works on it is told everything that was said before and what
// came of it. One run goes on at a time; what is said meanwhile is refused, in
// words for the person who said it.
//
// With plan mode on, what is said leads to a plan first. A run writes it, the
// shell keeps it in a directory, and a gate asks the person: approve it, and a
// second run carries it out; say what to change, or change it by hand, and the
// next revision is asked about; or drop it.
//
//	apply.go       what an event changes, and which commands it gives rise to
//	decide.go      what the state demands to be recorded next
//	judge.go       verdicts on what people say
//	command.go     what the shell is asked to do
//	transcript.go  what a run is told of the conversation
//	check.go       the invariants of a log
//
// A session has no last event: it waits for the person. Nothing is stored that
// can be derived, and the whole state is one JSON-serialisable value.
package chat

import (
	"encoding/json"
	"fmt"
	"time"

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
	Title   string                `json:"title,omitempty"`
	Turns   []*Turn               `json:"turns,omitempty"`
}

// A Turn is something that was said, and what came of it.
type Turn struct {
	ID string    `json:"id"` // of the fact that said it
	At time.Time `json:"at"`
	event.Said
	Runs []Run `json:"runs,omitempty"`
	// Plans are the revisions of its plan, oldest first.
	Plans []event.Planned `json:"plans,omitempty"`
	// Edit is a revision by a person that is not kept yet.
	Edit *event.Revised `json:"edit,omitempty"`
	// Gate is what was last asked about the plan.
	Gate *Gate `json:"gate,omitempty"`
}

// A Run is one that a session has launched.
type Run struct {
	event.Launched
	Returned *event.Returned `json:"returned,omitempty"` // nil while it goes on
	// Cancel is who has asked the session to end it.
	Cancel *Cancel `json:"cancel,omitempty"`
}

// A Gate is a question about a plan.
type Gate struct {
	event.Asked
	Times int `json:"times"` // it was asked, this one included
	// Runs is how many runs the turn had when it was asked: one more says that
	// the answer was acted on.
	Runs     int           `json:"runs"`
	Closed   *event.Closed `json:"closed,omitempty"`
	ClosedAt time.Time     `json:"closed_at,omitzero"`
}

// Step advances the session by one event.
func (s *Session) Step(e event.Event) flow.Ready {
	do := s.apply(e)
	return flow.Ready{Record: s.Due(), Do: do}
}

// Wake is never: nothing in a session depends on time.
func (s *Session) Wake() (time.Time, bool) { return time.Time{}, false }

// Done is never: the person may always say something more.
func (s *Session) Done() bool { return false }

// CheckpointVersion changes with the form of what Checkpoint writes.
func (s *Session) CheckpointVersion() int { return 1 }

// Checkpoint gives the state as a value that Restore takes up. It may be called
// only when nothing is due.
func (s *Session) Checkpoint() ([]byte, error) {
	p, err := s.inbox.Checkpoint(s.s)
	if err != nil {
		return nil, fmt.Errorf("chat: %w", err)
	}
	return p, nil
}

// Restore returns a session to a checkpoint of the same version.
func (s *Session) Restore(p []byte) error {
	var st state
	if err := json.Unmarshal(p, &st); err != nil {
		return fmt.Errorf("chat: restore: %w", err)
	}
	*s = Session{s: st}
	return nil
}

// AtRest reports whether nothing goes on that anybody but a person could end.
func (s *Session) AtRest() bool {
	t := s.last()
	return len(s.inbox) == 0 && (t == nil || t.idle() || t.reviewing() && t.keep() == nil)
}

// last is the newest thing that was said; nil if there is none.
func (s *Session) last() *Turn {
	if n := len(s.s.Turns); n > 0 {
		return s.s.Turns[n-1]
	}
	return nil
}

// run is the newest run of the turn; nil if there is none.
func (t *Turn) run() *Run {
	if n := len(t.Runs); n > 0 {
		return &t.Runs[n-1]
	}
	return nil
}

// active is the run that goes on; nil if none does.
func (t *Turn) active() *Run {
	if r := t.run(); r != nil && r.Returned == nil {
		return r
	}
	return nil
}

// plan is the newest revision of the plan; nil if there is none.
func (t *Turn) plan() *event.Planned {
	if n := len(t.Plans); n > 0 {
		return &t.Plans[n-1]
	}
	return nil
}

// reviewing reports whether the plan waits for the person.
func (t *Turn) reviewing() bool { return t.Gate != nil && t.Gate.Closed == nil }

// idle reports whether everything has come of the turn that will.
func (t *Turn) idle() bool {
	return t.active() == nil && t.keep() == nil && !t.reviewing() && !t.launches() && !t.asks()
}
