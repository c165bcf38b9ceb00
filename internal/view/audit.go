package view

import (
	"time"

	"conclave/internal/event"
)

// An AuditRow is one event as the audit lists it: enough to find it by, and
// little. What it says in full is asked for by its number.
type AuditRow struct {
	Flow  event.FlowID  `json:"flow"`
	Seq   uint64        `json:"seq"`
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
	AuditModel    AuditGroup = "model"
	AuditTool     AuditGroup = "tool"
	AuditPerson   AuditGroup = "person"
	AuditDecision AuditGroup = "decision"
	AuditError    AuditGroup = "error"
	AuditOther    AuditGroup = "other"
)
