package view_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/event"
	"conclave/internal/job"
	"conclave/internal/job/jobtest"
	"conclave/internal/view"
)

// What is shown of a job is what its decider knows, whatever happens: frozen or
// not, over or not, what a reply must name, the todos, the time, the money.
func TestJobAgreesWithTheDecider(t *testing.T) {
	seen := map[view.JobState]int{}
	for seed := range uint64(60) {
		w := jobtest.Play(seed, 250)
		var d job.Job
		var j view.Job
		for _, e := range w.Log {
			d.Step(e)
			if j = j.Apply(e); len(d.Due()) > 0 {
				continue
			}
			seen[j.State]++
			for _, wrong := range disagreements(j, &d) {
				t.Fatalf("seed %d, event %d (%s): %s", seed, e.Seq, e.ID, wrong)
			}
		}
	}
	for _, s := range []view.JobState{view.JobPlanning, view.JobReview, view.JobRunning, view.JobTrouble, view.JobCompleted, view.JobFailed, view.JobCancelled} {
		if seen[s] == 0 {
			t.Errorf("no job was ever %s", s)
		}
	}
}

// disagreements are where what is shown is not what the decider knows.
func disagreements(j view.Job, d *job.Job) (out []string) {
	same := func(what string, is, shown any) {
		if diff := cmp.Diff(is, shown); diff != "" {
			out = append(out, what+" (-is +shown):\n"+diff)
		}
	}
	same("frozen", d.Frozen(), j.State.Frozen())
	same("over", d.Over(), j.State.Over())
	g, _ := d.Gate()
	if j.Review == nil {
		same("gate", g, event.Asked{})
	} else {
		same("gate", g, j.Review.Asked)
	}
	if g.Kind == event.GateReview {
		r := j.Rounds[len(j.Rounds)-1]
		same("nothing changed", strings.HasPrefix(g.Title, "Nothing changed"), r.Same)
		same("other ways", strings.Contains(g.Text.Text, "Other ways"), r.Late)
	}
	b, goesOn := d.Phase()
	p, _ := j.Current()
	same("phase", b.Key(), event.PhaseBegun{Phase: p.Phase, Iteration: p.Iteration}.Key())
	same("phase goes on", goesOn, p.Phase > 0 && p.How == "")
	if goesOn {
		var todos []event.Todo
		for _, x := range p.Todos {
			todos = append(todos, x.Todo)
		}
		same("todos", b.Todos, todos)
	}
	talk, runs := d.Used()
	same("used", talk.Add(runs), j.Usage)
	same("worked", d.Worked(), time.Duration(j.Worked))
	same("title", d.Title(), j.Started.Title)
	var open []string
	for _, t := range j.Threads {
		if t.Sent && !t.Resolved && t.Answer == nil {
			open = append(open, t.ID)
		}
	}
	same("unanswered", d.Unanswered(), open)
	commit, files, _ := d.Workspace()
	same("commit", commit, j.Commit)
	same("files", files, j.Files)
	same("heard", []string(nil), append([]string(nil), j.Heard...))
	return out
}

// A job of any course keeps to what folds promise.
func TestJobLaws(t *testing.T) {
	for seed := range uint64(6) {
		f := fixture{name: "played", log: jobtest.Play(seed, 120).Log}
		keptValuesStay[view.Job](t, f)
		restoredGoesOn[view.Job](t, f)
	}
}
