// Package tool is the seam to what agents can do besides speaking.
//
// A [Tool] has a name, a schema and a tier; its Run turns the model's input into
// text the model reads. A failure the model should know of is a [Result] with
// Error set; a Go error is for the operator and ends the turn. Run may be called
// concurrently, and must return soon after its context ends. A tool bounds what
// it reads and keeps: whatever it is pointed at, it never holds more than
// [MaxText] of it.
//
// The meaning is the suite in tooltest; tools live in folders beside it, each a
// .go file and a .md file of the same name with what the model is told.
package tool

import (
	"context"
	"encoding/json"

	"conclave/internal/event"
	"conclave/internal/policy"
)

// MaxText is the longest text a tool may return, in bytes. The agent shows the
// model an excerpt of what is long, keeps all of it and lets the model read on.
const MaxText = 1 << 20

// A Tier says what a tool can do to the world.
type Tier int

const (
	Read  Tier = iota // looks only
	Write             // changes files the agent may write
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

// An Actor is a tool that can say what a call would do before it is done, so
// that it can be judged. A tool that is none is judged by its name and tier.
type Actor interface {
	Action(input json.RawMessage) policy.Action
}

// A Result is what the model is told.
type Result struct {
	Text   string
	Error  bool
	Images []Image
	// Job is the command in the background that the call was about, for the log.
	Job *Job
}

// A Job is what is known of a command in the background.
type Job = event.Job

// An Image is a picture a tool found.
type Image struct {
	Type string // image/png and the like
	Data []byte
}

// Failed is a result that tells the model of a failure.
func Failed(text string) Result { return Result{Text: text, Error: true} }
