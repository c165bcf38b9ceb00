package engine_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"conclave/internal/engine"
	"conclave/internal/event"

	"github.com/google/go-cmp/cmp"
)

// minutes takes up a flow that was begun at the given time and lets it run for
// twenty minutes, with a timer after ten and a half.
func minutes(t *testing.T, log *spy, at time.Time) []event.Event {
	t.Helper()
	rule := func(d *toy, e event.Event) {
		switch e.Body.(type) {
		case event.Resumed:
			d.wake = e.At.Add(10*time.Minute + 30*time.Second)
			d.begin("ticks")
		case event.TimerFired:
			d.wake = time.Time{}
		}
		d.over = said(e.Fact) == "20"
	}
	d := drive(t, log, rule, doer{"ticks": func(ctx context.Context, p engine.Port) []event.Fact {
		for i := range 20 {
			<-time.After(time.Minute)
			if _, err := p.Submit(ctx, note(fmt.Sprint("minute/", i+1), fmt.Sprint(i+1))); err != nil {
				t.Error(err)
			}
		}
		return nil
	}})
	if err := log.Commit(t.Context(), d.Lease, []event.Event{{Flow: flowID, Seq: 1, At: at, Fact: note("first", "first")}}); err != nil {
		t.Fatal(err)
	}
	if err := d.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	return read(t, log)
}

// Time in a log never goes back. When the machine's clock was set back while
// nobody drove the flow, time goes on from where the log ends.
func TestClockSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ahead := time.Now().UTC().Add(365 * 24 * time.Hour)
		events := minutes(t, newSpy(), ahead)
		if r := events[1].Body.(event.Resumed); r.Down != 0 {
			t.Errorf("the flow was down for %v", r.Down)
		}
		var got []string
		for _, e := range events {
			got = append(got, fmt.Sprint(e.At.Sub(ahead), " ", said(e.Fact)))
		}
		want := []string{"0s first", "0s resumed"}
		for i := range 20 {
			want = append(want, fmt.Sprint(time.Duration(i+1)*time.Minute, " ", i+1))
			if i+1 == 10 {
				want = append(want, "10m30s timer_fired")
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// Resumed says how long nobody drove. What is given along is recorded first,
// and the time in between is not charged to it.
func TestResumedDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newSpy()
		rule := func(d *toy, e event.Event) { _, d.over = e.Body.(event.Resumed) }
		d := drive(t, log, rule, doer{})
		at := time.Now().UTC()
		if err := log.Commit(t.Context(), d.Lease, []event.Event{{Flow: flowID, Seq: 1, At: at, Fact: note("first", "first")}}); err != nil {
			t.Fatal(err)
		}
		<-time.After(5 * time.Hour)
		if err := d.Resume(t.Context(), note("also", "also")); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range read(t, log) {
			got = append(got, fmt.Sprint(e.At.Sub(at), " ", e.ID))
			if r, ok := e.Body.(event.Resumed); ok && (r.Down != event.Duration(5*time.Hour) || r.Epoch != 1) {
				t.Errorf("resumed as %+v", r)
			}
		}
		if diff := cmp.Diff([]string{"0s first", "0s also", "5h0m0s resumed/1"}, got); diff != "" {
			t.Error(diff)
		}
	})
}

// What a log that was cut leaves undecided is decided as of its end, not as of
// the day on which it is found.
func TestUndecidedEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newSpy()
		rule := func(d *toy, e event.Event) {
			if e.ID == "first" {
				d.record(note("decided", "decided"))
			}
			_, d.over = e.Body.(event.Resumed)
		}
		d := drive(t, log, rule, doer{})
		at := time.Now().UTC()
		if err := log.Commit(t.Context(), d.Lease, []event.Event{{Flow: flowID, Seq: 1, At: at, Fact: note("first", "first")}}); err != nil {
			t.Fatal(err)
		}
		<-time.After(5 * time.Hour)
		if err := d.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range read(t, log) {
			got = append(got, fmt.Sprint(e.At.Sub(at), " ", e.ID))
		}
		if diff := cmp.Diff([]string{"0s first", "0s decided", "5h0m0s resumed/1"}, got); diff != "" {
			t.Error(diff)
		}
	})
}
