package eventlogtest

import (
	"bytes"
	"errors"
	"sync"
	"testing"

	"conclave/internal/event"
	"conclave/internal/eventlog"
)

func blobs(t *testing.T, open func() eventlog.Log) {
	log := open()
	contents := [][]byte{{}, []byte("short"), bytes.Repeat([]byte("long "), 1<<18)}
	var wg sync.WaitGroup
	for _, p := range contents {
		for range 4 {
			wg.Go(func() {
				h, err := log.PutBlob(t.Context(), p)
				if err != nil || h != event.HashOf(p) {
					t.Errorf("PutBlob: %q, %v", h, err)
				}
			})
		}
	}
	wg.Wait()
	log.Close()
	log = open()
	for _, p := range contents {
		got, err := log.Blob(t.Context(), event.HashOf(p))
		if err != nil || !bytes.Equal(got, p) {
			t.Fatalf("Blob of %d bytes: %d bytes, %v", len(p), len(got), err)
		}
		if len(got) > 0 {
			got[0] = '!' // the caller's own
		}
		if got, err = log.Blob(t.Context(), event.HashOf(p)); err != nil || !bytes.Equal(got, p) {
			t.Fatalf("a caller changed the blob: %v", err)
		}
	}
	for _, h := range []event.Hash{event.HashOf([]byte("none")), "", "x", "../../conclave.db"} {
		if _, err := log.Blob(t.Context(), h); !errors.Is(err, eventlog.ErrNotFound) {
			t.Errorf("Blob %q: %v, want ErrNotFound", h, err)
		}
	}
}

func checkpoints(t *testing.T, open func() eventlog.Log) {
	log := open()
	c := eventlog.Checkpoint{Name: "card", Version: 2, Seq: 3, Data: []byte("\x00state")}
	if err := log.SaveCheckpoint(t.Context(), flow, c); !errors.Is(err, eventlog.ErrNotFound) {
		t.Fatalf("SaveCheckpoint without a flow: %v, want ErrNotFound", err)
	}
	commit(t, log, acquire(t, log, flow), evs(flow, 1, 3)...)
	save := func(c eventlog.Checkpoint) {
		t.Helper()
		if err := log.SaveCheckpoint(t.Context(), flow, c); err != nil {
			t.Fatalf("SaveCheckpoint: %v", err)
		}
	}
	check := func(f event.FlowID, name string, version int, want *eventlog.Checkpoint) {
		t.Helper()
		got, ok, err := log.LoadCheckpoint(t.Context(), f, name, version)
		if err != nil || ok != (want != nil) {
			t.Fatalf("LoadCheckpoint %s %d: %v, %v", name, version, ok, err)
		}
		if ok {
			same(t, "checkpoint", got, *want)
		}
	}
	save(c)
	other := eventlog.Checkpoint{Name: "plan", Version: 2, Seq: 1, Data: []byte{1}}
	save(other)
	check(flow, "card", 2, &c)
	check(flow, "plan", 2, &other)
	check(flow, "card", 1, nil)
	check(flow, "card", 3, nil)
	check(flow, "none", 2, nil)
	check("none", "card", 2, nil)
	c.Version, c.Data = 3, []byte("newer")
	save(c)
	check(flow, "card", 3, &c)
	check(flow, "card", 2, nil)
	c.Seq = 4
	if err := log.SaveCheckpoint(t.Context(), flow, c); !errors.Is(err, eventlog.ErrGap) {
		t.Fatalf("SaveCheckpoint of events that are not there: %v, want ErrGap", err)
	}
	c.Seq = 3
	log.Close()
	log = open()
	check(flow, "card", 3, &c)
}

func closed(t *testing.T, open func() eventlog.Log) {
	log := open()
	l := acquire(t, log, flow)
	commit(t, log, l, ev(flow, 1))
	for range 2 {
		if err := log.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
	}
	ctx := t.Context()
	calls := map[string]func() error{
		"Commit":         func() error { return log.Commit(ctx, l, evs(flow, 2, 2)) },
		"Send":           func() error { return log.Send(ctx, flow, fact("a")) },
		"Flows":          func() error { _, err := log.Flows(ctx); return err },
		"Acquire":        func() error { _, err := log.Acquire(ctx, flow, true); return err },
		"Holder":         func() error { _, _, err := log.Holder(ctx, flow); return err },
		"PutBlob":        func() error { _, err := log.PutBlob(ctx, nil); return err },
		"Blob":           func() error { _, err := log.Blob(ctx, event.HashOf(nil)); return err },
		"SaveCheckpoint": func() error { return log.SaveCheckpoint(ctx, flow, eventlog.Checkpoint{Name: "x", Seq: 1}) },
		"LoadCheckpoint": func() error { _, _, err := log.LoadCheckpoint(ctx, flow, "x", 0); return err },
		"Read": func() (last error) {
			for _, err := range log.Read(ctx, flow, 1) {
				last = err
			}
			return last
		},
		"Follow": func() (last error) {
			for _, err := range log.Follow(ctx, flow, 1) {
				last = err
			}
			return last
		},
		"Unheard": func() (last error) {
			for _, err := range log.Unheard(ctx, flow) {
				last = err
			}
			return last
		},
		"Inbox": func() (last error) {
			for _, err := range log.Inbox(ctx, flow) {
				last = err
			}
			return last
		},
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, eventlog.ErrClosed) {
			t.Errorf("%s: %v, want ErrClosed", name, err)
		}
	}
	log.Nudge()
	if err := l.Release(); err != nil {
		t.Errorf("Release: %v", err)
	}
	log = open()
	held(t, log, false)
	same(t, "events", len(all(t, log, flow, 1)), 1)
}
