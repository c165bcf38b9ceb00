package engine_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/flow"

	"github.com/google/go-cmp/cmp"
)

// What waits while a commit is written shares the next one, decisions included,
// and everybody is given the whole of it.
func TestOneTransactionPerBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newSpy()
		log.commit = func(events []event.Event, next func() error) error {
			if events[0].ID == "a" {
				<-time.After(time.Minute)
			}
			return next()
		}
		var mu sync.Mutex
		got := map[string][]event.Event{}
		submits := func(id string, after time.Duration) func(context.Context, engine.Port) []event.Fact {
			return func(ctx context.Context, p engine.Port) []event.Fact {
				<-time.After(after)
				events, err := p.Submit(ctx, note(id, id))
				if err != nil {
					t.Errorf("submit %s: %v", id, err)
				}
				mu.Lock()
				defer mu.Unlock()
				got[id] = events
				return nil
			}
		}
		rule := func(d *toy, e event.Event) {
			switch id := said(e.Fact); id {
			case "first":
				d.begin("A")
				d.begin("B")
				d.begin("C")
			case "a", "b", "c":
				d.record(note("about-"+id, "decided"))
				d.over = id == "c"
			}
		}
		crew := doer{"A": submits("a", 0), "B": submits("b", time.Second), "C": submits("c", 2*time.Second)}
		if err := drive(t, log, rule, crew).Start(t.Context(), note("first", "first")); err != nil {
			t.Fatal(err)
		}
		want := []string{"commit [first]", "commit [a about-a]", "commit [b about-b c about-c]"}
		if diff := cmp.Diff(want, log.told()); diff != "" {
			t.Errorf("commits: %s", diff)
		}
		for id, want := range map[string]string{"a": "[a about-a]", "b": "[b about-b c about-c]", "c": "[b about-b c about-c]"} {
			if ids(got[id]) != want {
				t.Errorf("%s was given %s, want %s", id, ids(got[id]), want)
			}
			for _, e := range got[id] {
				if e.Pos == 0 {
					t.Errorf("%s was given %s before it was durable", id, e.ID)
				}
			}
		}
	})
}

// Nothing begins before the commit that asked for it has returned and whoever
// observes the flow has been told.
func TestDurableBeforeActing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newSpy()
		log.commit = func(_ []event.Event, next func() error) error {
			<-time.After(time.Second) // long enough for anything hasty to show
			return next()
		}
		begins := func(id string) func(context.Context, engine.Port) []event.Fact {
			return func(context.Context, engine.Port) []event.Fact {
				log.tell("begin %s", id)
				return []event.Fact{note("after-"+id, "after-"+id)}
			}
		}
		rule := func(d *toy, e event.Event) {
			switch said(e.Fact) {
			case "first":
				d.begin("A")
			case "after-A":
				d.record(note("decided", "decided"))
			case "decided":
				d.begin("B")
			case "after-B":
				d.over = true
			}
		}
		d := drive(t, log, rule, doer{"A": begins("A"), "B": begins("B")})
		d.Observe = func(events []event.Event) { log.tell("observe %d", len(events)) }
		if err := d.Start(t.Context(), note("first", "first")); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"commit [first]", "observe 1", "begin A",
			"commit [after-A decided]", "observe 2", "begin B",
			"commit [after-B]", "observe 1",
		}
		if diff := cmp.Diff(want, log.told()); diff != "" {
			t.Error(diff)
		}
	})
}

// A commit that fails starts nothing, and the driver says why it goes.
func TestFailedCommitStartsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newSpy()
		log.commit = func(events []event.Event, next func() error) error {
			if events[0].ID == "a" {
				return eventlog.ErrFull
			}
			return next()
		}
		var submitted error
		rule := func(d *toy, e event.Event) {
			switch said(e.Fact) {
			case "first":
				d.begin("A")
			case "a":
				d.begin("B")
			}
		}
		err := drive(t, log, rule, doer{
			"A": func(ctx context.Context, p engine.Port) []event.Fact {
				_, submitted = p.Submit(ctx, note("a", "a"))
				return nil
			},
			"B": func(context.Context, engine.Port) []event.Fact { t.Error("B was begun"); return nil },
		}).Start(t.Context(), note("first", "first"))
		if !errors.Is(err, eventlog.ErrFull) {
			t.Errorf("the driver returned %v", err)
		}
		if !errors.Is(submitted, engine.ErrLeft) {
			t.Errorf("the work was told %v", submitted)
		}
		if diff := cmp.Diff([]string{"first"}, history(t, log)); diff != "" {
			t.Error(diff)
		}
	})
}

// A timer rings once, at the moment asked for, and moves when the decider
// changes its mind.
func TestTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newSpy()
		began := time.Now()
		rule := func(d *toy, e event.Event) {
			switch b := e.Body.(type) {
			case event.Told:
				if b.Note == "first" {
					d.wake = e.At.Add(10 * time.Minute)
					d.begin("A")
				} else {
					d.wake = e.At.Add(40*time.Minute + 1) // finer than a log's time
				}
			case event.TimerFired:
				if e.At.Before(d.wake) {
					t.Errorf("rang at %v, asked for was %v", e.At, d.wake)
				}
				d.wake = time.Time{}
				d.begin("B")
			}
			d.over = said(e.Fact) == "end"
		}
		err := drive(t, log, rule, doer{
			"A": func(ctx context.Context, p engine.Port) []event.Fact {
				<-time.After(5 * time.Minute)
				return []event.Fact{note("later", "later")}
			},
			// Time goes on; the timer that rang must not ring again.
			"B": func(ctx context.Context, p engine.Port) []event.Fact {
				<-time.After(24 * time.Hour)
				return []event.Fact{note("end", "end")}
			},
		}).Start(t.Context(), note("first", "first"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range read(t, log) {
			got = append(got, e.At.Sub(began).String()+" "+said(e.Fact))
		}
		want := []string{"0s first", "5m0s later", "45m0.000001s timer_fired", "24h45m0.000001s end"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// A moment that has passed already rings at once.
func TestTimerInThePast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newSpy()
		rule := func(d *toy, e event.Event) {
			d.wake = e.At.Add(-time.Hour)
			_, d.over = e.Body.(event.TimerFired)
		}
		if err := drive(t, log, rule, doer{}).Start(t.Context(), note("first", "first")); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"first", "timer/2"}, history(t, log)); diff != "" {
			t.Error(diff)
		}
	})
}

// Stop ends one piece of work and says why; Tell reaches a piece that is going
// on, and notes are handed out once.
func TestStopAndTell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newSpy()
		var cause error
		var heard [][]any
		rule := func(d *toy, e event.Event) {
			switch said(e.Fact) {
			case "first":
				d.begin("A")
				d.begin("B")
				d.begin("short")
				d.command(flow.Tell{Work: "nobody", Note: "lost"})
				d.command(flow.Stop{Work: "nobody"})
			case "ready":
				d.command(flow.Tell{Work: "A", Note: 1})
				d.command(flow.Tell{Work: "A", Note: 2})
				d.command(flow.Tell{Work: "short", Note: "too late"})
				d.command(flow.Stop{Work: "short"})
				d.command(flow.Stop{Work: "B"})
			case "stopped":
				d.over = true
			}
		}
		err := drive(t, log, rule, doer{
			"short": func(context.Context, engine.Port) []event.Fact { return nil },
			"A": func(ctx context.Context, p engine.Port) []event.Fact {
				heard = append(heard, p.Notes())
				<-time.After(time.Second)
				if _, err := p.Submit(ctx, note("ready", "ready")); err != nil {
					t.Error(err)
				}
				synctest.Wait()
				heard = append(heard, p.Notes(), p.Notes())
				<-ctx.Done() // nobody stops A: the flow ends
				if !errors.Is(context.Cause(ctx), engine.ErrOver) {
					t.Errorf("A ended with %v", context.Cause(ctx))
				}
				return []event.Fact{note("too late", "too late")}
			},
			"B": func(ctx context.Context, p engine.Port) []event.Fact {
				<-ctx.Done()
				cause = context.Cause(ctx)
				<-time.After(time.Minute) // it takes its time to stop
				return []event.Fact{note("stopped", "stopped")}
			},
		}).Start(t.Context(), note("first", "first"))
		if err != nil {
			t.Fatal(err)
		}
		if !errors.Is(cause, engine.ErrStopped) {
			t.Errorf("B was stopped by %v", cause)
		}
		if diff := cmp.Diff([][]any{nil, {1, 2}, nil}, heard); diff != "" {
			t.Errorf("notes: %s", diff)
		}
		if diff := cmp.Diff([]string{"first", "ready", "stopped"}, history(t, log)); diff != "" {
			t.Error(diff)
		}
	})
}
