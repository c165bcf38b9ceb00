// Package examples_test plays the example configurations from beginning to end,
// with the scripts' own delays, in no time at all.
package examples_test

import (
	"context"
	"testing"
	"testing/synctest"

	"conclave/internal/agent"
	"conclave/internal/backend/script"
	"conclave/internal/backend/script/demo"
	"conclave/internal/config"
	"conclave/internal/coord"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/eventlog/mem"
	"conclave/internal/flow"
)

func TestThreeScripts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := play(t, "three-scripts.yaml", "Where should we keep our backups?")
		var failures, refusals, answers int
		early := map[event.AgentID]event.AgentID{} // votes before all had answered
		for _, e := range events {
			switch b := e.Body.(type) {
			case event.Answered:
				if b.Revision == 1 {
					answers++
				}
			case event.Failed:
				failures++
				if e.Agent != "flaky" || b.Code != "overloaded" {
					t.Errorf("%s failed with %s", e.Agent, b.Code)
				}
			case event.Refused:
				refusals++
				if e.Agent != "unruly" || b.Code != "two_outcomes" {
					t.Errorf("%s was refused with %s", e.Agent, b.Code)
				}
			case event.Voted:
				if answers < 3 {
					early[e.Agent] = b.For
				}
			}
		}
		if failures != 1 || refusals == 0 || early["unruly"] != "unruly" {
			t.Errorf("%d failures, %d refusals, early votes %v; want 1, some, and unruly for itself", failures, refusals, early)
		}
		if last := finished(t, events); last.Winner != "careful" || last.StoppedBy != event.StoppedByVotes {
			t.Errorf("%s won, stopped by %s; want careful by votes", last.Winner, last.StoppedBy)
		}
	})
}

func TestQuick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := play(t, "quick.yaml", demo.Task)
		answers := map[event.AgentID]int{}
		for _, e := range events {
			switch b := e.Body.(type) {
			case event.Answered:
				answers[e.Agent]++
				if len(b.Seen) > 0 {
					t.Errorf("%s had seen %v", e.Agent, b.Seen)
				}
			case event.Presenting:
				if b.Strategy != event.Synthesize {
					t.Errorf("the winner presents by %s", b.Strategy)
				}
			}
		}
		for _, a := range []event.AgentID{"pragmatist", "theorist", "sceptic"} {
			if answers[a] != 1 {
				t.Errorf("%s answered %d times", a, answers[a])
			}
		}
		finished(t, events)
	})
}

func TestPlanning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := play(t, "planning.yaml", "Bring the README up to date")
		executed := false
		for _, e := range events {
			if b, ok := e.Body.(event.Presenting); ok {
				executed = b.Execute
			}
		}
		if !executed {
			t.Error("nobody carried out the plan")
		}
		finished(t, events)
	})
}

func finished(t *testing.T, events []event.Event) event.Finished {
	t.Helper()
	last, ok := events[len(events)-1].Body.(event.Finished)
	if !ok || last.Status != event.StatusSuccess || last.Answer.Empty() {
		t.Fatalf("ended with %+v", events[len(events)-1].Body)
	}
	return last
}

// play loads a configuration, which must give no cause for warnings, and runs it.
func play(t *testing.T, path, task string) []event.Event {
	t.Helper()
	f, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range f.Warnings {
		t.Error(w)
	}
	rules, err := f.Settings.Rules(f.Mode())
	if err != nil {
		t.Fatal(err)
	}
	return run(t, f.Agents, event.RunSpec{Task: event.Inline(task), ContextPaths: f.Settings.ContextPaths}, rules)
}

// run has agents work on a task, by these rules.
func run(t *testing.T, agents []config.Agent, spec event.RunSpec, rules event.Rules) []event.Event {
	t.Helper()
	const id event.FlowID = "run-example"
	const seed = 7
	log := mem.New()
	crew := &agent.Crew{Flow: id, Blobs: log, Agents: map[event.AgentID]*agent.Agent{}}
	for _, a := range agents {
		seat := event.Seat{Agent: a.ID, Backend: a.Backend, Model: a.Model, Prompt: a.Prompt}
		spec.Seats = append(spec.Seats, seat)
		crew.Agents[a.ID] = &agent.Agent{Seat: seat, Backend: script.New(scriptOf(t, a), script.Options{Pace: a.Pace})}
	}
	spec.Seats = event.Seated(seed, spec.Seats)
	crew.Spec = spec
	lease, err := log.Acquire(t.Context(), id, false)
	if err != nil {
		t.Fatal(err)
	}
	d := &engine.Driver{Log: log, Lease: lease, Decider: func() flow.Decider { return &coord.Run{} }, Doer: crew}
	if err := d.Start(t.Context(), event.Fact{ID: "started", Body: event.RunStarted{Spec: spec, Rules: rules, Seed: seed}}); err != nil {
		t.Fatal(err)
	}
	var events []event.Event
	for e, err := range log.Read(context.Background(), id, 1) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	if problems := coord.Check(events); len(problems) > 0 {
		t.Fatalf("the log is wrong: %v", problems)
	}
	return events
}

func scriptOf(t *testing.T, a config.Agent) *script.Script {
	t.Helper()
	if a.Backend == "script" {
		s, err := script.Load(a.Script)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, d := range demo.Agents() {
		if d.ID == a.Persona {
			return d.Script
		}
	}
	t.Fatalf("there is no persona %q", a.Persona)
	return nil
}
