// Package team decides what a team does next: who takes a turn, who is told what,
// how the tasks stand, and when it is over.
//
// A [Team] is a [flow.Decider]. The leader is set to work with what the person
// wants; it brings members in, sets them tasks and waits for them. Every message has
// a place in the mailbox of each of its recipients and is told once, in order: with
// the turn it begins or in the middle of one. What is done is what the ledger of
// tasks says, never how a program ended: a member that stops with a task of its own
// open is reminded, and after that the leader is told.
package team

import (
	"time"

	"conclave/internal/event"
	"conclave/internal/flow"
)

// A Team is one team. The zero value waits for its TeamStarted. It is not safe for
// concurrent use.
type Team struct{}

var _ flow.Decider = (*Team)(nil)

// Step advances the team by one event.
func (t *Team) Step(event.Event) flow.Ready { return flow.Ready{} }

// Due is what the state demands to be recorded next, at most one fact.
func (t *Team) Due() []event.Fact { return nil }

// Pending lists what was asked for and has no outcome yet.
func (t *Team) Pending() []flow.Command { return nil }

// Wake is the next moment at which time alone changes what is due.
func (t *Team) Wake() (time.Time, bool) { return time.Time{}, false }

// Done reports whether the team is over.
func (t *Team) Done() bool { return false }

// Members is how everybody stands, the leader first.
func (t *Team) Members() []Member { return nil }

// Tasks is the ledger, oldest first.
func (t *Team) Tasks() []Task { return nil }
