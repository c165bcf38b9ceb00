package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"time"

	"conclave/internal/agent"
	"conclave/internal/backend/script"
	"conclave/internal/coord"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/sqlite"
	"conclave/internal/flow"
)

// turns compares what a turn costs, three agents in two rounds each with a model
// that takes no time, with one HTTP round trip on loopback and one fsync: what a
// program that keeps what it gets from a model cannot do without. Our turns
// make no HTTP call here, so the round trip is added to them.
func turns(ctx context.Context, dir string) ([]row, error) {
	log, err := sqlite.Open(ctx, filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	trip, err := request()
	if err != nil {
		return nil, err
	}
	sync, done, err := fsyncer(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	var syncs, runs []time.Duration
	for n := range 201 {
		t := time.Now()
		if err := sync(); err != nil {
			return nil, err
		}
		syncs = append(syncs, time.Since(t))
		d, err := twoRounds(ctx, log, event.FlowID(fmt.Sprintf("run-%d", n)))
		if err != nil {
			return nil, err
		}
		runs = append(runs, d)
	}
	return []row{against("a turn: 3 agents × 2 rounds, no model latency", "HTTP round trip + fsync", middle(syncs)+trip, middle(runs)/turnsOfTwoRounds+trip, 3)}, nil
}

// request is one HTTP request on loopback, and its answer.
func request() (time.Duration, error) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }))
	defer srv.Close()
	return median(501, func() error {
		resp, err := srv.Client().Get(srv.URL)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		return err
	})
}

// turnsOfTwoRounds is how many turns a run of twoRounds takes.
const turnsOfTwoRounds = 6

const twoRoundScript = `
name: bench
steps:
  - when: {presenting: true}
    do: [{say: the final answer}]
  - when: {own: 0}
    do: [{answer: a first answer}]
  - do: [{vote: {for: first, reason: it is the best}}]
`

// twoRounds plays one run in which every agent answers and votes, and returns
// how long it took from its first event to its last.
func twoRounds(ctx context.Context, log eventlog.Log, id event.FlowID) (time.Duration, error) {
	rules := event.Defaults(event.Mode{})
	rules.DeferVoting, rules.Strategy = true, event.WinnerReuse
	d, started, err := newRun(ctx, log, id, twoRoundScript, 3, rules)
	if err != nil {
		return 0, err
	}
	defer d.Lease.Release()
	begin := time.Now()
	err = d.Start(ctx, started)
	return time.Since(begin), err
}

// newRun prepares a run of n agents that all follow one script.
func newRun(ctx context.Context, log eventlog.Log, id event.FlowID, src string, n int, rules event.Rules) (*engine.Driver, event.Fact, error) {
	s, err := script.Parse("bench.yaml", []byte(src))
	if err != nil {
		return nil, event.Fact{}, err
	}
	crew := &agent.Crew{Flow: id, Blobs: log, Agents: map[event.AgentID]*agent.Agent{}}
	for i := range n {
		seat := event.Seat{Agent: event.AgentID(fmt.Sprintf("a%d", i)), Backend: "script"}
		crew.Spec.Seats = append(crew.Spec.Seats, seat)
		crew.Agents[seat.Agent] = &agent.Agent{Seat: seat, Backend: script.New(s, script.Options{})}
	}
	crew.Spec.Task = event.Inline("a task")
	crew.Spec.Seats = event.Seated(1, crew.Spec.Seats)
	lease, err := log.Acquire(ctx, id, false)
	if err != nil {
		return nil, event.Fact{}, err
	}
	d := &engine.Driver{Log: log, Lease: lease, Doer: crew, Decider: func() flow.Decider { return &coord.Run{} }}
	return d, event.Fact{ID: "started", Body: event.RunStarted{Spec: crew.Spec, Rules: rules, Seed: 1}}, nil
}
