package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/view"
)

// brittle is a log whose driver dies when it has recorded so many transactions:
// what it did since the last one, as a commit of the workspace, is done and not
// recorded.
type brittle struct {
	eventlog.Log
	left atomic.Int64
}

var errDied = errors.New("the driver dies here")

func (b *brittle) Commit(ctx context.Context, l eventlog.Lease, events []event.Event) error {
	if b.left.Add(-1) < 0 {
		return errDied
	}
	return b.Log.Commit(ctx, l, events)
}

// live drives a job until it rests or its driver has recorded so many transactions
// and dies; then it reports false.
func (a *App) live(t *testing.T, b *brittle, id event.FlowID, transactions int64) bool {
	t.Helper()
	b.left.Store(transactions)
	err := a.Settle(t.Context(), id, false)
	b.left.Store(1 << 40)
	if err != nil && !errors.Is(err, errDied) {
		t.Fatal(err)
	}
	now, bad := jobStanding(t.Context(), a.log, id)
	if bad != nil {
		t.Fatal(bad)
	}
	if err == nil && !now.AtRest() {
		t.Fatal("the job was left alone, and is neither frozen nor over")
	}
	if _, goesOn := now.Phase(); now.Frozen() && (goesOn || now.Over()) {
		t.Fatal("the job is frozen and goes on")
	}
	return err == nil
}

// step is how many transactions a driver lives for: between phases only for that it
// takes the job up and one more, in the middle of a phase longer, for the test to
// come to an end.
func (a *App) step(t *testing.T, id event.FlowID) int64 {
	t.Helper()
	now, err := jobStanding(t.Context(), a.log, id)
	if err != nil {
		t.Fatal(err)
	}
	if _, goesOn := now.Phase(); goesOn {
		return 8
	}
	return 2
}

// A driver that dies after every single transaction between two phases leaves a job
// that the next one goes on with: from the plan to the question, from an edit to
// the question anew, from the answer to another plan, from the approval to what is
// approved. Nothing is kept twice, and what a person has said counts once.
//
// Acceptance check 3, with the program's own shell. IP-02 IP-04 IP-05 IP-07
func TestJobDiesEverywhere(t *testing.T) {
	a := bureau(t, "")
	id := a.newJob(t, control.JobRequest{Paths: []string{"offers"}})
	log := &brittle{Log: a.log}
	log.left.Store(1 << 40)
	a.log = log
	lives := 0
	settle := func() view.Job {
		t.Helper()
		for ; !a.live(t, log, id, a.step(t, id)); lives++ {
			if lives > 400 {
				t.Fatal("it comes to no end")
			}
		}
		return a.jobNow(t, id)
	}
	j := settle()
	f, text, err := a.JobFile(t.Context(), id, "todos.yaml", "")
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(text), "plan.md", "plan.md, twice", 1)
	if err := a.Send(t.Context(), id, event.Fact{ID: "edit", Body: event.Edited{Path: f.Path, Base: f.Hash, Text: event.Inline(edited), By: "ann"}}); err != nil {
		t.Fatal(err)
	}
	if was := j.Review.Revision; settle().Review.Revision != was+1 {
		t.Error("an edit made no other revision")
	}
	a.decideJob(t, a.jobNow(t, id), event.ReviewChange, "Leave Kestrel out.")
	if j = settle(); j.State != view.JobReview || len(j.Rounds) != 2 {
		t.Fatalf("it is %s (%s) in round %d", j.State, j.Why, len(j.Rounds))
	}
	a.decideJob(t, j, event.ReviewApprove, "")
	if j = settle(); j.State != view.JobCompleted || len(j.Phases) != 3 && len(j.Phases) != 4 {
		t.Fatalf("it is %s (%s) after %d phases", j.State, j.Why, len(j.Phases))
	}
	if lives < 15 {
		t.Errorf("its driver died only %d times", lives)
	}
	commits, err := a.JobLog(t.Context(), id, 200)
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]bool{}
	for e, err := range a.log.Read(t.Context(), id, 1) {
		if err != nil {
			t.Fatal(err)
		}
		if b, ok := e.Body.(event.Kept); ok {
			kept[b.Ref] = true
		}
	}
	if len(commits) != len(kept)+1 { // and the first
		t.Errorf("%d commits for %d facts: %+v", len(commits), len(kept), commits)
	}
	a.sound(t, id)
}

// Nothing of the workspace is needed to give a job up: its folder is gone, or git
// is, and cancelling ends it all the same.
func TestJobCancelledWithoutWorkspace(t *testing.T) {
	a := bureau(t, "")
	id := a.newJob(t, control.JobRequest{Paths: []string{"offers"}})
	j := a.settleJob(t, id)
	a.decideJob(t, j, event.ReviewChange, "Shorter.")
	dir := a.state("jobs", string(id))
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, []byte("no folder"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := a.Settle(t.Context(), id, false); err == nil || !strings.Contains(err.Error(), filepath.Base(dir)) {
		t.Fatalf("it went on without a workspace: %v", err)
	}
	if err := a.Send(t.Context(), id, event.Fact{ID: "cancel", Body: event.CancelRequested{By: "ann"}}); err != nil {
		t.Fatal(err)
	}
	if err := a.Settle(t.Context(), id, false); err != nil {
		t.Error(err)
	}
	if j := a.jobNow(t, id); j.State != view.JobCancelled {
		t.Errorf("it is %s (%s)", j.State, j.Why)
	}
	a.sound(t, id)
}

// What is said beforehand of whether a job stops is what it then does.
func TestJobStopsAsForetold(t *testing.T) {
	a := bureau(t, "")
	for _, r := range []control.JobRequest{
		{Description: "Fix it"},
		{Description: "Compare the three offers and draft a recommendation", Sources: []string{"dir:offers"}},
	} {
		r.Config = filepath.Join(a.project, "team.yaml")
		stops, why, err := a.WouldReview(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if j := a.settleJob(t, a.newJob(t, r)); !stops || j.State != view.JobReview || !strings.Contains(j.Why, why) {
			t.Errorf("%s: foretold was %t, %q; it is %s, %q", r.Description, stops, why, j.State, j.Why)
		}
	}
}

// One outline becomes one job: whoever begins another from it is told, since the
// companion looks into the first and into nothing else.
//
// IP-12 IP-19
func TestOneJobOfAnOutline(t *testing.T) {
	a := bureau(t, "")
	of, err := a.Begin(t.Context(), event.SessionStarted{Kind: event.SessionCompanion, Config: filepath.Join(a.project, "team.yaml"), By: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	first := a.newJob(t, control.JobRequest{Companion: of})
	r := control.JobRequest{Companion: of, Config: filepath.Join(a.project, "team.yaml"), Description: "Compare the three offers once more"}
	for _, when := range []string{"that waits to be heard", "that was heard"} {
		var usage *control.Usage
		if id, err := a.NewJob(t.Context(), r); !errors.As(err, &usage) || !strings.Contains(err.Error(), string(of)) {
			t.Errorf("another job, %s, of an outline of one %s: %v", id, when, err)
		}
		if err := a.Settle(t.Context(), of, false); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := a.Open(t.Context(), of); err != nil || s.Session.Talk.Job != first {
		t.Errorf("the companion is about %+v, %v", s.Session, err)
	}
	left, err := os.ReadDir(a.state("jobs"))
	if err != nil || len(left) != 1 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// An edit that is too long to be shown and edited again is refused.
func TestJobEditTooLong(t *testing.T) {
	a := bureau(t, "")
	id := a.newJob(t, control.JobRequest{})
	long := event.Edited{Path: "plan.md", Text: event.Inline(strings.Repeat("x", 2<<20)), By: "ann"}
	var usage *control.Usage
	if err := a.Send(t.Context(), id, event.Fact{ID: "edit", Body: long}); !errors.As(err, &usage) {
		t.Errorf("an edit of 2 MiB: %v", err)
	}
}

// Whoever says something to a job while its driver leaves is heard: by that one if
// it is still seen to drive the job, by the next one otherwise.
func TestJobHearsWhileItIsLeft(t *testing.T) {
	a := bureau(t, "")
	a.linger = time.Nanosecond
	id := a.newJob(t, control.JobRequest{Paths: []string{"offers"}})
	a.settleJob(t, id)
	driven := 0
	for n := range 8 {
		settled := make(chan error, 1)
		go func() { settled <- a.Settle(t.Context(), id, false) }()
		if err := a.Send(t.Context(), id, event.Fact{ID: fmt.Sprint("comment/", n), Body: event.Commented{Path: "plan.md", Text: "More.", By: "ann"}}); err != nil {
			t.Fatal(err)
		}
		_, held, err := a.Driver(t.Context(), id)
		if err = errors.Join(err, <-settled); err != nil {
			t.Fatal(err)
		}
		now, err := jobStanding(t.Context(), a.log, id)
		if err != nil {
			t.Fatal(err)
		}
		if waits := pendingFor(t.Context(), a.log, id, now); waits && held {
			t.Fatalf("comment %d was left lying by the driver that was there", n)
		} else if waits {
			a.settleJob(t, id) // as whoever finds nobody does
		}
		if held {
			driven++
		}
	}
	if j := a.settleJob(t, id); len(j.Threads) != 8 {
		t.Errorf("%d comments were heard, %d while somebody drove the job", len(j.Threads), driven)
	}
	a.sound(t, id)
}
