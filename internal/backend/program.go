package backend

import (
	"context"
	"io"
	"net/netip"

	"conclave/internal/event"
	"conclave/internal/policy"
)

// A Program is the options of a seat whose agent is a program of its own: a CLI
// agent that runs its own loop. It holds no secrets.
type Program struct {
	Provider string `json:"provider"` // claude_code, codex or acp
	Model    string `json:"model,omitempty"`
	// Command is the program and arguments put before all others; empty finds the
	// provider's own in the PATH.
	Command []string `json:"command,omitempty"`
	// BaseURL is where its model is reached, Key the key for it. Without either
	// the program is used as its user has logged it in.
	BaseURL string `json:"base_url,omitempty"`
	Key     Key    `json:"key,omitzero"`
	// Env are further variables for it, with their values.
	Env map[string]string `json:"env,omitempty"`
	// Turn bounds a whole turn, Idle how long nothing may come from the program in
	// one; zero are the defaults.
	Turn event.Duration `json:"turn,omitempty"`
	Idle event.Duration `json:"idle,omitempty"`
}

// A Room is where a backend that is a program runs: the agent's place with its
// rights, at the same paths as outside, with a network so that the program can
// reach its model.
type Room interface {
	// Key names the place and its rights. While it stays the same, a program that
	// was started in the room may go on from turn to turn.
	Key() string
	// Dir is where the agent works. ReadOnly: nothing there may be changed.
	Dir() string
	ReadOnly() bool
	// Home is a folder of the program's own, in and outside the room at the same
	// path, kept as long as the flow is: its settings and its conversations.
	Home() string
	// Boxed: the room confines what is in it.
	Boxed() bool
	// Start begins the program. When ctx ends it is stopped, with everything it
	// started. Whatever runs in an earlier room of the agent is ended first.
	Start(ctx context.Context, c Start) (Running, error)
}

// A Doorway is how what runs in a room reaches what we listen on.
type Doorway struct {
	Listen string       // the address to listen on, without a port
	Name   string       // by which the room reaches it
	From   netip.Prefix // whence connections of the room come; zero is anywhere
}

// Secluded is a room with a network of its own: the loopback of the machine is not
// to be reached from it, but for a doorway.
type Secluded interface {
	Doorway(ctx context.Context) (Doorway, error)
}

// A Start is how a program is begun: its arguments, its whole environment besides
// what every room has, and its streams.
type Start struct {
	Argv           []string
	Env            []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Running is a program in a room.
type Running interface {
	// Wait returns when the program has ended and all its output was written.
	Wait() (exit int, err error)
	// Stop ends it, politely at first, with everything it started, and returns
	// when it has ended.
	Stop()
}

// A Steward is the host of a backend that is a program with tools of its own. The
// host of a turn is one whenever the backend owns its loop.
type Steward interface {
	ToolHost
	// Permit asks whether the program may do something by itself. The rules
	// answer, or a person does, which may take long. An error ends the turn.
	Permit(ctx context.Context, c event.ToolCall, a policy.Action) (allowed bool, why string, err error)
	// Began records that the program uses a tool of its own, Ended what came of it.
	// News is what the agent has to hear then, if anything: the program is told it
	// as the user's words as soon as it can take them in.
	Began(ctx context.Context, c event.ToolCall) error
	Ended(ctx context.Context, r ToolResult) (news string, err error)
}

// A Closer is a backend that keeps something going between turns. Close ends it
// and waits; no Turn may follow.
type Closer interface{ Close() error }
