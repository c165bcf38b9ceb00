package eventlogtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"conclave/internal/event"
	"conclave/internal/eventlog"
)

// followNoGap has followers that begin at different times while many speak and
// one commits.
func followNoGap(t *testing.T, open func() eventlog.Log) {
	log := open()
	l := acquire(t, log, flow)
	commit(t, log, l, ev(flow, 1))
	const total, followers, speakers = 400, 6, 4
	var wg sync.WaitGroup
	follow := func(from uint64) {
		wg.Go(func() {
			want := from
			for e, err := range log.Follow(t.Context(), flow, from) {
				if err != nil || e.Seq != want {
					t.Errorf("event %d, %v, want %d", e.Seq, err, want)
					return
				}
				if want++; want > total {
					return
				}
			}
		})
	}
	for s := range speakers {
		wg.Go(func() {
			for n := range 25 {
				if err := log.Send(t.Context(), flow, fact(fmt.Sprintf("said/%d/%d", s, n))); err != nil {
					t.Errorf("Send: %v", err)
				}
			}
		})
	}
	follow(1)
	for n := uint64(2); n <= total; n++ {
		commit(t, log, l, ev(flow, n))
		if n%(total/followers) == 0 {
			follow(n / 2)
		}
	}
	follow(total)
	wg.Wait()
}

func followWaits(t *testing.T, open func() eventlog.Log) {
	log := open()
	got, done := collect(log.Follow(t.Context(), flow, 2))
	l := acquire(t, log, flow)
	commit(t, log, l, ev(flow, 1))
	want := commit(t, log, l, ev(flow, 2))
	same(t, "event", lines(t, []event.Event{<-got}), lines(t, want))
	log.Nudge() // brings nothing new
	want = commit(t, log, l, ev(flow, 3))
	same(t, "event", lines(t, []event.Event{<-got}), lines(t, want))
	log.Close()
	if err := <-done; !errors.Is(err, eventlog.ErrClosed) {
		t.Fatalf("Close ended Follow with %v, want ErrClosed", err)
	}
}

func followEnds(t *testing.T, open func() eventlog.Log) {
	log := open()
	commit(t, log, acquire(t, log, flow), evs(flow, 1, 3)...)
	ctx, cancel := context.WithCancel(t.Context())
	events, eventsDone := collect(log.Follow(ctx, flow, 1))
	none, noneDone := collect(log.Follow(ctx, "none", 1))
	facts, factsDone := collect(log.Inbox(ctx, flow))
	for range 3 {
		<-events
	}
	cancel()
	for _, done := range []<-chan error{eventsDone, noneDone, factsDone} {
		if err := <-done; err != nil {
			t.Errorf("the end of the context ended with %v, want no error", err)
		}
	}
	same(t, "values", len(events)+len(none)+len(facts), 0)
	for e, err := range log.Follow(cancelled(t), flow, 1) {
		t.Errorf("Follow without a context gave %v, %v", e.Seq, err)
	}
	_, factsDone = collect(log.Inbox(t.Context(), flow))
	log.Close()
	if err := <-factsDone; !errors.Is(err, eventlog.ErrClosed) {
		t.Fatalf("Close ended Inbox with %v, want ErrClosed", err)
	}
}

func followOther(t *testing.T, open func() eventlog.Log) {
	log, other := open(), open()
	l := acquire(t, log, flow)
	got, _ := collect(other.Follow(t.Context(), flow, 1))
	for n := uint64(1); n <= 200; n++ {
		commit(t, log, l, ev(flow, n))
		if n%50 == 0 {
			for want := n - 49; want <= n; want++ {
				if e := <-got; e.Seq != want {
					t.Fatalf("event %d, want %d", e.Seq, want)
				}
			}
		}
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	// The follower's own commits, on top of what the other wrote.
	l = acquire(t, other, flow)
	commit(t, other, l, ev(flow, 201))
	same(t, "event", (<-got).Seq, uint64(201))
	same(t, "events", len(all(t, log, flow, 1)), 201)
}
