package flow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"conclave/internal/event"
)

// An Inbox is what was put forward and waits for a verdict, oldest first. It is empty
// whenever nothing is due, so a checkpoint need not carry it.
type Inbox []event.Event

// Take takes out what has its verdict; ok is false if nothing waits under that id.
func (in *Inbox) Take(id string) (e event.Event, ok bool) {
	i := slices.IndexFunc(*in, func(e event.Event) bool { return e.ID == id })
	if i < 0 {
		return e, false
	}
	e = (*in)[i]
	*in = slices.Delete(*in, i, i+1)
	return e, true
}

// Checkpoint is a state as a value. What a tool was called with comes back as it was.
func (in Inbox) Checkpoint(state any) ([]byte, error) {
	if len(in) > 0 {
		return nil, fmt.Errorf("checkpoint while %d inputs wait for a verdict", len(in))
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(state); err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	return buf.Bytes(), nil
}

// Admit is the fact that something is taken in.
func Admit(e event.Event) event.Fact {
	return event.Fact{ID: "admitted/" + e.ID, Agent: e.Agent, Body: event.Admitted{Ref: e.ID}}
}

// Refuse is the fact that it is not, and why. Over: the turn it came from ends with
// that.
func Refuse(e event.Event, code, why string, over bool) event.Fact {
	return event.Fact{ID: "refused/" + e.ID, Agent: e.Agent, Body: event.Refused{Ref: e.ID, Code: code, Why: why, Over: over}}
}
