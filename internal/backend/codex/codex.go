// Package codex is the backend whose agent is OpenAI's Codex CLI.
//
// One "codex app-server" runs in the agent's room for as long as the room is the
// same and is spoken with in JSON-RPC. A thread of ours is a thread there, begun
// with the system prompt and the host's tools, neither of which can be changed
// later: if they change, a new one is begun with the conversation so far in words.
// Threads outlive the process; a thread without a name is kept in memory only.
//
//	server.go   the process: how it is started and ended
//	config.go   what it is told about itself: settings, environment, login
//	turn.go     one turn, from what is said to its end
//	record.go   the native thread, and what Codex itself has kept of it
//	crew.go     agents of its own
//	events.go   what the program reports in a turn
//	ask.go      what it asks: calls of our tools, permissions
//	fail.go     how a turn fails
//	wire.go     the part of the protocol that is used
//
// Every command and every change of files is put to the steward before it is
// made. In a room that may not be written to and does not confine, Codex confines
// commands itself, and only what it wants to do beyond that is put to the steward.
//
// Codex may start agents of its own. It is told what they came to, but not woken: if
// one still works when Codex has ended its turn, ours goes on until it has ended, and
// the next turn of Codex's is begun by us. None outlives our turn.
//
// What Codex is told is remembered before it is said, and a turn that was cut compares
// that with Codex's own record: what is there is not told again, what is not is.
//
// One turn is taken at a time; a second one waits.
package codex

import (
	"cmp"
	"context"
	"iter"
	"time"

	"conclave/internal/backend"
	"conclave/internal/backend/cli"
	"conclave/internal/backend/price"
	"conclave/internal/event"
)

// An agent is one configured Codex.
type agent struct {
	backend.Program
	key      string
	patience time.Duration // see the constant
	rates    price.Rates
	turns    *cli.Turnstile // whoever is in it has the rest
	server   *server        // nil if none runs
}

var (
	_ backend.Closer    = (*agent)(nil)
	_ backend.Estimator = (*agent)(nil)
)

// New is a backend that is Codex. The key is for the model, and Codex does not
// see it; without it and an address Codex is used as its user has logged it in.
func New(p backend.Program, key string) backend.Backend {
	a := &agent{Program: p, key: key, patience: patience, turns: cli.NewTurnstile("codex")}
	a.rates = price.Of(backend.Model{Provider: "openai", Name: p.Model})
	return a
}

// own reports whether the user's own login is used.
func (a *agent) own() bool { return a.key == "" && a.BaseURL == "" }

func (a *agent) Traits() backend.Traits {
	t := a.rates.Traits()
	t.Model = cmp.Or(t.Model, "codex")
	t.OwnsLoop, t.NativeHistory, t.OwnTools = true, true, true
	t.Price = t.Price && !a.own() // a subscription has no price for a call
	return t
}

// Estimate bounds the first of a turn's calls; how many follow nobody knows.
func (a *agent) Estimate(in backend.Input) event.Amount { return a.rates.Estimate(in) }

// Close ends the program. A turn that is under way fails.
func (a *agent) Close() error {
	a.turns.Close(a.drop)
	return nil
}

// drop ends the server, if there is one.
func (a *agent) drop() {
	if a.server != nil {
		a.server.end()
		a.server = nil
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
		return &backend.Error{Kind: backend.Invalid, Message: "codex runs in a room, and was given none"}
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
