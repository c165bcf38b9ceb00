package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"conclave/internal/agent/agenttest"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/eventlogtest"
	"conclave/internal/eventlog/mem"
)

// Whatever call of the log fails, the driver says so, stops, and leaves a log
// that a driver with a healthy one brings to the same end.
func TestStorageFailsEverywhere(t *testing.T) {
	const writes = eventlogtest.Commit | eventlogtest.PutBlob | eventlogtest.SaveCheckpoint
	for _, tt := range []struct {
		name   string
		on     eventlogtest.Call
		after  bool
		resume bool // the fault is in a run that is taken up
		atEach int  // calls of it, at least
	}{
		{"writes", writes, false, false, 30},
		{"writes, outcome unknown", writes, true, false, 30},
		{"reads", eventlogtest.Read, false, false, 5},
		{"writes of a resumed run", writes, false, true, 10},
		{"writes of a resumed run, outcome unknown", writes, true, true, 10},
		{"reads of a resumed run", eventlogtest.Read, false, true, 7},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := 1
			for fired := true; fired; n += stride {
				synctest.Test(t, func(t *testing.T) {
					fired = storageFails(t, eventlogtest.Plan{Nth: n, On: tt.on, After: tt.after}, tt.resume)
				})
			}
			if n -= stride; n <= tt.atEach {
				t.Errorf("the run makes only %d calls that can fail", n)
			}
		})
	}
}

// storageFails plays a run in which one call fails, and then to its end in which
// none does. It reports whether the run got as far as that call.
func storageFails(t *testing.T, p eventlogtest.Plan, resume bool) (fired bool) {
	t.Helper()
	store, s := mem.New(), trio(t)
	faulty := eventlogtest.Faulty(store, p)
	first := event.Fact{ID: "started", Body: s.Started}
	if resume {
		ctx, cancel := context.WithTimeout(t.Context(), 55*time.Second)
		defer cancel()
		d := s.Driver(t, store)
		d.CheckpointEvery(10)
		if err := d.Start(ctx, first); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	}
	d := s.Driver(t, faulty)
	d.CheckpointEvery(10)
	var err error
	if resume {
		err = d.Resume(t.Context())
	} else {
		err = d.Start(t.Context(), first)
	}
	cause := eventlog.ErrFull
	if p.After {
		cause = eventlog.ErrUnknown
	}
	events := agenttest.Proved(t, store)
	over := len(events) > 0 && event.Kind(events[len(events)-1].Body) == "finished"
	switch {
	case err == nil && !over: // a lost checkpoint is no error, but then the run goes on
		t.Fatalf("call %d: no error, and the run has not ended", p.Nth)
	case err != nil && (!errors.Is(err, cause) || !faulty.Fired()):
		t.Fatalf("call %d: %v", p.Nth, err)
	case len(events) == 0:
		err = s.Start(t.Context(), t, store)
	default:
		err = s.Resume(t.Context(), t, store)
	}
	if err != nil {
		t.Fatalf("call %d: afterwards: %v", p.Nth, err)
	}
	done(t, store)
	return faulty.Fired()
}
