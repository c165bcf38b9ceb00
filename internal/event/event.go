// Package event is the vocabulary of facts that Conclave records.
//
// Everything that happens in a flow (a run, later a session, a job or a team)
// is an [Event]: a numbered, timed fact with a [Body]. The set of bodies is
// closed; [Kinds] lists it, and each kind has one wire form that is never
// changed again, only added to. A body of a kind this program does not know is
// kept as [Unknown] and written back byte for byte.
//
// The package holds data and its wire form only: no I/O, no clock, no
// goroutines. Its values are safe to share once they are built.
package event

import "time"

// A FlowID names one flow: "run-20261115-084210-k3f9".
type FlowID string

// An AgentID is the name an agent has in the configuration. Voters never see
// it; they know each other by [Label].
type AgentID string

// A Label is the anonymous name of an agent inside one run: "agent2".
type Label string

// An Event is one fact in the log of a flow.
type Event struct {
	// Pos is the event's position in the whole log, given by the log when the
	// event is committed. It is zero before that.
	Pos uint64
	// Flow and Seq number the event inside its flow, from 1 without gaps. The
	// driver of the flow gives them.
	Flow FlowID
	Seq  uint64
	// At is when the driver took the fact in. It never goes back in one flow.
	At time.Time

	Fact
}

// A Fact is what somebody has to say before it has a place in the log.
type Fact struct {
	// ID is derived from the fact's cause, so that saying it twice leaves one
	// record. The same ID with another body is an error.
	ID string
	// Agent is whom the fact is about; empty for the flow itself.
	Agent AgentID
	Body  Body
}

// A Body is the content of a fact: one of the types in [Kinds], or [Unknown].
type Body interface{ body() }

// Unknown is a fact of a kind this program does not know, written by a newer
// version. It can be listed, shown and exported. A flow that holds one can be
// read but not driven.
type Unknown struct {
	Kind string
	Raw  []byte // the body as it was written
}

func (Unknown) body() {}
