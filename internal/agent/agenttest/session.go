package agenttest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"conclave/internal/agent"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/flow"
	"conclave/internal/talk"
)

// A Session is a session with one agent that can be opened on a log, left and
// opened again: a real decider, driver and talker. Its runs are what a test says.
type Session struct {
	Staffed event.Staffed
	Host    Actor
	// Run says what a run comes to; nil is success, with the task as its answer.
	// The port tells when a person cancels it. The end of ctx leaves it in mid-air.
	Run func(ctx context.Context, l talk.Launch, p engine.Port) event.Returned
	// Talker changes the talker before it is used; Observe is given every event.
	Talker  func(*agent.Talker)
	Observe func([]event.Event)
	// Doer, if it is set, stands between the driver and who does the work.
	Doer func(engine.Doer) engine.Doer
}

// Host is the id of the agent of every session.
const Host event.AgentID = "host"

// Talk seats an agent and a team of two, ada and bob.
func Talk(host Actor) *Session {
	host.ID = Host
	return &Session{Host: host, Staffed: event.Staffed{
		Seat: event.Seat{Agent: Host, Backend: "test", Prompt: host.Prompt},
		Team: []event.Teammate{{Agent: "ada", Backend: "test", About: "Reads a lot."}, {Agent: "bob", Backend: "test"}},
		Rules: event.SessionRules{
			Version: event.SessionRulesVersion, MaxCalls: 20, MaxAttempts: 3, MaxRuns: 1, Permission: event.Override{On: true},
		},
	}}
}

// Drive begins the session, or takes it up where the log ends, as a program does
// that was just started. It drives until ctx ends; what is in mid-air then is cut
// off.
func (s *Session) Drive(ctx context.Context, t testing.TB, log eventlog.Log) error {
	t.Helper()
	lease, err := log.Acquire(context.Background(), Flow, true)
	if err != nil {
		t.Fatal(err)
	}
	var also []event.Fact
	if events := Events(t, log); len(events) < 2 {
		also = []event.Fact{{ID: "staffed", Body: s.Staffed}}
		if len(events) == 0 {
			Commit(t, log, lease, event.Event{Flow: Flow, Seq: 1, At: time.Now(), Fact: event.Fact{
				ID: "started", Body: event.SessionStarted{Kind: event.SessionInteractive, Asks: true},
			}})
		}
	}
	d := &engine.Driver{Log: log, Lease: lease, Decider: func() flow.Decider { return &talk.Session{} }, Observe: s.Observe}
	d.Doer = s.doer(log)
	if s.Doer != nil {
		d.Doer = s.Doer(d.Doer)
	}
	return d.Resume(ctx, also...)
}

// Commit puts events into a log as they are.
func Commit(t testing.TB, log eventlog.Log, lease eventlog.Lease, events ...event.Event) {
	t.Helper()
	if err := log.Commit(context.Background(), lease, events); err != nil {
		t.Fatal(err)
	}
}

func (s *Session) doer(log eventlog.Log) engine.Doer {
	k := &agent.Talker{Flow: Flow, Blobs: log, Agent: &agent.Agent{
		Seat: s.Staffed.Seat, Backend: s.Host.Backend, Tools: s.Host.Tools, Kit: s.Host.Kit, Parallel: s.Host.Parallel,
	}}
	if s.Talker != nil {
		s.Talker(k)
	}
	return chair{k, s.Run}
}

// A chair does what a session asks for.
type chair struct {
	talker *agent.Talker
	run    func(context.Context, talk.Launch, engine.Port) event.Returned
}

func (c chair) Do(ctx context.Context, cmd flow.Command, p engine.Port) []event.Fact {
	l, ok := cmd.(talk.Launch)
	if !ok {
		return c.talker.Do(ctx, cmd, p)
	}
	run := c.run
	if run == nil {
		run = Succeeds
	}
	r := run(ctx, l, p)
	if ctx.Err() != nil {
		return nil // left in mid-air
	}
	return []event.Fact{l.Fact(r)}
}

// Succeeds is a run whose answer repeats its task.
func Succeeds(_ context.Context, l talk.Launch, _ engine.Port) event.Returned {
	return Result(event.StatusSuccess, fmt.Sprintf("Done: %s", l.Launch.Task.Text))
}

// Result is what a run has come to, with its RunResult.
func Result(status event.Status, answer string) event.Returned {
	p, err := json.Marshal(map[string]any{
		"status": status, "final_answer": answer, "workspace_path": "/runs/x", "coordination_summary": map[string]any{"winner": "ada"},
	})
	if err != nil {
		panic(err) // strings always marshal
	}
	return event.Returned{Status: status, Answer: event.Inline(answer), Result: event.Inline(string(p)), Usage: event.Usage{Input: 7, Output: 3}}
}

// Send says something to the session.
func Send(t testing.TB, log eventlog.Log, id string, b event.Body) {
	t.Helper()
	if err := log.Send(context.Background(), Flow, event.Fact{ID: id, Body: b}); err != nil {
		t.Fatal(err)
	}
}

// Sound is Events of a session's log without problems.
func Sound(t testing.TB, log eventlog.Log) []event.Event {
	t.Helper()
	events := Events(t, log)
	for _, p := range talk.Check(events) {
		t.Errorf("log: %s", p)
	}
	if t.Failed() {
		t.Fatalf("%s", Transcript(events))
	}
	return events
}
