package eventlogtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/internal/event"
	"conclave/internal/eventlog"
)

func commitOrder(t *testing.T, open func() eventlog.Log) {
	log := open()
	a, b := acquire(t, log, flow), acquire(t, log, "run-2")
	var want []event.Event
	want = append(want, commit(t, log, a, evs(flow, 1, 3)...)...)
	other := commit(t, log, b, ev("run-2", 1))
	want = append(want, commit(t, log, a, ev(flow, 4))...)
	same(t, "events", lines(t, all(t, log, flow, 1)), lines(t, want))
	last := uint64(0)
	for _, e := range append(want[:3:3], other[0], want[3]) {
		if e.Pos <= last {
			t.Fatalf("position %d follows %d", e.Pos, last)
		}
		last = e.Pos
	}
	if err := log.Commit(t.Context(), a, nil); err != nil {
		t.Fatalf("committing nothing: %v", err)
	}
}

func commitRoundTrip(t *testing.T, open func() eventlog.Log) {
	log := open()
	l := acquire(t, log, flow)
	bodies := []event.Body{
		event.Settled{Request: "a <b> & \u2028 \x00 ü"},
		event.Settled{Request: strings.Repeat("large ", 1<<18)},
		event.Unknown{Kind: "from_the_future", Raw: []byte(`{ "kept":  "as it is", "n": 1e400 }`)},
		event.Unknown{Kind: "not even JSON", Raw: []byte{0, 0xff, '\n'}},
		event.Unknown{Kind: "empty", Raw: []byte{}},
	}
	times := []time.Time{start, start.In(time.FixedZone("", 3600)), {}, time.Unix(0, 0), start}
	for i, b := range bodies {
		e := event.Event{Flow: flow, Seq: uint64(i + 1), At: times[i], Fact: event.Fact{ID: fmt.Sprint("id \x00/", i), Agent: event.AgentID(strings.Repeat("x", i)), Body: b}}
		commit(t, log, l, e)
	}
	log.Close()
	for i, e := range all(t, open(), flow, 1) {
		want, _ := event.EncodeBody(bodies[i])
		got, err := event.EncodeBody(e.Body)
		if err != nil || !bytes.Equal(got, want) || event.Kind(e.Body) != event.Kind(bodies[i]) {
			t.Errorf("body %d came back as %s %.80q, %v", i, event.Kind(e.Body), got, err)
		}
		if e.ID != fmt.Sprint("id \x00/", i) || string(e.Agent) != strings.Repeat("x", i) || e.Flow != flow {
			t.Errorf("event %d came back as %s %q %q", i, e.Flow, e.ID, e.Agent)
		}
		if !e.At.Equal(times[i]) || e.At.Location() != time.UTC {
			t.Errorf("time %v came back as %v", times[i], e.At)
		}
	}
}

func commitGap(t *testing.T, open func() eventlog.Log) {
	log := open()
	l := acquire(t, log, flow)
	refused := func(events ...event.Event) {
		t.Helper()
		if err := log.Commit(t.Context(), l, events); !errors.Is(err, eventlog.ErrGap) {
			t.Fatalf("events from %d on: %v, want ErrGap", events[0].Seq, err)
		}
	}
	refused(ev(flow, 0))
	refused(ev(flow, 2))
	commit(t, log, l, evs(flow, 1, 2)...)
	refused(ev(flow, 4))
	refused(ev(flow, 3), ev(flow, 5))
	refused(ev(flow, 2), ev(flow, 4))
	late := ev(flow, 1)
	late.ID = "another one in a taken place"
	refused(late)
	moved := ev(flow, 1)
	moved.Seq = 3
	refused(moved)
	twice := ev(flow, 3)
	twice.Seq = 4
	refused(ev(flow, 3), twice)
	commit(t, log, l, ev(flow, 3))
	same(t, "events", len(all(t, log, flow, 1)), 3)
}

func commitIdempotent(t *testing.T, open func() eventlog.Log) {
	log := open()
	l := acquire(t, log, flow)
	want := commit(t, log, l, evs(flow, 1, 3)...)
	again := evs(flow, 1, 3)
	again[1].At = start // when it was taken in is not part of what was said
	commit(t, log, l, again...)
	for i := range again {
		same(t, "position", again[i].Pos, want[i].Pos)
	}
	want = append(want, commit(t, log, l, evs(flow, 2, 5)...)[2:]...)
	same(t, "events", lines(t, all(t, log, flow, 1)), lines(t, want))
	log.Close()
	log = open()
	commit(t, log, acquire(t, log, flow), evs(flow, 3, 5)...)
	same(t, "events", lines(t, all(t, log, flow, 1)), lines(t, want))
}

func commitConflict(t *testing.T, open func() eventlog.Log) {
	log := open()
	l := acquire(t, log, flow)
	want := commit(t, log, l, evs(flow, 1, 2)...)
	change := []func(*event.Event){
		func(e *event.Event) { e.Body = event.Settled{Request: "other"} },
		func(e *event.Event) { e.Body = event.Granted{Request: "of turn/2.1/agent2"} },
		func(e *event.Event) { e.Agent = "codex" },
		func(e *event.Event) { e.Body = event.Settled{Request: "other"}; e.Seq = 3 },
	}
	for i, f := range change {
		e := ev(flow, 2)
		f(&e)
		if err := log.Commit(t.Context(), l, []event.Event{e}); !errors.Is(err, eventlog.ErrConflict) {
			t.Errorf("change %d: %v, want ErrConflict", i, err)
		}
	}
	other := ev("run-2", 1)
	other.Body = event.Settled{Request: "ids are per flow"}
	commit(t, log, acquire(t, log, "run-2"), other)
	same(t, "events", lines(t, all(t, log, flow, 1)), lines(t, want))
}

func commitAllOrNothing(t *testing.T, open func() eventlog.Log) {
	log := open()
	l := acquire(t, log, flow)
	want := commit(t, log, l, evs(flow, 1, 2)...)
	send(t, log, fact("turn/3.1/agent2"))
	bad := evs(flow, 3, 6)
	bad[3].ID, bad[3].Body = "turn/1.1/agent2", event.Settled{Request: "other"}
	if err := log.Commit(t.Context(), l, bad); !errors.Is(err, eventlog.ErrConflict) {
		t.Fatalf("Commit: %v, want ErrConflict", err)
	}
	same(t, "events", lines(t, all(t, log, flow, 1)), lines(t, want))
	same(t, "inbox", inbox(t, log, "end"), []string{"turn/3.1/agent2"})
	commit(t, log, l, evs(flow, 3, 4)...)
	same(t, "number of events", len(all(t, log, flow, 1)), 4)
}

func commitWrongFlow(t *testing.T, open func() eventlog.Log) {
	log := open()
	l := acquire(t, log, flow)
	if err := log.Commit(t.Context(), l, []event.Event{ev("run-2", 1)}); err == nil {
		t.Fatal("the lease of one flow was good for another")
	}
	if err := log.Commit(t.Context(), l, []event.Event{ev(flow, 1), ev("run-2", 2)}); err == nil {
		t.Fatal("events of two flows in one commit")
	}
	if err := log.Commit(t.Context(), l, []event.Event{{Flow: flow, Seq: 1, Fact: event.Fact{ID: "x"}}}); err == nil {
		t.Fatal("an event without a body")
	}
	if err := log.Commit(t.Context(), l, []event.Event{{Flow: flow, Seq: 1, Fact: fact("")}}); err == nil {
		t.Fatal("an event without an id")
	}
	list, err := log.Flows(t.Context())
	if err != nil || len(list) != 0 {
		t.Fatalf("Flows: %v, %v", list, err)
	}
}

// commitConcurrentFlows has many drivers at once, every third commit of which
// is refused: no one's refusal is another's.
func commitConcurrentFlows(t *testing.T, open func() eventlog.Log) {
	log := open()
	const drivers, commits = 8, 30
	var wg sync.WaitGroup
	for d := range drivers {
		f := event.FlowID(fmt.Sprintf("run-%d", d))
		l := acquire(t, log, f)
		wg.Go(func() {
			for n := range uint64(commits) {
				if n%3 == 0 {
					if err := log.Commit(t.Context(), l, []event.Event{ev(f, n+2)}); !errors.Is(err, eventlog.ErrGap) {
						t.Errorf("%s: %v, want ErrGap", f, err)
					}
				}
				if err := log.Commit(t.Context(), l, []event.Event{ev(f, n+1)}); err != nil {
					t.Errorf("%s: %v", f, err)
				}
			}
		})
	}
	wg.Wait()
	seen := map[uint64]bool{}
	for d := range drivers {
		got := all(t, log, event.FlowID(fmt.Sprintf("run-%d", d)), 1)
		same(t, "number of events", len(got), commits)
		for i, e := range got {
			if e.Seq != uint64(i+1) || seen[e.Pos] {
				t.Fatalf("event %d of %s has number %d and position %d", i, e.Flow, e.Seq, e.Pos)
			}
			seen[e.Pos] = true
		}
	}
}

func commitCancelled(t *testing.T, open func() eventlog.Log) {
	log := open()
	l := acquire(t, log, flow)
	if err := log.Commit(cancelled(t), l, evs(flow, 1, 1)); !errors.Is(err, context.Canceled) {
		t.Fatalf("Commit: %v, want context.Canceled", err)
	}
	if list, err := log.Flows(t.Context()); err != nil || len(list) != 0 {
		t.Fatalf("a cancelled commit left %v, %v", list, err)
	}
	// Whatever a commit says when its context ends in the middle has to be true.
	for n := uint64(1); n <= 50; {
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		err := log.Commit(ctx, l, evs(flow, n, n))
		list, lerr := log.Flows(t.Context())
		if lerr != nil {
			t.Fatal(lerr)
		}
		in := len(list) == 1 && list[0].Last.Seq == n
		switch {
		case err == nil && in:
			n++
		case err == nil:
			t.Fatalf("event %d was committed and is not there", n)
		case in && !errors.Is(err, eventlog.ErrUnknown):
			t.Fatalf("event %d was refused (%v) and is there", n, err)
		case !errors.Is(err, context.Canceled):
			t.Fatalf("Commit: %v, want context.Canceled", err)
		default:
			commit(t, log, l, ev(flow, n))
			n++
		}
	}
}

func commitSurvives(t *testing.T, open func() eventlog.Log) {
	log := open()
	want := commit(t, log, acquire(t, log, flow), evs(flow, 1, 5)...)
	log.Close()
	log = open()
	want = append(want, commit(t, log, acquire(t, log, flow), ev(flow, 6))...)
	same(t, "events", lines(t, all(t, log, flow, 1)), lines(t, want))
}
