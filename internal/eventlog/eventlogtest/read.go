package eventlogtest

import (
	"context"
	"errors"
	"testing"

	"conclave/internal/event"
	"conclave/internal/eventlog"
)

func readFrom(t *testing.T, open func() eventlog.Log) {
	log := open()
	want := commit(t, log, acquire(t, log, flow), evs(flow, 1, 2000)...)
	for _, from := range []uint64{0, 1, 2, 1999, 2000} {
		same(t, "events", lines(t, all(t, log, flow, from)), lines(t, want[max(from, 1)-1:]))
	}
	same(t, "events after the last", len(all(t, log, flow, 2001)), 0)
	same(t, "first two", lines(t, first(t, 2, log.Read(t.Context(), flow, 3))), lines(t, want[2:4]))
}

func readNotFound(t *testing.T, open func() eventlog.Log) {
	log := open()
	acquire(t, log, flow) // a driver alone makes no flow
	for _, f := range []event.FlowID{flow, "none", "../none", ""} {
		n := 0
		for _, err := range log.Read(t.Context(), f, 1) {
			if n++; !errors.Is(err, eventlog.ErrNotFound) {
				t.Errorf("Read %q: %v, want ErrNotFound", f, err)
			}
		}
		same(t, "number of errors", n, 1)
	}
}

func readCancelled(t *testing.T, open func() eventlog.Log) {
	log := open()
	commit(t, log, acquire(t, log, flow), evs(flow, 1, 2000)...)
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	var last error
	for _, err := range log.Read(ctx, flow, 1) {
		if last = err; err == nil {
			n++
			cancel()
		}
	}
	cancel()
	if !errors.Is(last, context.Canceled) || n != 1 {
		t.Fatalf("a cancelled Read ended after %d events with %v, want context.Canceled after 1", n, last)
	}
}

// readDuringWrites reads again and again while events are committed: each read
// is a prefix, and none is shorter than the one before.
func readDuringWrites(t *testing.T, open func() eventlog.Log) {
	log := open()
	l := acquire(t, log, flow)
	commit(t, log, l, ev(flow, 1))
	written := make(chan error, 1)
	go func() {
		for n := uint64(2); n <= 300; n++ {
			if err := log.Commit(t.Context(), l, evs(flow, n, n)); err != nil {
				written <- err
				return
			}
		}
		written <- nil
	}()
	for last, done := 0, false; !done; {
		select {
		case err := <-written:
			if err != nil {
				t.Fatal(err)
			}
			done = true
		default:
		}
		got := all(t, log, flow, 1)
		if len(got) < last || done && len(got) != 300 {
			t.Fatalf("%d events after %d", len(got), last)
		}
		for i, e := range got {
			if e.Seq != uint64(i+1) {
				t.Fatalf("event %d in place %d", e.Seq, i+1)
			}
		}
		last = len(got)
	}
}

func flows(t *testing.T, open func() eventlog.Log) {
	log := open()
	if list, err := log.Flows(t.Context()); err != nil || len(list) != 0 {
		t.Fatalf("Flows of an empty log: %v, %v", list, err)
	}
	a, b := acquire(t, log, flow), acquire(t, log, "run-2")
	acquire(t, log, "run-3")
	ea := commit(t, log, a, evs(flow, 1, 3)...)
	eb := commit(t, log, b, ev("run-2", 1))
	check := func(want ...[]event.Event) {
		t.Helper()
		list, err := log.Flows(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		same(t, "number of flows", len(list), len(want))
		for i, f := range list {
			w := []event.Event{want[i][0], want[i][len(want[i])-1]}
			same(t, "flow", f.ID, w[0].Flow)
			same(t, "first and last", lines(t, []event.Event{f.First, f.Last}), lines(t, w))
		}
	}
	check(eb, ea)
	ea = append(ea, commit(t, log, a, ev(flow, 4))...)
	check(ea, eb)
	log.Close()
	log = open()
	check(ea, eb)
}
