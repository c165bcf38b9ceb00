package app

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"conclave/internal/cli"
	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/sandbox/landlock"
	"conclave/internal/view"
)

// TestMain is the program itself where a test has started it in the background.
func TestMain(m *testing.M) {
	landlock.Child() // as the program does
	if os.Getenv(readyFD) != "" {
		os.Exit(Main(os.Args[1:], cli.System()))
	}
	os.Exit(m.Run())
}

// dies drives a flow until its driver has recorded so many transactions.
func (a *App) dies(t *testing.T, b *brittle, id event.FlowID, transactions int64) {
	t.Helper()
	b.left.Store(transactions)
	err := a.Settle(t.Context(), id, false)
	b.left.Store(1 << 40)
	if !errors.Is(err, errDied) {
		t.Fatalf("its driver did not die: %v", err)
	}
}

// alone waits until nobody drives a flow.
func (a *App) alone(t *testing.T, id event.FlowID) {
	t.Helper()
	for {
		_, driven, err := a.log.Holder(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if !driven {
			return
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("it is driven still")
		}
	}
}

// woken reports whether a process in the background has ever driven a flow.
func (a *App) woken(id event.FlowID) bool {
	_, err := os.Stat(filepath.Join(a.state("runs", string(id)), "driver.log"))
	return err == nil
}

// What was cut off goes on when the cockpit begins: a job in the middle of a phase,
// and an answer of a companion. A job that waits for a person is left alone, and so is
// a team, which somebody may have left so.
//
// IP-02
func TestAdopt(t *testing.T) {
	a := bureau(t, "  embedder: {type: none}\n")
	frozen := a.newJob(t, control.JobRequest{Paths: []string{"offers"}})
	a.settleJob(t, frozen)
	cut := a.newJob(t, control.JobRequest{Paths: []string{"offers"}})
	log := &brittle{Log: a.log}
	a.log = log
	a.dies(t, log, cut, 12)
	if now, err := jobStanding(t.Context(), log, cut); err != nil || now.AtRest() {
		t.Fatalf("it is at rest: %v", err)
	} else if _, goesOn := now.Phase(); !goesOn {
		t.Fatal("it is not in the middle of a phase")
	}
	talk := a.jobNow(t, frozen).Started.Companion
	quiet := a.jobNow(t, cut).Started.Companion
	if err := a.Send(t.Context(), talk, event.Fact{ID: "said", Body: event.Said{Text: event.Inline("hello")}}); err != nil {
		t.Fatal(err)
	}
	a.dies(t, log, talk, 2)
	if s, err := a.Open(t.Context(), talk); err != nil || s.Session.Turns.Len() != 1 || atRest(*s.Session) {
		t.Fatalf("nobody is in the middle of an answer: %+v, %v", s.Session, err)
	}

	left, err := a.NewTeam(t.Context(), control.TeamRequest{Team: "product", Task: "A page"})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Adopt(t.Context()); err != nil {
		t.Fatal(err)
	}
	for e, err := range a.Follow(t.Context(), talk, 1) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.Body.(event.Concluded); ok {
			break
		}
	}
	a.alone(t, cut)
	a.alone(t, talk)
	if j := a.jobNow(t, cut); j.State != view.JobReview {
		t.Errorf("it is %s (%s)", j.State, j.Why)
	}
	if !a.woken(cut) || !a.woken(talk) || a.woken(frozen) || a.woken(quiet) || a.woken(left) {
		t.Errorf("woken: %t, %t, not to be: %t, %t, %t", a.woken(cut), a.woken(talk), a.woken(frozen), a.woken(quiet), a.woken(left))
	}
	for _, id := range []event.FlowID{cut, talk, frozen} {
		a.sound(t, id)
	}
}
