// Package sandbox is the seam to where agents' commands run.
//
// An [Engine] opens a [Box] for one agent and one set of rights; commands run in
// it and reach nothing but its [policy.Place], at the same absolute paths as
// outside. Changing rights is closing a box and opening another. What a command
// leaves running is ended with it or stays until the box is closed, as the engine
// has it: whatever was started in a box has ended when Close returns, and an engine that keeps
// something outside this process (a container) finds or removes what a dead
// process left behind: see [Sweeper].
//
// The meaning is the suite in sandboxtest; engines live in folders beside it.
package sandbox

import (
	"context"
	"io"
	"net/netip"

	"conclave/internal/event"
	"conclave/internal/policy"
)

// An Engine is a way to confine commands.
type Engine interface {
	Name() string
	// Probe tells whether it works here; its error says why not and what to do.
	Probe(ctx context.Context) error
	// Open makes a box ready. Opening one for the same flow and owner again
	// replaces what there was.
	Open(ctx context.Context, s Spec) (Box, error)
}

// A Sweeper is an engine that can leave something behind when its process is
// killed.
type Sweeper interface {
	// Left lists what is left of flows that nobody drives, by alive.
	Left(ctx context.Context, alive func(event.FlowID) bool) ([]string, error)
	// Sweep removes it and returns what it removed.
	Sweep(ctx context.Context, alive func(event.FlowID) bool) ([]string, error)
}

// A Doorway is how a box reaches what listens on the machine.
type Doorway struct {
	Listen string       // the address to listen on, without a port
	Name   string       // by which a box reaches it
	From   netip.Prefix // whence connections of boxes come; zero is anywhere
}

// Secluded is an engine whose boxes do not share the loopback of the machine.
type Secluded interface {
	// Doorway is that of boxes with a network; its error says what stands in the
	// way.
	Doorway(ctx context.Context) (Doorway, error)
}

// A Spec is what a box is to be.
type Spec struct {
	Flow  event.FlowID
	Owner string // the agent's label; with Flow it names the box
	Place policy.Place
	// Network: none, or the network of the machine.
	Network bool
	// Env is the whole environment besides what every box has (PATH, HOME, TMPDIR,
	// LANG, TERM): nothing of ours is passed on.
	Env    []string
	Limits Limits
	Image  string // of engines that have images
}

// Limits bound a box. Zero is none.
type Limits struct {
	Memory int64 // bytes
	CPUs   float64
	Procs  int
}

// A Box is where commands run. It may be used concurrently.
type Box interface {
	// Start begins a command. When ctx ends it is stopped, with everything it
	// started.
	Start(ctx context.Context, c Command) (Process, error)
	// Close stops everything in the box and takes it down.
	Close() error
}

// A Command is a program and its arguments, not a line for a shell.
type Command struct {
	Argv   []string
	Dir    string    // empty is the place's
	Env    []string  // besides the box's
	Stdin  io.Reader // nil is nothing
	Stdout io.Writer // nil is nowhere; both may be the same
	Stderr io.Writer
}

// A Process is a command that runs.
type Process interface {
	// Wait returns when the command has ended and all its output was written.
	// Exit is its exit code, 128 and the signal if one ended it. An error is a
	// failure of the sandbox or the end of the context.
	Wait() (exit int, err error)
	// Stop ends it, politely at first, with everything it started.
	Stop()
}
