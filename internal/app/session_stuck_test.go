package app

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

// settled says something to a session that nobody drives, and goes on with it
// until it waits for the person.
func (k *meeting) settled(b event.Body) (view.Session, error) {
	k.t.Helper()
	k.ids++
	if err := k.a.Send(k.t.Context(), k.id, event.Fact{ID: k.t.Name() + string(rune('a'+k.ids)), Body: b}); err != nil {
		k.t.Fatal(err)
	}
	failed := k.a.Settle(k.t.Context(), k.id, false)
	s, err := k.a.Open(k.t.Context(), k.id)
	if err != nil {
		k.t.Fatal(err)
	}
	return *s.Session, failed
}

// Whatever keeps a run from beginning, the session tells it and takes the next
// thing that is said.
func TestRunsThatCannotBegin(t *testing.T) {
	for _, c := range []struct {
		name, agents string
		spoil        func(*testing.T, *App)
		words        string
	}{
		{"workspaces", ", cwd: workspace", func(t *testing.T, a *App) {
			if err := os.WriteFile(a.state("runs"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "workspaces ready"},
		{"what was said before", "", func(t *testing.T, a *App) {
			if err := os.RemoveAll(a.state("blobs")); err != nil {
				t.Fatal(err)
			}
		}, "what was said before"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := talkers(t, "")
			team := "agents: [{id: ada, backend: {type: script, script: talker.yaml" + c.agents + "}}]\n"
			if err := os.WriteFile(filepath.Join(a.project, "team.yaml"), []byte(team), 0o600); err != nil {
				t.Fatal(err)
			}
			k := a.begin(t, event.SessionStarted{})
			quick := event.Modes{Quick: true}
			long, err := a.shelve(t.Context(), event.Inline("one "+strings.Repeat("and one ", 1000)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := k.settled(event.Said{Text: long, Modes: quick}); err != nil {
				t.Fatal(err)
			}
			if c.name == "workspaces" {
				if err := os.RemoveAll(a.state("runs")); err != nil {
					t.Fatal(err)
				}
			}
			c.spoil(t, a)
			for range 2 {
				s, err := k.settled(event.Said{Text: event.Inline("two"), Modes: quick})
				if err != nil {
					t.Fatalf("the session cannot go on: %v", err)
				}
				if r := last(s.Turns.At(s.Turns.Len() - 1)); r.Status != "" || !strings.Contains(r.Error, c.words) {
					t.Errorf("got %+v", r)
				}
			}
		})
	}
}

// A run that cannot be gone on with can still be cancelled in its session: nobody
// has to work for that.
func TestCancelWhatCannotGoOn(t *testing.T) {
	a := talkers(t, "")
	k := a.begin(t, event.SessionStarted{}).drive()
	run := k.send(event.Said{Text: event.Inline("wait for me")}, func(s view.Session) bool { return s.Running != "" }).Running
	for e, err := range a.Follow(t.Context(), run, 1) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.Body.(event.Assigned); ok {
			break
		}
	}
	k.leave()
	if err := os.Remove(filepath.Join(a.project, "talker.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := a.Settle(t.Context(), k.id, false); err == nil || !strings.Contains(err.Error(), "conclave runs cancel "+string(run)) {
		t.Errorf("going on gives %v", err)
	}
	if err := a.Send(t.Context(), k.id, event.Fact{ID: "in/cancel", Body: event.CancelRequested{By: "ann"}}); err != nil {
		t.Fatal(err)
	}
	// The first may give up before it hears of the cancel, but not the second.
	_ = a.Settle(t.Context(), k.id, false)
	if err := a.Settle(t.Context(), k.id, false); err != nil {
		t.Fatal(err)
	}
	s, err := a.Open(t.Context(), k.id)
	if err != nil {
		t.Fatal(err)
	}
	if r := last(s.Session.Turns.At(0)); r.Status != event.StatusCancelled {
		t.Errorf("got %+v", r)
	}
	k.drive().sound()
}

// What is said to a session while its driver leaves is not left lying: the driver
// looks once more. What nobody takes there does not keep it.
func TestUnheard(t *testing.T) {
	a := talkers(t, "")
	k := a.begin(t, event.SessionStarted{})
	log, err := a.events(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Send(t.Context(), k.id, event.Fact{ID: "in/pause", Body: event.PauseRequested{}}); err != nil {
		t.Fatal(err)
	}
	if unheard(t.Context(), log, k.id, event.SessionCoordinate) {
		t.Error("a session waits for what it does not take")
	}
	if err := a.Send(t.Context(), k.id, event.Fact{ID: "in/1", Body: event.Said{Text: event.Inline("hello"), Modes: event.Modes{Quick: true}}}); err != nil {
		t.Fatal(err)
	}
	if !unheard(t.Context(), log, k.id, event.SessionCoordinate) {
		t.Error("what was said is not heard of")
	}
	if err := a.Settle(t.Context(), k.id, false); err != nil || unheard(t.Context(), log, k.id, event.SessionCoordinate) {
		t.Errorf("after it was settled: %v", err)
	}
}

// What people say goes into events, so it has bounds; long texts are kept beside
// them and need none.
func TestSayingTooMuch(t *testing.T) {
	a := talkers(t, "")
	k := a.begin(t, event.SessionStarted{})
	much := strings.Repeat("much ", 1<<20)
	for _, b := range []event.Body{
		event.Renamed{Title: much}, event.Replied{Gate: "g", Choice: event.PlanChange, Text: much}, event.CancelRequested{Reason: much},
	} {
		err := a.Send(t.Context(), k.id, event.Fact{ID: "in/" + event.Kind(b), Body: b})
		if _, usage := errors.AsType[*control.Usage](err); !usage || !strings.Contains(err.Error(), "too long") {
			t.Errorf("%s: %v", event.Kind(b), err)
		}
	}
	if err := a.Send(t.Context(), k.id, event.Fact{ID: "in/said", Body: event.Said{Text: event.Inline(much), Modes: event.Modes{Quick: true}}}); err != nil {
		t.Error(err)
	}
}

// What is too long to be called up again is not among what was asked.
func TestHistoryOfLongTexts(t *testing.T) {
	a := talkers(t, "")
	k := a.begin(t, event.SessionStarted{})
	for _, text := range []string{"short", strings.Repeat("long ", 1<<17)} {
		if _, err := k.settled(event.Said{Text: event.Inline(text), Modes: event.Modes{Quick: true, Single: true}}); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := a.History(t.Context(), 10); err != nil || len(got) != 1 || got[0] != "short" {
		t.Errorf("%d texts, %v", len(got), err)
	}
}

// A plan that cannot be written is not lost: the session says where and what to
// do, and asks about the plan once that is mended.
func TestPlanThatCannotBeKept(t *testing.T) {
	a := talkers(t, "")
	k := a.begin(t, event.SessionStarted{})
	if err := os.WriteFile(a.state("plans"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for i, b := range []event.Body{event.Said{Text: event.Inline("build a pond"), Modes: event.Modes{Plan: true, Quick: true}}, event.Renamed{Title: "pond"}} {
		_, err := k.settled(b)
		if err == nil || !strings.Contains(err.Error(), a.state("plans")) || !strings.Contains(err.Error(), "conclave resume "+string(k.id)) {
			t.Errorf("%d: got %v", i, err)
		}
	}
	if err := os.Remove(a.state("plans")); err != nil {
		t.Fatal(err)
	}
	s, err := k.settled(event.Renamed{Title: "a pond"})
	if err != nil || len(s.Gates) != 1 || s.Turns.Len() != 1 || len(s.Turns.At(0).Runs) != 1 {
		t.Errorf("mended: %+v, %v", s, err)
	}
}
