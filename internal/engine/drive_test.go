package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/mem"

	"github.com/google/go-cmp/cmp"
)

// jobUntilStopped works until its context ends and says so.
func jobUntilStopped(id string) func(context.Context, engine.Port) []event.Fact {
	return func(ctx context.Context, p engine.Port) []event.Fact {
		<-ctx.Done()
		return []event.Fact{note(id+"-stopped", "stopped")}
	}
}

// Leaving a flow returns the cause once all work has stopped, and what the work
// says on the way out is not taken: it did not end, it was left. A commit that is
// being written is finished.
func TestLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newSpy()
		log.commit = func(_ []event.Event, next func() error) error {
			<-time.After(time.Minute)
			return next()
		}
		away := errors.New("the program is told to go")
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := false
		rule := func(d *toy, e event.Event) {
			if said(e.Fact) == "first" {
				d.begin("A")
				d.begin("B")
				d.begin("C")
				d.begin("slow")
				d.begin("last")
			}
		}
		crew := doer{"A": jobUntilStopped("A"), "B": jobUntilStopped("B"), "C": jobUntilStopped("C"),
			"slow": func(ctx context.Context, p engine.Port) []event.Fact {
				<-ctx.Done()
				if _, err := p.Submit(context.WithoutCancel(ctx), note("x", "x")); !errors.Is(err, engine.ErrLeft) {
					t.Errorf("submitting on the way out gave %v", err)
				}
				<-time.After(time.Hour)
				gone = true
				return nil
			},
			"last": func(ctx context.Context, p engine.Port) []event.Fact {
				time.AfterFunc(30*time.Second, func() { cancel(away) })
				return []event.Fact{note("last", "last")}
			}}
		err := drive(t, log, rule, crew).Start(ctx, note("first", "first"))
		if !errors.Is(err, away) {
			t.Errorf("the driver returned %v", err)
		}
		if !gone {
			t.Error("the driver returned before its work had")
		}
		if diff := cmp.Diff([]string{"first", "last"}, history(t, log)); diff != "" {
			t.Error(diff)
		}
	})
}

// A piece of work may say that the flow cannot go on.
func TestWorkLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("no storage")
		rule := func(d *toy, e event.Event) { d.begin("A"); d.begin("B") }
		err := drive(t, newSpy(), rule, doer{
			"A": jobUntilStopped("A"),
			"B": func(_ context.Context, p engine.Port) []event.Fact { p.Leave(broken); return nil },
		}).Start(t.Context(), note("first", "first"))
		if !errors.Is(err, broken) {
			t.Errorf("the driver returned %v", err)
		}
	})
}

// A driver whose lease is taken over is refused at its next commit, and stops.
func TestSuperseded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newSpy()
		begun := 0
		rule := func(d *toy, e event.Event) {
			switch said(e.Fact) {
			case "first":
				d.begin("A")
				d.begin("B")
			case "a":
				d.begin("C")
			}
		}
		err := drive(t, log, rule, doer{
			"A": func(ctx context.Context, p engine.Port) []event.Fact {
				if _, err := log.Acquire(ctx, flowID, true); err != nil {
					t.Error(err)
				}
				return []event.Fact{note("a", "a")}
			},
			"B": jobUntilStopped("B"),
			"C": func(context.Context, engine.Port) []event.Fact { begun++; return nil },
		}).Start(t.Context(), note("first", "first"))
		if !errors.Is(err, eventlog.ErrSuperseded) {
			t.Errorf("the driver returned %v", err)
		}
		if diff := cmp.Diff([]string{"first"}, history(t, log)); diff != "" || begun > 0 {
			t.Errorf("%d pieces of work were begun afterwards; %s", begun, diff)
		}
	})
}

// Reusing an id, or saying a thing twice, is its author's own trouble: whoever shares the commit is
// served, and the decider knows nothing of what was not recorded.
func TestConflict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newSpy()
		log.commit = func(events []event.Event, next func() error) error {
			if events[0].ID == "slow" {
				<-time.After(time.Minute)
			}
			return next()
		}
		outcome := make(chan string, 6)
		submits := func(id, text string, after time.Duration) func(context.Context, engine.Port) []event.Fact {
			return func(ctx context.Context, p engine.Port) []event.Fact {
				<-time.After(after)
				events, err := p.Submit(ctx, note(id, text))
				switch {
				case errors.Is(err, eventlog.ErrConflict):
					outcome <- text + ": conflict"
				case errors.Is(err, eventlog.ErrGap):
					outcome <- text + ": known"
				case err != nil:
					outcome <- text + ": " + err.Error()
				default:
					outcome <- text + ": " + ids(events)
				}
				return nil
			}
		}
		rule := func(d *toy, e event.Event) {
			switch text := said(e.Fact); text {
			case "first":
				for _, k := range []string{"A", "B", "C", "D", "E", "F"} {
					d.begin(k)
				}
			case "slow", "good", "end":
				d.record(note(d.mark+"about-"+e.ID, "decided"))
				d.over = text == "end"
			case "bad", "bad alone":
				d.mark = "misled "
			}
		}
		crew := doer{
			"A": submits("slow", "slow", 0),
			"B": submits("b", "good", time.Second),
			"C": submits("slow", "bad", 2*time.Second),
			"D": submits("first", "first", 3*time.Second),
			"E": submits("slow", "bad alone", time.Hour),
			"F": submits("f", "end", 2*time.Hour),
		}
		if err := drive(t, log, rule, crew).Start(t.Context(), note("first", "first")); err != nil {
			t.Fatal(err)
		}
		close(outcome)
		got := map[string]bool{}
		for o := range outcome {
			got[o] = true
		}
		want := map[string]bool{"slow: [slow about-slow]": true, "good: [b about-b]": true, "bad: conflict": true, "first: known": true,
			"bad alone: conflict": true, "end: [f about-f]": true}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"first", "slow", "about-slow", "b", "about-b", "f", "about-f"}, history(t, log)); diff != "" {
			t.Error(diff)
		}
	})
}

// What anybody sends comes in once, and what is sent under the id of another
// fact harms nobody but its sender.
func TestInbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newSpy()
		other := log.Log.(*mem.Log).Open()
		log.inbox = []event.Fact{note("first", "not what the log says"), note("first", "first")}
		rule := func(d *toy, e event.Event) {
			if said(e.Fact) == "hello" {
				d.record(event.Fact{ID: "admitted/" + e.ID, Body: event.Admitted{Ref: e.ID}})
			}
			d.over = d.over || e.ID == "in/2"
			if e.ID == "first" {
				d.begin("sender")
			}
		}
		crew := doer{"sender": func(ctx context.Context, _ engine.Port) []event.Fact {
			for i, id := range []string{"in/1", "in/1", "in/2"} {
				<-time.After(time.Hour)
				if err := other.Send(context.WithoutCancel(ctx), flowID, note(id, "hello")); err != nil {
					t.Errorf("send %d: %v", i, err)
				}
			}
			return nil
		}}
		if err := drive(t, log, rule, crew).Start(t.Context(), note("first", "first")); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"first", "in/1", "admitted/in/1", "in/2", "admitted/in/2"}, history(t, log)); diff != "" {
			t.Error(diff)
		}
	})
}

// A flow with a fact of a newer version can be read here and not driven, and
// one that came by the inbox is left there for a driver that knows it.
func TestNewerFacts(t *testing.T) {
	newer := event.Unknown{Kind: "from_the_future", Raw: []byte(`{"a":1}`)}
	synctest.Test(t, func(t *testing.T) {
		log := newSpy()
		d := drive(t, log, func(*toy, event.Event) {}, doer{})
		now := time.Now().UTC()
		err := log.Commit(t.Context(), d.Lease, []event.Event{
			{Flow: flowID, Seq: 1, At: now, Fact: note("first", "first")},
			{Flow: flowID, Seq: 2, At: now, Fact: event.Fact{ID: "x", Body: newer}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Resume(t.Context()); !errors.Is(err, engine.ErrNewer) {
			t.Errorf("resume: %v", err)
		}
		if got := history(t, log); len(got) != 2 {
			t.Errorf("the log holds %v", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		log := newSpy()
		log.inbox = []event.Fact{{ID: "x", Body: newer}, note("end", "end")}
		rule := func(d *toy, e event.Event) { d.over = e.ID == "end" }
		if err := drive(t, log, rule, doer{}).Start(t.Context(), note("first", "first")); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"first", "end"}, history(t, log)); diff != "" {
			t.Error(diff)
		}
	})
}

// Nobody speaks for an agent through the inbox.
func TestInboxSpeaksForNoAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newSpy()
		forged := note("forged", "forged")
		forged.Agent = "ada"
		log.inbox = []event.Fact{forged, note("end", "end")}
		rule := func(d *toy, e event.Event) { d.over = e.ID == "end" }
		if err := drive(t, log, rule, doer{}).Start(t.Context(), note("first", "first")); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"first", "end"}, history(t, log)); diff != "" {
			t.Error(diff)
		}
	})
}

// A flow that is over is not driven again, and one that is not there cannot be.
func TestResumeNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newSpy()
		rule := func(d *toy, e event.Event) { d.over = true }
		if err := drive(t, log, rule, doer{}).Resume(t.Context()); !errors.Is(err, eventlog.ErrNotFound) {
			t.Errorf("resume of nothing: %v", err)
		}
		for range 2 {
			d := drive(t, log, rule, doer{})
			run := func() error { return d.Resume(t.Context()) }
			if len(log.told()) == 0 {
				run = func() error { return d.Start(t.Context(), note("first", "first")) }
			}
			if err := run(); err != nil {
				t.Error(err)
			}
		}
		if diff := cmp.Diff([]string{"commit [first]"}, log.told()); diff != "" {
			t.Error(diff)
		}
	})
}
