// Package agent is one participant of a run or a team, or the one of a session or a job: it
// builds the prompt, takes turns with its backend, carries out tool calls and puts
// forward the outcome.
//
// A [Crew] is all participants of a run and the run's [engine.Doer]. A turn
// begins with a Work or Present command and ends with an accepted proposal, with
// a verdict that says it is over, or with the Failed fact that Do returns. All
// facts of a turn carry ids made from the turn and a running number, so a turn
// that is taken again never collides with the one before.
//
// A [Talker] is the agent of a session and does its turns in the same way. What
// differs is what opens a turn and what ends it: the conversation is rebuilt from
// the session's facts, a turn that was cut goes on where it was, and it ends with
// the first reply that calls nothing.
//
// A [Worker] is the agent of a job: a turn begins with what the job tells it and
// ends with its phase, or as in a session. The tools with which it goes through its
// phases put facts forward that the job judges.
//
// A [Member] is an agent of a team, its leader or another: a turn begins with its mail
// and ends when it waits, finishes, asks or calls nothing more.
//
//	converse.go      what turns of sessions, jobs and teams have in common
//	talk.go          a turn of a session
//	talk_history.go  facts → what the model is sent
//	talk_launch.go   launch_run
//	talk_compact.go  a conversation in fewer words
//	talk_words.go    what the model is told besides, and the system prompt
//	job.go           a turn of a job
//	job_acts.go      what its tools put forward
//	job_plan.go      which tools somebody has who plans
//	job_words.go     the system prompt of a job, and what a turn begins with
//	team.go          a turn of a team, and the tree it is taken in
//	team_acts.go     what its tools do
//	team_put.go      what they put forward
//	team_words.go    the system prompt of a member, its mail in words
//	sent.go          what was sent, for whoever wants to see it later
//
// A turn runs in the goroutine the engine gives to Do. Beside it are one that
// takes in what the turn is told (see mailbox) and those of calls that only look,
// which run together; all have ended when Do returns. A backend that runs its own
// loop calls the turn's ToolHost from its own goroutines, which the turn
// serialises.
package agent

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"conclave/internal/backend"
	"conclave/internal/coord"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/flow"
	"conclave/internal/live"
	"conclave/internal/tool"
)

// An Agent is one participant.
type Agent struct {
	Seat    event.Seat
	Backend backend.Backend
	Tools   []tool.Tool // besides those of its kit
	// Kit equips the agent for each turn; nil for one that only speaks.
	Kit Kit
	// Compact is the part of the model's window at which a conversation is put
	// into fewer words; zero is the default.
	Compact float64
	// Parallel is how many calls that only look run at once; zero is the default.
	Parallel int

	// busy is full while the agent takes a turn: one that was told to stop and
	// the next one never overlap.
	once sync.Once
	busy chan struct{}

	// What it was sent last and where that is kept; of the turn that is in.
	system, offered namedText
}

// enter waits until the agent is free, and returns how to leave it so.
func (a *Agent) enter(ctx context.Context) (leave func(), err error) {
	a.once.Do(func() { a.busy = make(chan struct{}, 1) })
	select {
	case a.busy <- struct{}{}:
		return func() { <-a.busy }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// A Crew is all participants of one run.
type Crew struct {
	Spec   event.RunSpec
	Flow   event.FlowID
	Blobs  Blobs
	Agents map[event.AgentID]*Agent
	// Redact takes secrets out of what comes from outside, before the model and
	// the log see it; nil leaves it as it is.
	Redact func(string) string
}

var _ engine.Doer = (*Crew)(nil)

// Do takes one turn.
func (c *Crew) Do(ctx context.Context, cmd flow.Command, p engine.Port) []event.Fact {
	switch w := cmd.(type) {
	case coord.Work:
		t := c.newTurn(w.Agent, w.Turn, p)
		t.metered, t.left = w.Metered, w.Calls
		return t.run(ctx, func(ctx context.Context) error { return t.work(ctx, w) })
	case coord.Present:
		t := c.newTurn(w.Agent, w.Turn, p)
		t.metered, t.left = w.Metered, w.Calls
		return t.run(ctx, func(ctx context.Context) error { return t.present(ctx, w) })
	}
	panic(fmt.Sprintf("agent: no way to do %T", cmd))
}

func (c *Crew) newTurn(a event.AgentID, t event.Turn, p engine.Port) *turn {
	out := newTurn(c.Agents[a], a, t, p, texts{c.Blobs, c.Redact})
	out.crew = c
	return out
}

func newTurn(who *Agent, a event.AgentID, t event.Turn, p engine.Port, x texts) *turn {
	return &turn{texts: x, port: p, id: a, turn: t, key: t.Key(a), agent: who, hand: empty{}, fence: newFence()}
}

// newFence is what marks where texts of others end in the prompts of a turn.
// Nobody can foretell it: it comes from nothing an agent could find out, such as
// the run's id in the path of its workspace.
func newFence() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// run waits for the agent, and makes a fact of how the turn ended if it ended
// without an outcome.
func (t *turn) run(ctx context.Context, take func(context.Context) error) (last []event.Fact) {
	if t.agent == nil {
		return t.failed(&backend.Error{Kind: backend.Invalid, Message: "the agent is not configured here"})
	}
	leave, err := t.agent.enter(ctx)
	if err != nil {
		return t.stopped(ctx)
	}
	defer leave()
	t.box = openMailbox(ctx, t.port, t.endJob)
	defer func() {
		if r := recover(); r != nil {
			last = t.failed(panicked(r))
		}
		t.box.close()
		// Whatever the turn started has ended before its last fact says so.
		if err := t.shut(); err != nil && len(last) == 0 {
			t.port.Live(live.Delta{Agent: t.id, Turn: t.turn, Kind: live.Text, Text: err.Error(), Call: t.calls + 1})
			t.port.Live(live.Delta{Agent: t.id, Turn: t.turn, Kind: live.End, Call: t.calls + 1})
		}
		if len(last) > 0 {
			last = append(t.written(context.WithoutCancel(ctx)), last...)
		}
	}()
	err = take(ctx)
	switch {
	case err == nil && t.account != nil:
		return []event.Fact{*t.account}
	case err == nil, errors.Is(err, errTurnOver), errors.Is(err, engine.ErrOver), errors.Is(err, engine.ErrLeft):
		return nil
	case ctx.Err() != nil:
		return t.stopped(ctx)
	}
	if s, ok := errors.AsType[*storageError](err); ok {
		t.port.Leave(s.error) // no fault of the agent's
		return nil
	}
	return t.failed(err)
}

// shut ends whatever the turn has started, once.
func (t *turn) shut() error {
	if t.idle {
		return nil
	}
	t.idle = true
	return t.hand.Close()
}

// panicked is the error of a backend or tool that fell over.
func panicked(r any) error {
	return &backend.Error{Kind: backend.Broken, Message: fmt.Sprintf("panic: %v", r)}
}

// storageError is a failure of the log itself.
type storageError struct{ error }

func (e *storageError) Unwrap() error { return e.error }
