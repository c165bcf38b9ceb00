package agenttest

import (
	"context"
	"testing"
	"time"

	"conclave/internal/agent"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/flow"
	"conclave/internal/job"
)

// A Job is a job with one agent that can be begun on a log, left and taken up
// again: a real decider, driver and worker. Its workspace is a [Folder] and its
// runs are what a test says.
type Job struct {
	Started event.JobStarted
	Actor   Actor
	Folder  *Folder
	// Run says what a run comes to; nil is success.
	Run func(ctx context.Context, l job.Launch, p engine.Port) event.Returned
	// Worker changes the worker before it is used; Observe is given every event.
	Worker  func(*agent.Worker)
	Observe func([]event.Event)
}

// Planner is the id of the agent of every job.
const Planner event.AgentID = "planner"

// NewJob is a job whose plan is looked at, with a document.
func NewJob(a Actor) *Job {
	a.ID = Planner
	return &Job{Actor: a, Folder: NewFolder(), Started: event.JobStarted{
		Title: "Offers", Description: event.Inline("Compare the three offers and draft a recommendation."),
		Documents: []event.Document{{Path: "a.md", Size: 12}}, Dir: "/job",
		Seat: event.Seat{Agent: Planner, Backend: "test", Prompt: a.Prompt},
		Rules: event.JobRules{
			Version: event.JobRulesVersion, Review: event.ReviewFirst, Execute: event.ExecuteSingle, MaxPhases: 20, MaxTodos: 20,
			MaxCalls: 50, MaxAttempts: 3, MaxIdle: 3, SoftRounds: 3, Permission: event.Override{On: true},
		},
	}}
}

// Drive begins the job, or takes it up where the log ends, as a program does that
// was just started. It drives until ctx ends.
func (s *Job) Drive(ctx context.Context, t testing.TB, log eventlog.Log) error {
	t.Helper()
	lease, err := log.Acquire(context.Background(), Flow, true)
	if err != nil {
		t.Fatal(err)
	}
	if len(Events(t, log)) == 0 {
		Commit(t, log, lease, event.Event{Flow: Flow, Seq: 1, At: time.Now(), Fact: event.Fact{ID: "started", Body: s.Started}})
	}
	d := &engine.Driver{Log: log, Lease: lease, Decider: func() flow.Decider { return &job.Job{} }, Doer: s.doer(log), Observe: s.Observe}
	return d.Resume(ctx)
}

func (s *Job) doer(log eventlog.Log) engine.Doer {
	k := &agent.Worker{Flow: Flow, Blobs: log, Bench: s.Folder.Bench, Agent: &agent.Agent{
		Seat: s.Started.Seat, Backend: s.Actor.Backend, Tools: s.Actor.Tools, Kit: s.Actor.Kit, Parallel: s.Actor.Parallel,
	}}
	if s.Worker != nil {
		s.Worker(k)
	}
	return shop{s, k}
}

// A shop does what a job asks for.
type shop struct {
	s      *Job
	worker *agent.Worker
}

func (x shop) Do(ctx context.Context, cmd flow.Command, p engine.Port) []event.Fact {
	switch c := cmd.(type) {
	case job.Prepare:
		return []event.Fact{c.Fact(x.s.Folder.Prepare())}
	case job.Keep:
		return []event.Fact{c.Fact(x.s.Folder.Keep(c))}
	case job.Launch:
		r := event.Returned{Status: event.StatusSuccess, Answer: event.Inline("Carried out.")}
		if x.s.Run != nil {
			r = x.s.Run(ctx, c, p)
		}
		if ctx.Err() != nil {
			return nil // left in mid-air
		}
		return []event.Fact{c.Fact(r)}
	}
	return x.worker.Do(ctx, cmd, p)
}

// Carried is Events of a job's log without problems.
func Carried(t testing.TB, log eventlog.Log) []event.Event {
	t.Helper()
	events := Events(t, log)
	for _, p := range job.Check(events) {
		t.Errorf("log: %s", p)
	}
	if t.Failed() {
		t.Fatalf("%s", Transcript(events))
	}
	return events
}
