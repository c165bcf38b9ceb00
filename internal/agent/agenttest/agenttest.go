// Package agenttest puts runs on a stage: real deciders, drivers and crews with
// scripted or made-up agents, on any log.
//
// Everything works inside a testing/synctest bubble, where minutes of scripted
// work pass at once.
package agenttest

import (
	"context"
	"testing"

	"conclave/internal/agent"
	"conclave/internal/backend"
	"conclave/internal/backend/script"
	"conclave/internal/coord"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/flow"
	"conclave/internal/tool"
)

// Flow is the flow every stage plays.
const Flow event.FlowID = "run-test"

// An Actor is one agent of a run.
type Actor struct {
	ID      event.AgentID
	Backend backend.Backend
	Tools   []tool.Tool
	Prompt  string
	Kit     agent.Kit // nil for an agent that only speaks
	// Parallel is how many calls that only look run at once; zero is the default.
	Parallel int
}

// Scripted is an actor that plays a YAML script.
func Scripted(t testing.TB, id event.AgentID, src string) Actor {
	t.Helper()
	s, err := script.Parse(string(id)+".yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return Actor{ID: id, Backend: script.New(s, script.Options{})}
}

// A Stage is a run that can be started on one log and taken up on another
// handle of it.
type Stage struct {
	Started event.RunStarted
	Actors  []Actor
	// Doer, if it is set, stands between the driver and the crew.
	Doer func(engine.Doer) engine.Doer
	// Redact takes secrets out of what tools give back.
	Redact func(string) string
}

// New seats the actors for a run of the task.
func New(rules event.Rules, task string, actors ...Actor) *Stage {
	const seed = 7
	var seats []event.Seat
	for _, a := range actors {
		seats = append(seats, event.Seat{Agent: a.ID, Backend: "test", Model: "model-of-" + string(a.ID), Prompt: a.Prompt})
	}
	return &Stage{Actors: actors, Started: event.RunStarted{
		Spec: event.RunSpec{Task: event.Inline(task), Seats: event.Seated(seed, seats)}, Rules: rules, Seed: seed,
	}}
}

// Label is what the others call an actor.
func (s *Stage) Label(id event.AgentID) event.Label {
	for _, seat := range s.Started.Spec.Seats {
		if seat.Agent == id {
			return seat.Label
		}
	}
	return ""
}

// Driver is a fresh driver of the run, as a program has that was just started.
// It takes the lease from whoever has it.
func (s *Stage) Driver(t testing.TB, log eventlog.Log) *engine.Driver {
	t.Helper()
	lease, err := log.Acquire(context.Background(), Flow, true)
	if err != nil {
		t.Fatal(err)
	}
	crew := &agent.Crew{Flow: Flow, Spec: s.Started.Spec, Blobs: log, Redact: s.Redact, Agents: map[event.AgentID]*agent.Agent{}}
	for _, seat := range s.Started.Spec.Seats {
		for _, a := range s.Actors {
			if a.ID == seat.Agent {
				crew.Agents[a.ID] = &agent.Agent{Seat: seat, Backend: a.Backend, Tools: a.Tools, Kit: a.Kit, Parallel: a.Parallel}
			}
		}
	}
	d := &engine.Driver{Log: log, Lease: lease, Decider: func() flow.Decider { return &coord.Run{} }, Doer: crew}
	if s.Doer != nil {
		d.Doer = s.Doer(crew)
	}
	return d
}

// Start drives the run from its first event on.
func (s *Stage) Start(ctx context.Context, t testing.TB, log eventlog.Log) error {
	t.Helper()
	return s.Driver(t, log).Start(ctx, event.Fact{ID: "started", Body: s.Started})
}

// Resume takes the run up where the log ends.
func (s *Stage) Resume(ctx context.Context, t testing.TB, log eventlog.Log, also ...event.Fact) error {
	t.Helper()
	return s.Driver(t, log).Resume(ctx, also...)
}

// Play starts the run, sees it to its end and proves its log.
func (s *Stage) Play(t testing.TB, log eventlog.Log) []event.Event {
	t.Helper()
	if err := s.Start(context.Background(), t, log); err != nil {
		t.Fatalf("the run: %v", err)
	}
	return Proved(t, log)
}

// Events is the log of the run, none if there is none.
func Events(t testing.TB, log eventlog.Log) []event.Event {
	t.Helper()
	flows, err := log.Flows(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(flows) == 0 {
		return nil
	}
	var out []event.Event
	for e, err := range log.Read(context.Background(), Flow, 1) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

// Proved is Events of a log without problems.
func Proved(t testing.TB, log eventlog.Log) []event.Event {
	t.Helper()
	events := Events(t, log)
	for _, p := range coord.Check(events) {
		t.Errorf("log: %s", p)
	}
	if t.Failed() {
		t.Fatalf("%s", Transcript(events))
	}
	return events
}

// Transcript is a log as a reader of a failed test wants it.
func Transcript(events []event.Event) string {
	var out []byte
	for _, e := range events {
		b, err := event.EncodeBody(e.Body)
		if err != nil {
			b = []byte(err.Error())
		}
		out = append(out, e.At.Format("15:04:05.000 ")+e.ID+" "+event.Kind(e.Body)+" "...)
		out = append(append(out, b[:min(len(b), 300)]...), '\n')
	}
	return string(out)
}

// Finished is the end of a run's log.
func Finished(t testing.TB, events []event.Event) event.Finished {
	t.Helper()
	if len(events) > 0 {
		if f, ok := events[len(events)-1].Body.(event.Finished); ok {
			return f
		}
	}
	t.Fatalf("the run has not ended:\n%s", Transcript(events))
	return event.Finished{}
}

// Bodies are the facts of one kind about one agent, in order; the empty agent
// is the run itself.
func Bodies[B event.Body](events []event.Event, a event.AgentID) []B {
	var out []B
	for _, e := range events {
		if b, ok := e.Body.(B); ok && e.Agent == a {
			out = append(out, b)
		}
	}
	return out
}
