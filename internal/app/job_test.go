package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

// bureau is a project with three offers and the demo's planner, who does not
// dawdle; planning is put into that section of the configuration.
func bureau(t *testing.T, planning string) *App {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	a := bare(t, `
agents:
  - {id: ada, backend: {type: script, script: agent.yaml}}
planning:
  backend: {type: demo, persona: planner, pace: 0}
  companion: {backend: {type: demo, persona: host, pace: 0}}
`+planning)
	a.linger = time.Millisecond
	dir := filepath.Join(a.project, "offers")
	if err := os.CopyFS(dir, os.DirFS("../../examples/jobs/offers")); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *App) newJob(t *testing.T, r control.JobRequest) event.FlowID {
	t.Helper()
	r.Config = filepath.Join(a.project, "team.yaml")
	if r.Description == "" {
		r.Description = "Compare the three offers and draft a recommendation"
	}
	id, err := a.NewJob(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// settleJob drives a job until it waits for a person or is over.
func (a *App) settleJob(t *testing.T, id event.FlowID) view.Job {
	t.Helper()
	if err := a.Settle(t.Context(), id, false); err != nil {
		t.Fatal(err)
	}
	return a.jobNow(t, id)
}

func (a *App) jobNow(t *testing.T, id event.FlowID) view.Job {
	t.Helper()
	s, err := a.Open(t.Context(), id)
	if err != nil || s.Job == nil {
		t.Fatalf("%+v, %v", s, err)
	}
	return *s.Job
}

func (a *App) decideJob(t *testing.T, j view.Job, choice, text string) {
	t.Helper()
	if j.Review == nil {
		t.Fatalf("it is %s and asks nothing: %s", j.State, j.Why)
	}
	err := a.Send(t.Context(), j.ID, event.Fact{ID: "reply/" + j.Review.Gate + choice, Body: event.Replied{
		Gate: j.Review.Gate, Choice: choice, Text: text, Revision: j.Review.Revision, By: "test",
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// sound proves the log of a flow.
func (a *App) sound(t *testing.T, id event.FlowID) {
	t.Helper()
	found, err := a.Check(t.Context(), id)
	if err != nil || len(found) > 0 {
		t.Errorf("the log of %s: %v, %v", id, found, err)
	}
}

// A job reads its documents, plans, and freezes with everything a person looks
// at: memory, plan, todos and a description of every tool. Nobody drives it then.
// Approved, it carries its todos out and is complete.
//
// IP-01 IP-02 IP-04
func TestJob(t *testing.T) {
	a := bureau(t, "")
	id := a.newJob(t, control.JobRequest{Paths: []string{"offers"}})
	j := a.settleJob(t, id)
	if j.State != view.JobReview || j.Review == nil || len(j.Staged) != 3 || len(j.Questions) != 2 || !strings.Contains(j.Why, "document") {
		t.Fatalf("it is %s (%s), with %d todos and %d questions", j.State, j.Why, len(j.Staged), len(j.Questions))
	}
	if _, driven, err := a.Driver(t.Context(), id); driven || err != nil {
		t.Errorf("somebody drives it: %v", err)
	}
	files, err := a.JobFiles(t.Context(), id, "")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Path)
	}
	for _, want := range []string{
		"workspace.md", "plan.md", "todos.yaml", "documents/offers/atlas.md", "tools/read.md", "tools/write.md", "tools/delete.md",
		"tools/next_phase_todos.md", "tools/todo_complete.md", "tools/todo_rewind.md", "tools/job_complete.md",
	} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not among %v", want, names)
		}
	}
	for name, want := range map[string]string{
		"plan.md": "## Open questions", "tools/delete.md": "While: carrying out.", "tools/next_phase_todos.md": "While: planning.",
		"tools/read.md": "While: planning and carrying out.",
	} {
		if _, text, err := a.JobFile(t.Context(), id, name, ""); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
	a.decideJob(t, j, event.ReviewApprove, "")
	j = a.settleJob(t, id)
	if j.State != view.JobCompleted || j.Ended == nil || len(j.Ended.Deliverables) != 2 || len(j.Phases) != 3 {
		t.Fatalf("it is %s (%s) after %d phases: %+v", j.State, j.Why, len(j.Phases), j.Ended)
	}
	if _, text, err := a.JobFile(t.Context(), id, "output/recommendation.md", ""); err != nil || !strings.Contains(string(text), "Nordwind") {
		t.Errorf("the recommendation: %s, %v", text, err)
	}
	a.sound(t, id)
}

// A job that is not to be looked at does not stop.
//
// IP-03
func TestJobWithoutReview(t *testing.T) {
	a := bureau(t, "  interactive: false\n")
	would, why, err := a.WouldReview(t.Context(), control.JobRequest{Config: filepath.Join(a.project, "team.yaml"), Paths: []string{"offers"}})
	if would || err != nil {
		t.Errorf("it would stop: %s, %v", why, err)
	}
	id := a.newJob(t, control.JobRequest{Paths: []string{"offers"}})
	if j := a.settleJob(t, id); j.State != view.JobCompleted || len(j.Rounds) != 0 {
		t.Errorf("it is %s (%s) after %d rounds", j.State, j.Why, len(j.Rounds))
	}
	a.sound(t, id)
}

// Asking for changes leads to another plan and to the question again. A comment
// goes along and is answered; an edit counts.
//
// IP-05 IP-06 IP-10
func TestJobRevised(t *testing.T) {
	a := bureau(t, "")
	id := a.newJob(t, control.JobRequest{Paths: []string{"offers"}})
	a.settleJob(t, id)
	comment := event.Fact{ID: "test/c1", Body: event.Commented{Path: "plan.md", Line: 3, Text: "Say which numbers.", By: "ann"}}
	if err := a.Send(t.Context(), id, comment); err != nil {
		t.Fatal(err)
	}
	j := a.settleJob(t, id)
	a.decideJob(t, j, event.ReviewChange, "Leave Kestrel out.")
	j = a.settleJob(t, id)
	if j.State != view.JobReview || len(j.Rounds) != 2 || j.StagedName != "As reviewed" || len(j.Threads) != 1 || j.Threads[0].Answer == nil {
		t.Fatalf("it is %s (%s), round %d, %q, %+v", j.State, j.Why, len(j.Rounds), j.StagedName, j.Threads)
	}
	for name, want := range map[string]string{"workspace.md": "Leave Kestrel out.", "plan.md": "Changes after review", "review/round-1.md": "Say which numbers."} {
		if _, text, err := a.JobFile(t.Context(), id, name, ""); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
	f, text, err := a.JobFile(t.Context(), id, "todos.yaml", "")
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(text), "Check the result against plan.md", "Check the result twice", 1)
	if err := a.Send(t.Context(), id, event.Fact{ID: "test/e1", Body: event.Edited{Path: f.Path, Base: f.Hash, Text: event.Inline(edited), By: "Ann"}}); err != nil {
		t.Fatal(err)
	}
	old := j
	if j = a.settleJob(t, id); j.Review.Revision != old.Review.Revision+1 {
		t.Errorf("revision %d after %d", j.Review.Revision, old.Review.Revision)
	}
	a.decideJob(t, j, event.ReviewApprove, "")
	j = a.settleJob(t, id)
	if j.State != view.JobCompleted || j.Phases[1].Todos[2].Text != "Check the result twice" {
		t.Errorf("it is %s (%s), and did %+v", j.State, j.Why, j.Phases)
	}
	log, err := a.JobLog(t.Context(), id, 50)
	if err != nil || !slices.ContainsFunc(log, func(c control.Commit) bool { return c.Author == "Ann" }) {
		t.Errorf("the commits are %+v, %v", log, err)
	}
	a.sound(t, id)
}

// A job that is over can be corrected, and one can be cancelled.
func TestJobCorrectedAndCancelled(t *testing.T) {
	a := bureau(t, "  interactive: false\n")
	id := a.newJob(t, control.JobRequest{Paths: []string{"offers"}})
	a.settleJob(t, id)
	if err := a.Send(t.Context(), id, event.Fact{ID: "test/corrected", Body: event.Corrected{Text: event.Inline("Add the taxes."), By: "ann"}}); err != nil {
		t.Fatal(err)
	}
	j := a.settleJob(t, id)
	if _, text, err := a.JobFile(t.Context(), id, "output/correction.md", ""); err != nil || !strings.Contains(string(text), "Add the taxes.") {
		t.Errorf("it is %s (%s): %s, %v", j.State, j.Why, text, err)
	}
	a.sound(t, id)
	id = a.newJob(t, control.JobRequest{Review: "true"})
	a.settleJob(t, id)
	if err := a.Send(t.Context(), id, event.Fact{ID: "test/cancel", Body: event.CancelRequested{By: "ann"}}); err != nil {
		t.Fatal(err)
	}
	if j := a.settleJob(t, id); j.State != view.JobCancelled {
		t.Errorf("it is %s (%s)", j.State, j.Why)
	}
	a.sound(t, id)
}
