// Package acp is the backend whose agent is any program that speaks the Agent
// Client Protocol on its standard input and output.
//
// One process runs in the agent's room for as long as the room is the same. A
// thread of ours is a session there, begun with the system prompt as its first
// words, and loaded again after a restart if the program can; if it cannot, or if
// the system prompt or the tools change, a new session is told the conversation so
// far. The protocol has no tools of the host: ours are offered as an MCP server on
// the loopback, which asks for a token that only this process knows. A program
// that cannot reach MCP servers over HTTP cannot be given tools, and is refused
// where there are any.
//
//	process.go  the program: how it is started, greeted and ended
//	turn.go     one turn, from what is said to its end
//	session.go  the native session: begun or loaded
//	replay.go   what a program tells of a session that it loads
//	events.go   what the program reports in a turn
//	ask.go      what it asks: permissions, files
//	tools.go    the MCP server with the host's tools
//
// The types of the protocol are those of its Go library; the lines are read and
// written by [rpc], which bounds neither their length nor how many there are.
//
// Files that the program asks for are served within the room's folder. It is told
// that it may ask only where the room does not confine it: in a room that does it
// has better hands of its own.
//
// There is no way to say something in the middle of a turn: news are told as soon
// as the program has ended its own, before ours ends.
//
// After a turn that was cut, a program that has died and loads the session says by
// what it tells of it what it was told; the protocol has no marks for that, so words
// are compared. One that cannot load begins again and is told all. One that lives was
// told whatever was sent to it, as far as we know: whether it keeps the result of a
// tool that returned when the turn was being cancelled nobody can say.
//
// One turn is taken at a time; a second one waits.
//
// Goroutines: the MCP server's, which Close of the backend waits for.
package acp

import (
	"context"
	"iter"
	"path/filepath"

	"conclave/internal/backend"
	"conclave/internal/backend/cli"
)

// An agent is one configured program.
type agent struct {
	backend.Program
	key     string
	turns   *cli.Turnstile // whoever is in it has the rest
	process *process       // nil if none runs
}

var _ backend.Closer = (*agent)(nil)

// New is a backend for a program that speaks the protocol. The key, if there is
// one, is put into the first of the variables that the configuration names for it,
// where every shell of the agent can read it: nobody knows what else the program
// would take.
func New(p backend.Program, key string) backend.Backend {
	a := &agent{Program: p, key: key, turns: cli.NewTurnstile(program(p))}
	return a
}

// name is what the program is called in messages.
func (a *agent) name() string { return program(a.Program) }

func program(p backend.Program) string {
	if len(p.Command) == 0 {
		return "the agent"
	}
	return filepath.Base(p.Command[0])
}

func (a *agent) Traits() backend.Traits {
	model := a.Model
	if model == "" {
		model = a.name()
	}
	return backend.Traits{OwnsLoop: true, NativeHistory: true, OwnTools: true, Model: model}
}

// Close ends the program. A turn that is under way fails.
func (a *agent) Close() error {
	a.turns.Close(a.drop)
	return nil
}

// drop ends the process, if there is one.
func (a *agent) drop() {
	if a.process != nil {
		a.process.end()
		a.process = nil
	}
}

func (a *agent) Turn(ctx context.Context, in backend.Input, host backend.ToolHost) iter.Seq2[backend.Delta, error] {
	return func(yield func(backend.Delta, error) bool) {
		t := &turn{agent: a, in: in, host: host, yield: yield}
		t.steward, _ = host.(backend.Steward)
		if err := t.take(ctx); err != nil && !t.left {
			yield(backend.Delta{}, backend.WithUsage(err, t.usage))
		}
	}
}

// take waits for its turn and takes it.
func (t *turn) take(ctx context.Context) error {
	if t.in.Room == nil {
		return t.agent.invalid("runs in a room, and was given none", nil)
	}
	ctx, leave, err := t.agent.turns.Enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	unlock, err := cli.Lock(t.in.Room.Home(), t.in.Thread)
	if err != nil {
		return err
	}
	defer unlock()
	return t.hold(ctx)
}

func (a *agent) invalid(why string, err error) error {
	return &backend.Error{Kind: backend.Invalid, Message: a.name() + " " + why, Err: err}
}
