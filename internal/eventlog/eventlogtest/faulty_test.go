package eventlogtest_test

import (
	"errors"
	"testing"

	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/eventlogtest"
	"conclave/internal/eventlog/mem"
)

// A wrapper without a fault has the meaning of a log.
func TestFaultyPasses(t *testing.T) {
	eventlogtest.Run(t, eventlogtest.Engine{New: func(t *testing.T) func() eventlog.Log {
		store := mem.New()
		return func() eventlog.Log { return eventlogtest.Faulty(store.Open(), eventlogtest.Plan{}) }
	}})
}

func TestFaulty(t *testing.T) {
	const flow = "run-1"
	for _, tt := range []struct {
		name   string
		plan   eventlogtest.Plan
		want   []error // of four commits
		events int
		calls  int
	}{
		{"before", eventlogtest.Plan{Nth: 3}, []error{nil, eventlog.ErrFull, nil, nil}, 4, 6},
		{"after", eventlogtest.Plan{Nth: 3, After: true}, []error{nil, eventlog.ErrUnknown, nil, nil}, 4, 6},
		{"commit only", eventlogtest.Plan{Nth: 1, On: eventlogtest.Commit, Err: eventlog.ErrUnwritable}, []error{eventlog.ErrUnwritable, nil, nil, nil}, 4, 5},
		{"dead", eventlogtest.Plan{Nth: 4, Dead: true}, []error{nil, nil, eventlog.ErrFull, eventlog.ErrFull}, 2, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := mem.New()
			log := eventlogtest.Faulty(store, tt.plan)
			l, err := log.Acquire(t.Context(), flow, false)
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range tt.want {
				e := []event.Event{{Flow: flow, Seq: uint64(i + 1), Fact: event.Fact{ID: string(rune('a' + i)), Body: event.Settled{}}}}
				err := log.Commit(t.Context(), l, e)
				if !errors.Is(err, want) {
					t.Fatalf("commit %d: %v, want %v", i+1, err, want)
				}
				if err == nil || tt.plan.Dead {
					continue
				}
				if in := count(t, store, flow) == i+1; in != tt.plan.After {
					t.Fatalf("event %d is in the log: %v", i+1, in)
				}
				if err := log.Commit(t.Context(), l, e); err != nil {
					t.Fatalf("the second try: %v", err)
				}
			}
			if n := count(t, store, flow); n != tt.events || !log.Fired() || log.Calls() != tt.calls {
				t.Fatalf("%d events, fired %v, %d calls", n, log.Fired(), log.Calls())
			}
		})
	}
}

func count(t *testing.T, log eventlog.Log, flow event.FlowID) (n int) {
	list, err := log.Flows(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if f.ID == flow {
			n = int(f.Last.Seq)
		}
	}
	return n
}
