package engine_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"conclave/internal/agent/agenttest"
	"conclave/internal/coord"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/mem"
)

var _ engine.Checkpointer = (*coord.Run)(nil)

// reads is a log that notes from where it was read.
type reads struct {
	eventlog.Log
	from []uint64
}

func (r *reads) Read(ctx context.Context, id event.FlowID, from uint64) iter.Seq2[event.Event, error] {
	r.from = append(r.from, from)
	return r.Log.Read(ctx, id, from)
}

// left is a run that was left after the given time, with a checkpoint every so
// many events.
func left(t *testing.T, after time.Duration, every uint64) (*mem.Log, *agenttest.Stage) {
	t.Helper()
	log, s := mem.New(), trio(t)
	ctx, cancel := context.WithTimeout(t.Context(), after)
	defer cancel()
	d := s.Driver(t, log)
	d.CheckpointEvery(every)
	if err := d.Start(ctx, event.Fact{ID: "started", Body: s.Started}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	return log, s
}

// A run is taken up from its checkpoint, and goes on as if its whole log had
// been read: done replays that from the first event on and compares.
func TestCheckpoint(t *testing.T) {
	for after := 5 * time.Second; after < 125*time.Second; after += 10 * time.Second {
		synctest.Test(t, func(t *testing.T) {
			store, s := left(t, after, 1)
			events := agenttest.Events(t, store)
			c, ok, err := store.LoadCheckpoint(t.Context(), agenttest.Flow, "decider", (&coord.Run{}).CheckpointVersion())
			if err != nil || !ok || c.Seq != events[len(events)-1].Seq {
				t.Fatalf("left with the checkpoint %d of %d events (%v, %v)", c.Seq, len(events), ok, err)
			}
			log := &reads{Log: store}
			if err := s.Resume(t.Context(), t, log); err != nil {
				t.Fatal(err)
			}
			if len(log.from) != 1 || log.from[0] != c.Seq {
				t.Errorf("was read from %v, the checkpoint is of %d events", log.from, c.Seq)
			}
			done(t, store)
		})
	}
}

// Events after the checkpoint are added to it.
func TestCheckpointAndTail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, s := left(t, 65*time.Second, 30)
		events := agenttest.Events(t, store)
		c, ok, err := store.LoadCheckpoint(t.Context(), agenttest.Flow, "decider", (&coord.Run{}).CheckpointVersion())
		if err != nil || !ok || c.Seq < 10 || c.Seq >= uint64(len(events)) {
			t.Fatalf("the checkpoint is of %d of %d events (%v, %v)", c.Seq, len(events), ok, err)
		}
		log := &reads{Log: store}
		if err := s.Resume(t.Context(), t, log); err != nil {
			t.Fatal(err)
		}
		if log.from[0] != c.Seq {
			t.Errorf("was read from %v, the checkpoint is of %d events", log.from, c.Seq)
		}
		done(t, store)
	})
}

// A checkpoint is a cache: one that cannot be used is not.
func TestUselessCheckpoint(t *testing.T) {
	version := (&coord.Run{}).CheckpointVersion()
	for name, c := range map[string]eventlog.Checkpoint{
		"garbage":       {Name: "decider", Version: version, Seq: 3, Data: []byte("garbage")},
		"of nothing":    {Name: "decider", Version: version, Seq: 0, Data: []byte("{}")},
		"other version": {Name: "decider", Version: version + 1, Seq: 3, Data: []byte("{}")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, s := left(t, 65*time.Second, 0)
				if err := store.SaveCheckpoint(t.Context(), agenttest.Flow, c); err != nil {
					t.Fatal(err)
				}
				log := &reads{Log: store}
				if err := s.Resume(t.Context(), t, log); err != nil {
					t.Fatal(err)
				}
				if log.from[0] != 1 {
					t.Errorf("was read from %v", log.from)
				}
				done(t, store)
			})
		})
	}
}
