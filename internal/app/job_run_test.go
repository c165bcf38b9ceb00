package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

// byRun is a job that waits for its plan to be approved, which a run of ada carries
// out; script are her steps, in which DIR is the workspace of the job.
func byRun(t *testing.T, planning, script string) (*App, view.Job) {
	t.Helper()
	a := bureau(t, "  execute_with: run\n"+planning)
	j := a.settleJob(t, a.newJob(t, control.JobRequest{Paths: []string{"offers"}}))
	if j.State != view.JobReview {
		t.Fatalf("it is %s (%s)", j.State, j.Why)
	}
	a.plays(t, j.ID, script)
	return a, j
}

// plays has ada go by another script from now on.
func (a *App) plays(t *testing.T, id event.FlowID, script string) {
	t.Helper()
	script = "name: ada\nsteps:\n" + strings.ReplaceAll(script, "DIR", a.state("jobs", string(id)))
	if err := os.WriteFile(filepath.Join(a.project, "agent.yaml"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
}

const writesInJob = `
  - when: {presenting: true, reply: 1}
    do:
      - tool: {name: write, input: {path: DIR/output/by run ü.md, content: "By a run.\n"}}
      - tool: {name: write, input: {path: DIR/todos.yaml, content: "todos: []\n"}}
      - tool: {name: write, input: {path: DIR/documents/offers/atlas.md, content: "Free.\n"}}
      - tool: {name: write, input: {path: DIR/.git/config, content: "x"}}
      - tool: {name: write, input: {path: DIR/review/round-1.md, content: "x"}}
  - when: {presenting: true}
    do: [{say: "It is written."}]
  - when: {own: 0}
    do: [{answer: "I write it."}]
  - do: [{vote: {for: first, reason: it is the only one}}]
`

// A tactical phase that a run carries out leaves its files in the workspace of the
// job, in a commit; what is not for agents to change stays as it was.
func TestJobByRun(t *testing.T) {
	a, j := byRun(t, "", writesInJob)
	_, todos, err := a.JobFile(t.Context(), j.ID, "todos.yaml", "")
	if err != nil {
		t.Fatal(err)
	}
	a.decideJob(t, j, event.ReviewApprove, "")
	j = a.settleJob(t, j.ID)
	if j.State != view.JobCompleted {
		t.Fatalf("it is %s (%s)", j.State, j.Why)
	}
	for _, x := range j.Phases[1].Todos {
		if !x.Done {
			t.Errorf("%s is not done", x.Text)
		}
	}
	if _, text, err := a.JobFile(t.Context(), j.ID, "output/by run ü.md", ""); err != nil || string(text) != "By a run.\n" {
		t.Errorf("the run left %q, %v", text, err)
	}
	_, now, err := a.JobFile(t.Context(), j.ID, "todos.yaml", "phase-2")
	if want := strings.ReplaceAll(string(todos), "pending", "completed"); err != nil || string(now) != want {
		t.Errorf("todos.yaml is\n%s, %v", now, err)
	}
	if _, text, err := a.JobFile(t.Context(), j.ID, "documents/offers/atlas.md", ""); err != nil || strings.Contains(string(text), "Free") {
		t.Errorf("the document is %q, %v", text, err)
	}
	if _, _, err := a.JobFile(t.Context(), j.ID, "review/round-1.md", ""); err == nil {
		t.Error("it has written a review")
	}
	a.sound(t, j.ID)
}

// A run that fails is trouble, which a person decides about: another one can be
// launched, and the phase is carried out then.
func TestJobByRunFails(t *testing.T) {
	a, j := byRun(t, "", "  - do: [{fail: {kind: auth, message: the key is wrong}}]\n")
	a.decideJob(t, j, event.ReviewApprove, "")
	j = a.settleJob(t, j.ID)
	if j.State != view.JobTrouble || j.Review == nil || !strings.Contains(j.Why, "has not carried out the phase") {
		t.Fatalf("it is %s (%s)", j.State, j.Why)
	}
	a.plays(t, j.ID, writesInJob)
	a.decideJob(t, j, event.TroubleRetry, "")
	if j = a.settleJob(t, j.ID); j.State != view.JobCompleted {
		t.Errorf("it is %s (%s)", j.State, j.Why)
	}
	a.sound(t, j.ID)
}

// Cancelling a job cancels the run that works for it.
func TestJobByRunCancelled(t *testing.T) {
	a, j := byRun(t, "", "  - do: [hang]\n")
	a.decideJob(t, j, event.ReviewApprove, "")
	settled := make(chan error, 1)
	go func() { settled <- a.Settle(t.Context(), j.ID, false) }()
	run := event.FlowID("")
	for e, err := range a.log.Follow(t.Context(), j.ID, 1) {
		if err != nil {
			t.Fatal(err)
		}
		if b, ok := e.Body.(event.Launched); ok {
			run = b.Run
			break
		}
	}
	for e, err := range a.log.Follow(t.Context(), run, 1) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.Body.(event.Assigned); ok {
			break
		}
	}
	if err := a.Send(t.Context(), j.ID, event.Fact{ID: "cancel", Body: event.CancelRequested{By: "ann"}}); err != nil {
		t.Fatal(err)
	}
	if err := <-settled; err != nil {
		t.Fatal(err)
	}
	if j := a.jobNow(t, j.ID); j.State != view.JobCancelled {
		t.Errorf("it is %s (%s)", j.State, j.Why)
	}
	if s, err := a.Open(t.Context(), run); err != nil || s.Card.Status != event.StatusCancelled {
		t.Errorf("the run is %+v, %v", s.Card, err)
	}
	a.sound(t, j.ID)
	a.sound(t, run)
}
