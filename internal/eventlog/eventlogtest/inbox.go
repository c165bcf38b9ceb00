package eventlogtest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"conclave/internal/event"
	"conclave/internal/eventlog"
)

func inboxOnce(t *testing.T, open func() eventlog.Log) {
	log := open()
	commit(t, log, acquire(t, log, flow), ev(flow, 1))
	got, _ := collect(log.Inbox(t.Context(), flow))
	facts := []event.Fact{fact("b"), fact("a"), raw("c", `{ "as":  "it is" }`)}
	for _, f := range facts {
		send(t, log, f)
		same(t, "fact", <-got, f)
	}
	log.Nudge()
	send(t, log, fact("d"))
	same(t, "fact", <-got, fact("d"))
	same(t, "another call", inbox(t, log, "end"), []string{"b", "a", "c", "d"})
}

func inboxLeaves(t *testing.T, open func() eventlog.Log) {
	log := open()
	l := acquire(t, log, flow)
	commit(t, log, l, ev(flow, 1))
	for _, id := range []string{"a", "b", "c"} {
		send(t, log, fact(id))
	}
	e := ev(flow, 2)
	e.Fact = fact("b")
	commit(t, log, l, e, ev(flow, 3))
	var unheard []string
	for f, err := range log.Unheard(t.Context(), flow) {
		if err != nil {
			t.Fatal(err)
		}
		unheard = append(unheard, f.ID)
	}
	same(t, "what is unheard", unheard, []string{"a", "c"})
	for f, err := range log.Unheard(t.Context(), "nobody") {
		t.Errorf("a flow that is not there has %v, %v", f, err)
	}
	same(t, "inbox", inbox(t, log, "end"), []string{"a", "c"})
	e = ev(flow, 4)
	e.ID = "c" // with another body: the id is what counts
	commit(t, log, l, e)
	same(t, "inbox", inbox(t, log, "end"), []string{"a"})
	// A watcher that has seen the last entry sees the next one, too.
	got, _ := collect(log.Inbox(t.Context(), flow))
	<-got
	same(t, "fact", (<-got).ID, "end")
	e = ev(flow, 5)
	e.Fact = fact("end")
	commit(t, log, l, e)
	send(t, log, fact("next"))
	same(t, "fact", (<-got).ID, "next")
}

func inboxAgain(t *testing.T, open func() eventlog.Log) {
	log := open()
	l := acquire(t, log, flow)
	commit(t, log, l, ev(flow, 1))
	conflict := func(f event.Fact) {
		t.Helper()
		if err := log.Send(t.Context(), flow, f); !errors.Is(err, eventlog.ErrConflict) {
			t.Fatalf("Send: %v, want ErrConflict", err)
		}
	}
	send(t, log, fact("a"))
	send(t, log, fact("a"))
	conflict(raw("a", `{}`))
	same(t, "inbox", inbox(t, log, "end"), []string{"a"})
	e := ev(flow, 2)
	e.Fact = fact("a")
	commit(t, log, l, e)
	send(t, log, fact("a")) // it is in the log
	conflict(raw("a", `{}`))
	same(t, "inbox", inbox(t, log, "end"), []string(nil))
}

func inboxSurvives(t *testing.T, open func() eventlog.Log) {
	log := open()
	commit(t, log, acquire(t, log, flow), ev(flow, 1))
	send(t, log, fact("a"))
	send(t, log, fact("b"))
	log.Close()
	log = open()
	send(t, log, fact("a"))
	same(t, "inbox", inbox(t, log, "end"), []string{"a", "b"})
}

func inboxNotFound(t *testing.T, open func() eventlog.Log) {
	log := open()
	l := acquire(t, log, flow)
	got, _ := collect(log.Inbox(t.Context(), flow)) // waits for the flow
	for _, f := range []event.FlowID{flow, "none", "../none"} {
		if err := log.Send(t.Context(), f, fact("a")); !errors.Is(err, eventlog.ErrNotFound) {
			t.Fatalf("Send to %q: %v, want ErrNotFound", f, err)
		}
	}
	commit(t, log, l, ev(flow, 1))
	send(t, log, fact("b"))
	same(t, "fact", (<-got).ID, "b")
	if err := log.Send(t.Context(), flow, event.Fact{ID: "x"}); err == nil {
		t.Fatal("a fact without a body")
	}
	if err := log.Send(t.Context(), flow, fact("")); err == nil {
		t.Fatal("a fact without an id")
	}
}

// inboxSpeakers has a driver that admits what many say at once. Everything is
// in the log in the end, and nothing twice.
func inboxSpeakers(t *testing.T, open func() eventlog.Log) {
	log := open()
	l := acquire(t, log, flow)
	commit(t, log, l, ev(flow, 1))
	const speakers, each = 8, 20
	var wg sync.WaitGroup
	var want []string
	for s := range speakers {
		var ids []string
		for n := range each {
			ids = append(ids, fmt.Sprintf("said/%d/%02d", s, n))
		}
		want = append(want, ids...)
		wg.Go(func() {
			for _, id := range ids {
				for range 2 {
					if err := log.Send(t.Context(), flow, fact(id)); err != nil {
						t.Errorf("Send: %v", err)
					}
				}
			}
		})
	}
	seq := uint64(1)
	var got []string
	for f, err := range log.Inbox(t.Context(), flow) {
		if err != nil {
			t.Fatal(err)
		}
		seq++
		e := ev(flow, seq)
		e.Fact = f
		commit(t, log, l, e)
		if got = append(got, f.ID); len(got) == speakers*each {
			break
		}
	}
	wg.Wait()
	slices.Sort(got)
	same(t, "admitted", got, want)
	same(t, "left", inbox(t, log, "end"), []string(nil))
}

func inboxOther(t *testing.T, open func() eventlog.Log) {
	log, other := open(), open()
	l := acquire(t, log, flow)
	commit(t, log, l, ev(flow, 1))
	got, _ := collect(log.Inbox(t.Context(), flow))
	for i := range 50 {
		id := fmt.Sprint("said/", i)
		send(t, other, fact(id))
		f := <-got
		same(t, "fact", f.ID, id)
		e := ev(flow, uint64(i+2))
		e.Fact = f
		commit(t, log, l, e)
		send(t, other, fact(id)) // it is in the log
	}
	same(t, "left", inbox(t, other, "end"), []string(nil))
}
