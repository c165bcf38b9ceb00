package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"

	"conclave/internal/backend"
	"conclave/internal/coord"
	"conclave/internal/event"
	"conclave/internal/policy"
	"conclave/internal/prompt"
	"conclave/internal/tool"
)

// A Kit equips one agent of a run: its workspace, its sandbox, its tools.
type Kit interface {
	// Open makes ready what the agent has at hand in one turn.
	Open(ctx context.Context, n Need) (Hand, error)
}

// A Need is what a turn calls for.
type Need struct {
	Turn event.Turn
	Role event.Role
	// Planning: nothing may be changed. Write: the writable context paths may.
	Planning bool
	Write    bool
	// Again: an earlier take of the round was cut, so the workspace is put back
	// to Snapshot, the agent's own at its last answer. A presenter goes on with
	// what is there.
	Again    bool
	Snapshot string
	Peers    []Peer
}

// A Peer is an answer whose author's workspace the agent may look into.
type Peer struct {
	Label    event.Label
	Revision int
	Snapshot string
}

// A Hand is what an agent has at hand in one turn. It is used by one goroutine
// at a time, but for its tools.
type Hand interface {
	Tools() []tool.Tool
	// Scene describes the agent's surroundings.
	Scene() prompt.Scene
	// Notices are what the user should know of the equipment, each said once.
	Notices() []string
	// Show brings the workspaces behind new answers into reach, and returns
	// where they are.
	Show(ctx context.Context, peers []Peer) ([]prompt.Folder, error)
	// Judge says what a call would do and whether it may.
	Judge(x tool.Tool, c event.ToolCall) (policy.Action, policy.Verdict)
	// Rule says whether an agent that is a program may do something by itself; the
	// action it returns is the one that is judged, complete. It may be called at any
	// time until Close.
	Rule(policy.Action) (policy.Action, policy.Verdict)
	// Room is where such a program runs; nil for any other agent.
	Room() backend.Room
	// Remember keeps a permission for good. It may be called at any time.
	Remember(policy.Action) error
	// EndJob ends a command in the background and says how it ended. It may be
	// called at any time until Close; its error is a sentence too.
	EndJob(ctx context.Context, id string) (how string, err error)
	// Snapshot ends what runs in the background and keeps the workspace as it is.
	// Its error, if it is a *Refusal, is for the agent to mend.
	Snapshot(ctx context.Context) (string, error)
	// Written is what became of the user's files since the run could first write
	// them. It may be called after Close.
	Written(ctx context.Context) (event.Written, error)
	// Close ends whatever the turn has started.
	Close() error
}

// A Refusal is why something of the agent's cannot be taken, in words for it.
type Refusal struct{ Why string }

func (e *Refusal) Error() string { return e.Why }

// empty is the hand of an agent that only speaks.
type empty struct{}

func (empty) Tools() []tool.Tool  { return nil }
func (empty) Scene() prompt.Scene { return prompt.Scene{} }
func (empty) Notices() []string   { return nil }
func (empty) Show(context.Context, []Peer) ([]prompt.Folder, error) {
	return nil, nil
}
func (empty) Judge(tool.Tool, event.ToolCall) (policy.Action, policy.Verdict) {
	return policy.Action{}, policy.Verdict{Decision: policy.Allow}
}
func (empty) Rule(a policy.Action) (policy.Action, policy.Verdict) {
	return a, policy.Verdict{Decision: policy.Allow}
}
func (empty) Room() backend.Room { return nil }
func (empty) EndJob(context.Context, string) (string, error) {
	return "", errors.New("nothing runs in the background")
}
func (empty) Remember(policy.Action) error                   { return nil }
func (empty) Snapshot(context.Context) (string, error)       { return "", nil }
func (empty) Written(context.Context) (event.Written, error) { return event.Written{}, nil }
func (empty) Close() error                                   { return nil }

// equip opens the agent's kit for the turn.
func (t *turn) equip(ctx context.Context, n Need) error {
	n.Turn, n.Again = t.turn, t.turn.Take > 1
	t.write = n.Write
	if t.agent.Kit == nil {
		return t.homeless()
	}
	h, err := t.agent.Kit.Open(ctx, n)
	if err != nil {
		return fmt.Errorf("make ready: %w", err)
	}
	t.hand = h
	var facts []event.Fact
	for _, n := range h.Notices() {
		facts = append(facts, t.fact("noticed", event.Noticed{Turn: t.turn, Text: clip(n, event.InlineMax)}))
	}
	if len(facts) > 0 {
		_, err = t.port.Submit(ctx, facts...)
	}
	return cmp.Or(err, t.homeless())
}

// homeless is why an agent that is a program cannot run.
func (t *turn) homeless() error {
	if t.agent.Backend.Traits().OwnTools && t.hand.Room() == nil {
		return &backend.Error{Kind: backend.Invalid, Message: "the agent is a program, and nothing was made ready for it to run in; start again, so that it is"}
	}
	return nil
}

func peers(shown []coord.Shown) []Peer {
	var out []Peer
	for _, s := range shown {
		if s.Snapshot != "" && !s.Own {
			out = append(out, Peer{s.Label, s.Revision, s.Snapshot})
		}
	}
	return out
}

// written is the fact of what a turn that could write has written, unless the
// turn has said so already. An earlier take may have said something else.
func (t *turn) written(ctx context.Context) []event.Fact {
	if !t.write {
		return nil
	}
	w, err := t.hand.Written(ctx)
	if err != nil { // better said than taken for nothing written
		if t.blind {
			return nil
		}
		t.blind = true
		return []event.Fact{t.fact("noticed", event.Noticed{Turn: t.turn, Text: clip("which of the user's files were changed cannot be told: "+err.Error(), event.InlineMax)})}
	}
	w.Turn = t.turn
	nothing := t.wrote == nil && t.turn.Take == 1 && w.Total == 0
	if nothing || t.wrote != nil && reflect.DeepEqual(*t.wrote, w) {
		return nil
	}
	t.wrote = &w
	return []event.Fact{t.fact("written", w)}
}

// noteWritten records what has been written so far: a run that ends before the
// turn does would not say.
func (t *turn) noteWritten(ctx context.Context) error {
	facts := t.written(ctx)
	if len(facts) == 0 {
		return nil
	}
	_, err := t.port.Submit(ctx, facts...)
	return err
}
