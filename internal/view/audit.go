package view

import (
	"slices"
	"time"

	"conclave/internal/event"
)

// An AuditRow is one event as the audit lists it: enough to find it by, and
// little. What it says in full is asked for by its number.
type AuditRow struct {
	Flow event.FlowID `json:"flow"`
	Seq  uint64       `json:"seq"`
	// Pos is its place in the whole log, by which the events of several flows are
	// in order.
	Pos   uint64        `json:"pos,omitempty"`
	At    time.Time     `json:"at"`
	Kind  string        `json:"kind"` // of the event
	Group AuditGroup    `json:"group"`
	Agent event.AgentID `json:"agent,omitempty"`
	// Title says in one line what happened; Preview is the beginning of what it
	// was about.
	Title   string `json:"title"`
	Preview string `json:"preview,omitempty"`
	// Of a model call: what it took. Of a tool call: which.
	Tokens int64       `json:"tokens,omitempty"`
	Cost   event.Money `json:"cost,omitempty"`
	Tool   string      `json:"tool,omitempty"`
	Error  bool        `json:"error,omitempty"`
}

// An AuditGroup is a sort of events that can be looked at alone.
type AuditGroup string

const (
	AuditModel    AuditGroup = "model"    // calls of models
	AuditTool     AuditGroup = "tool"     // tools: called, returned, asked for
	AuditPerson   AuditGroup = "person"   // what people said and did
	AuditDecision AuditGroup = "decision" // what was decided because of it
	AuditError    AuditGroup = "error"    // what went wrong, tools that failed included
	AuditOther    AuditGroup = "other"    // bookkeeping
)

// In reports whether the row is of one of these groups; of none given, it is.
func (r AuditRow) In(groups []AuditGroup) bool {
	return len(groups) == 0 || slices.Contains(groups, r.Group) || r.Error && slices.Contains(groups, AuditError)
}
