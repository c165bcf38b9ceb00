// Package tool is the seam to what agents can do besides speaking.
//
// A [Tool] has a name, a schema and a tier; its Run turns the model's input into
// text the model reads. A failure the model should know of is a [Result] with
// Error set; a Go error is for the operator and ends the turn. Run may be called
// concurrently, and must return soon after its context ends.
package tool

import (
	"context"
	"encoding/json"
)

// A Tier says what a tool can do to the world.
type Tier int

const (
	Read  Tier = iota // looks only
	Write             // changes files of the agent's own
	World             // may change anything: commands, networks, other programs
)

// A Tool is one thing an agent can do.
type Tool interface {
	Name() string
	Description() string
	Schema() json.RawMessage // JSON Schema of the input
	Tier() Tier
	Run(ctx context.Context, input json.RawMessage) (Result, error)
}

// A Result is what the model is told.
type Result struct {
	Text  string
	Error bool
}
