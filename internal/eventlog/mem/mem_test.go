package mem_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/eventlogtest"
	"conclave/internal/eventlog/mem"
)

func TestLog(t *testing.T) {
	eventlogtest.Run(t, eventlogtest.Engine{New: func(t *testing.T) func() eventlog.Log {
		store := mem.New()
		return func() eventlog.Log { return store.Open() }
	}})
}

// A waiting Follow must not keep a synctest bubble from being idle.
func TestFollowBlocksDurably(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := mem.New()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		l, err := log.Acquire(ctx, "run-1", false)
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan uint64, 2)
		done := make(chan error, 1)
		go func() {
			for e, err := range log.Follow(ctx, "run-1", 1) {
				if err != nil {
					done <- err
					return
				}
				got <- e.Seq
			}
			done <- nil
		}()
		synctest.Wait()
		if len(got) != 0 {
			t.Fatal("an event before any commit")
		}
		e := event.Event{Flow: "run-1", Seq: 1, Fact: event.Fact{ID: "a", Body: event.Unknown{Kind: "x", Raw: []byte(`{}`)}}}
		if err := log.Commit(ctx, l, []event.Event{e}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(got) != 1 || <-got != 1 {
			t.Fatal("the commit did not reach the follower")
		}
		log.Close()
		if err := <-done; !errors.Is(err, eventlog.ErrClosed) {
			t.Fatalf("Close ended Follow with %v", err)
		}
	})
}
