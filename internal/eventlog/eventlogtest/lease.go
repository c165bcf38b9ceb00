package eventlogtest

import (
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"conclave/internal/event"
	"conclave/internal/eventlog"
)

func held(t *testing.T, log eventlog.Log, want bool) eventlog.Holder {
	t.Helper()
	h, ok, err := log.Holder(t.Context(), flow)
	if err != nil || ok != want {
		t.Fatalf("Holder: %v, %v, %v, want %v", h, ok, err, want)
	}
	return h
}

func superseded(t *testing.T, log eventlog.Log, l eventlog.Lease, events ...event.Event) {
	t.Helper()
	if err := log.Commit(t.Context(), l, events); !errors.Is(err, eventlog.ErrSuperseded) {
		t.Fatalf("Commit: %v, want ErrSuperseded", err)
	}
}

func leaseHeld(t *testing.T, open func() eventlog.Log) {
	log := open()
	held(t, log, false)
	l := acquire(t, log, flow)
	same(t, "flow", l.Flow(), flow)
	h := held(t, log, true)
	if h.PID != os.Getpid() || h.Since.IsZero() {
		t.Fatalf("holder %+v", h)
	}
	_, err := log.Acquire(t.Context(), flow, false)
	var he *eventlog.HeldError
	if !errors.As(err, &he) || !errors.Is(err, eventlog.ErrHeld) || he.Flow != flow || he.Holder != h {
		t.Fatalf("Acquire: %v, want a HeldError with %+v", err, h)
	}
	acquire(t, log, "run-2") // leases are per flow
	commit(t, log, l, ev(flow, 1))
	for range 2 {
		if err := l.Release(); err != nil {
			t.Fatalf("Release: %v", err)
		}
	}
	held(t, log, false)
	superseded(t, log, l, ev(flow, 2))
	commit(t, log, acquire(t, log, flow), ev(flow, 2))
}

func leaseTakenOver(t *testing.T, open func() eventlog.Log) {
	log := open()
	a := acquire(t, log, flow)
	commit(t, log, a, ev(flow, 1))
	b, err := log.Acquire(t.Context(), flow, true)
	if err != nil {
		t.Fatalf("Acquire: %v", err)
	}
	superseded(t, log, a, ev(flow, 2))
	superseded(t, log, a) // even if there is nothing to commit
	if err := a.Release(); err != nil {
		t.Fatalf("Release: %v", err)
	}
	held(t, log, true)
	if _, err := log.Acquire(t.Context(), flow, false); !errors.Is(err, eventlog.ErrHeld) {
		t.Fatalf("Acquire: %v, want ErrHeld", err)
	}
	commit(t, log, b, ev(flow, 2))
	if err := b.Release(); err != nil {
		t.Fatalf("Release: %v", err)
	}
	c, err := log.Acquire(t.Context(), flow, true) // from nobody
	if err != nil {
		t.Fatalf("Acquire: %v", err)
	}
	commit(t, log, c, ev(flow, 3))
}

func leaseEpochs(t *testing.T, open func() eventlog.Log) {
	last := uint64(0)
	for i := range 4 {
		log := open()
		for _, takeOver := range []bool{false, true} {
			l, err := log.Acquire(t.Context(), flow, takeOver)
			if err != nil {
				t.Fatalf("Acquire: %v", err)
			}
			if l.Epoch() <= last {
				t.Fatalf("epoch %d follows %d", l.Epoch(), last)
			}
			last = l.Epoch()
			if takeOver && i%2 == 0 { // else Close releases it
				l.Release()
			}
		}
		log.Close()
	}
}

func leaseAnnounce(t *testing.T, open func() eventlog.Log) {
	log := open()
	l := acquire(t, log, flow)
	for _, live := range []string{"unix:/a/long/path/to/a/socket", "unix:/short", ""} {
		if err := l.(eventlog.Announcer).Announce(live); err != nil {
			t.Fatalf("Announce: %v", err)
		}
		same(t, "live", held(t, log, true).Live, live)
	}
	l.Release()
	if err := l.(eventlog.Announcer).Announce("x"); !errors.Is(err, eventlog.ErrSuperseded) {
		t.Fatalf("Announce: %v, want ErrSuperseded", err)
	}
}

func leaseFlowIDs(t *testing.T, open func() eventlog.Log) {
	log := open()
	for _, bad := range []event.FlowID{"", ".", "..", ".hidden", "a/b", "../a", "a\x00b", "ü", "a b", event.FlowID(strings.Repeat("x", 300))} {
		if _, err := log.Acquire(t.Context(), bad, false); err == nil {
			t.Errorf("flow id %q was taken", bad)
		}
		if _, ok, err := log.Holder(t.Context(), bad); ok || err != nil {
			t.Errorf("Holder of %q: %v, %v", bad, ok, err)
		}
	}
	for _, good := range []event.FlowID{"a", "A-1_b.c", "-", "_", event.FlowID(strings.Repeat("x", 200))} {
		acquire(t, log, good)
	}
}

func leaseOther(t *testing.T, open func() eventlog.Log) {
	log, other := open(), open()
	a := acquire(t, log, flow)
	commit(t, log, a, ev(flow, 1))
	same(t, "holder", held(t, other, true), held(t, log, true))
	if _, err := other.Acquire(t.Context(), flow, false); !errors.Is(err, eventlog.ErrHeld) {
		t.Fatalf("Acquire: %v, want ErrHeld", err)
	}
	superseded(t, other, a, ev(flow, 2)) // a lease is good for its own log only
	b, err := other.Acquire(t.Context(), flow, true)
	if err != nil {
		t.Fatalf("Acquire: %v", err)
	}
	superseded(t, log, a, ev(flow, 2))
	commit(t, other, b, ev(flow, 2))
	a.Release() // must not free what b holds
	if _, err := log.Acquire(t.Context(), flow, false); !errors.Is(err, eventlog.ErrHeld) {
		t.Fatalf("Acquire: %v, want ErrHeld", err)
	}
	other.Close() // frees it
	commit(t, log, acquire(t, log, flow), ev(flow, 3))
}

// leaseOneOfMany has many take over from one another at once: in the end the
// one with the newest epoch drives, and only that one.
func leaseOneOfMany(t *testing.T, open func() eventlog.Log) {
	const openers, times = 4, 5
	logs := make([]eventlog.Log, openers)
	leases := make([][]eventlog.Lease, openers)
	for i := range logs {
		logs[i] = open()
	}
	var wg sync.WaitGroup
	for i, log := range logs {
		wg.Go(func() {
			for range times {
				l, err := log.Acquire(t.Context(), flow, true)
				if err != nil {
					t.Errorf("Acquire: %v", err)
					return
				}
				leases[i] = append(leases[i], l)
			}
		})
	}
	wg.Wait()
	epochs := map[uint64]bool{}
	newest := 0
	for i := range leases {
		for _, l := range leases[i] {
			epochs[l.Epoch()] = true
		}
		last := leases[i][len(leases[i])-1]
		if last.Epoch() > leases[newest][times-1].Epoch() {
			newest = i
		}
	}
	same(t, "epochs", len(epochs), openers*times)
	for i := range leases {
		for j, l := range leases[i] {
			if i == newest && j == times-1 {
				commit(t, logs[i], l, ev(flow, 1))
			} else {
				superseded(t, logs[i], l, ev(flow, 1))
				l.Release()
			}
		}
	}
	held(t, logs[0], true)
	leases[newest][times-1].Release()
	held(t, logs[0], false)
}
