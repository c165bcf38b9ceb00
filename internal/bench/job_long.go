package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"conclave/internal/app"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/sqlite"
)

// longJobID is the job that longJob is asked for where there is one alone.
const longJobID event.FlowID = "job-long"

// eventsOfStep is how many events a step of longJob is.
const eventsOfStep = 4

// A ledger writes the log of a job without driving it, with the checkpoints of the
// view that its driver would make.
type ledger struct {
	log   eventlog.Log
	lease eventlog.Lease
	keep  func([]event.Event)
	seq   uint64
	batch []event.Event
}

func (l *ledger) add(agent event.AgentID, b event.Body) string {
	l.seq++
	id := fmt.Sprint("f/", l.seq)
	l.batch = append(l.batch, event.Event{
		Flow: l.lease.Flow(), Seq: l.seq, At: time.Unix(1.7e9+int64(l.seq), 0).UTC(), Fact: event.Fact{ID: id, Agent: agent, Body: b},
	})
	return id
}

func (l *ledger) commit(ctx context.Context) error {
	if err := l.log.Commit(ctx, l.lease, l.batch); err != nil {
		return err
	}
	l.keep(l.batch)
	l.batch = nil
	return nil
}

// longJob writes a job of n steps into the log of a directory: a call of the model
// and of a tool each, with what both say in full.
func longJob(ctx context.Context, dir string, id event.FlowID, n int) error {
	log, err := sqlite.Open(ctx, filepath.Join(dir, ".conclave"))
	if err != nil {
		return err
	}
	defer log.Close()
	return writeJob(ctx, log, id, n)
}

func writeJob(ctx context.Context, log eventlog.Log, id event.FlowID, n int) error {
	lease, err := log.Acquire(ctx, id, false)
	if err != nil {
		return err
	}
	defer lease.Release()
	blob := func(text string) event.Content {
		h, e := log.PutBlob(ctx, []byte(text))
		err = errors.Join(err, e)
		return event.Content{Blob: h, Size: len(text)}
	}
	sent := &event.Sent{System: blob(strings.Repeat("You are the agent of a job. ", 500)), Tools: blob("[" + strings.Repeat(" ", 9000) + "]")}
	long := blob("a long result: " + strings.Repeat("<row>", 2000))
	if err != nil {
		return err
	}
	l := &ledger{log: log, lease: lease, keep: app.Keep(log, id)}
	turn := event.Turn{Round: 1, Take: 1}
	l.add("", event.JobStarted{Title: "long", Description: event.Inline("Look at very many offers."), Seat: event.Seat{Agent: "ada", Label: "agent1"}, Rules: event.JobRules{Version: 1}})
	l.add("", event.Prepared{Commit: "c0"})
	l.add("", event.PhaseBegun{Phase: 1, Iteration: 1, Kind: event.PhaseStrategic, Purpose: event.PurposeInitial, Todos: []event.Todo{{ID: "1", Text: "all"}}})
	l.add("ada", event.Assigned{Turn: turn})
	l.add("ada", event.Briefed{Turn: turn, Text: event.Inline("You plan.")})
	for i := range n {
		call := fmt.Sprint("t", i)
		r := event.ToolReturned{Turn: turn, Call: call, Name: "read", Result: event.Inline(strings.Repeat("result ", 100))}
		switch {
		case i%10 == 0:
			r.Result = long
		case i%1000 == 999:
			r.Error = true
		}
		request := l.add("ada", event.Requested{Turn: turn, Amount: event.Amount{Tokens: 1000}})
		l.add("", event.Granted{Request: request})
		l.add("ada", event.Called{
			Turn: turn, Call: i + 1, Model: "m-1", Text: event.Inline(fmt.Sprintf("step %d: I look at the next offer", i)), Sent: sent,
			Tools: []event.ToolCall{{ID: call, Name: "read", Input: json.RawMessage(`{"path":"documents/a.md"}`)}},
			Usage: event.Usage{Input: 100, Output: 10, Cost: 50}, Request: request,
		})
		l.add("ada", r)
		if len(l.batch) >= 400 {
			if err := l.commit(ctx); err != nil {
				return err
			}
		}
	}
	return l.commit(ctx)
}
