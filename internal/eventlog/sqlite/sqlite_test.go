package sqlite_test

import (
	"context"
	"errors"
	"testing"

	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/sqlite"
)

var _ eventlog.Log = (*sqlite.Log)(nil)

func TestSmoke(t *testing.T) {
	dir := t.TempDir() + "/.conclave ?#%"
	log, err := sqlite.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l, err := log.Acquire(ctx, "run-1", false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Acquire(ctx, "run-1", false); !errors.Is(err, eventlog.ErrHeld) {
		t.Fatal(err)
	} else {
		t.Log(err)
	}
	got := make(chan uint64)
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
	for i := range uint64(10) {
		e := []event.Event{{Flow: "run-1", Seq: i + 1, Fact: event.Fact{ID: string(rune('a' + i)), Body: event.Unknown{Kind: "x", Raw: []byte(``)}}}}
		if err := log.Commit(ctx, l, e); err != nil {
			t.Fatal(err)
		}
		if s := <-got; s != i+1 || e[0].Pos != s {
			t.Fatal(s, e)
		}
	}
	if err := log.Send(ctx, "run-1", event.Fact{ID: "s", Body: event.Unknown{Kind: "x", Raw: []byte(`{}`)}}); err != nil {
		t.Fatal(err)
	}
	fs, err := log.Flows(ctx)
	t.Log(fs, err)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, eventlog.ErrClosed) {
		t.Fatalf("Close ended Follow with %v", err)
	}
}
