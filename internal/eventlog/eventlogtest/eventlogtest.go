// Package eventlogtest is the meaning of [eventlog.Log] as a test suite, and a
// log that fails on purpose.
//
// The test of an engine is a call of [Run]. [Faulty] wraps any log for tests of
// what its users do when it fails.
package eventlogtest

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/event"
	"conclave/internal/eventlog"
)

// An Engine is what the suite is run on.
type Engine struct {
	// New makes an empty store. The function it returns opens the store, any
	// number of times.
	New func(t *testing.T) (open func() eventlog.Log)
	// Alone says that a store is open at most once at a time.
	Alone bool
}

// Run runs the suite.
func Run(t *testing.T, e Engine) {
	tests := []struct {
		name   string
		shared bool // needs the store open twice
		run    func(*testing.T, func() eventlog.Log)
	}{
		{"commit/order", false, commitOrder},
		{"commit/round trip", false, commitRoundTrip},
		{"commit/gap", false, commitGap},
		{"commit/idempotent", false, commitIdempotent},
		{"commit/conflict", false, commitConflict},
		{"commit/all or nothing", false, commitAllOrNothing},
		{"commit/wrong flow", false, commitWrongFlow},
		{"commit/concurrent flows", false, commitConcurrentFlows},
		{"commit/cancelled", false, commitCancelled},
		{"commit/survives reopen", false, commitSurvives},
		{"read/from", false, readFrom},
		{"read/not found", false, readNotFound},
		{"read/cancelled", false, readCancelled},
		{"read/during writes", false, readDuringWrites},
		{"flows", false, flows},
		{"follow/no gap", false, followNoGap},
		{"follow/waits for the flow", false, followWaits},
		{"follow/ends", false, followEnds},
		{"follow/other opener", true, followOther},
		{"inbox/once and in order", false, inboxOnce},
		{"inbox/leaves with the commit", false, inboxLeaves},
		{"inbox/same fact again", false, inboxAgain},
		{"inbox/survives reopen", false, inboxSurvives},
		{"inbox/not found", false, inboxNotFound},
		{"inbox/many speakers", false, inboxSpeakers},
		{"inbox/other opener", true, inboxOther},
		{"lease/held and released", false, leaseHeld},
		{"lease/taken over", false, leaseTakenOver},
		{"lease/epochs grow", false, leaseEpochs},
		{"lease/announce", false, leaseAnnounce},
		{"lease/flow ids", false, leaseFlowIDs},
		{"lease/other opener", true, leaseOther},
		{"lease/one of many", true, leaseOneOfMany},
		{"blobs", false, blobs},
		{"checkpoints", false, checkpoints},
		{"closed", false, closed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.shared && e.Alone {
				t.Skip("the engine's stores are open once at a time")
			}
			open := e.New(t)
			tt.run(t, func() eventlog.Log {
				log := open()
				t.Cleanup(func() { log.Close() })
				return log
			})
		})
	}
}

const flow = event.FlowID("run-20261115-084210-k3f9")

// start is the time of event 1 in the suite; event n is n milliseconds later.
var start = time.Date(2026, 11, 15, 8, 42, 10, 123456789, time.UTC)

// ev is event n of a flow with an id and a body of its own.
func ev(f event.FlowID, n uint64) event.Event {
	return event.Event{Flow: f, Seq: n, At: start.Add(time.Duration(n) * time.Millisecond), Fact: fact(fmt.Sprintf("turn/%d.1/agent2", n))}
}

func evs(f event.FlowID, from, to uint64) []event.Event {
	var out []event.Event
	for n := from; n <= to; n++ {
		out = append(out, ev(f, n))
	}
	return out
}

func fact(id string) event.Fact {
	return event.Fact{ID: id, Agent: "claude", Body: event.Settled{Request: "of " + id}}
}

func raw(id, body string) event.Fact {
	return event.Fact{ID: id, Body: event.Unknown{Kind: "from_the_future", Raw: []byte(body)}}
}

func acquire(t *testing.T, log eventlog.Log, f event.FlowID) eventlog.Lease {
	t.Helper()
	l, err := log.Acquire(t.Context(), f, false)
	if err != nil {
		t.Fatalf("Acquire: %v", err)
	}
	return l
}

func commit(t *testing.T, log eventlog.Log, l eventlog.Lease, events ...event.Event) []event.Event {
	t.Helper()
	if err := log.Commit(t.Context(), l, events); err != nil {
		t.Fatalf("Commit: %v", err)
	}
	return events
}

func send(t *testing.T, log eventlog.Log, f event.Fact) {
	t.Helper()
	if err := log.Send(t.Context(), flow, f); err != nil {
		t.Fatalf("Send %s: %v", f.ID, err)
	}
}

// all reads a flow to its end.
func all(t *testing.T, log eventlog.Log, f event.FlowID, from uint64) []event.Event {
	t.Helper()
	var out []event.Event
	for e, err := range log.Read(t.Context(), f, from) {
		if err != nil {
			t.Fatalf("Read: %v", err)
		}
		out = append(out, e)
	}
	return out
}

// first returns the first n values and ends the sequence.
func first[T any](t *testing.T, n int, seq iter.Seq2[T, error]) []T {
	t.Helper()
	var out []T
	for v, err := range seq {
		if err != nil {
			t.Fatalf("after %d values: %v", len(out), err)
		}
		if out = append(out, v); len(out) == n {
			break
		}
	}
	return out
}

// inbox returns what waits in the inbox. A sentinel that is sent last tells
// where that ends; it stays.
func inbox(t *testing.T, log eventlog.Log, sentinel string) []string {
	t.Helper()
	send(t, log, fact(sentinel))
	var out []string
	for f, err := range log.Inbox(t.Context(), flow) {
		if err != nil {
			t.Fatalf("Inbox: %v", err)
		}
		if f.ID == sentinel {
			return out
		}
		out = append(out, f.ID)
	}
	t.Fatal("Inbox ended")
	return nil
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if reflect.DeepEqual(want, got) {
		return // cmp takes its time over thousands of lines
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

// lines are events in their wire form, which says all there is.
func lines(t *testing.T, events []event.Event) []string {
	t.Helper()
	var out []string
	for _, e := range events {
		p, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(p))
	}
	return out
}

// collect runs a sequence in a goroutine. The channel has every value; done has
// how it ended, nil for without an error.
func collect[T any](seq iter.Seq2[T, error]) (values <-chan T, done <-chan error) {
	v, d := make(chan T, 10_000), make(chan error, 1)
	go func() {
		defer close(v)
		for x, err := range seq {
			if err != nil {
				d <- err
				return
			}
			v <- x
		}
		d <- nil
	}()
	return v, d
}

// cancelled is a context that has ended.
func cancelled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
