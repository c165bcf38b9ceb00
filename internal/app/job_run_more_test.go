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

const saysOnly = `
  - when: {presenting: true}
    do: [{usage: {input: 1000, output: 100, cost: 0.25}}, {say: "It is all written, believe me."}]
  - when: {own: 0}
    do: [{answer: "I write it."}]
  - do: [{vote: {for: first, reason: it is the only one}}]
`

// briefs are what the agent of a job was told, one for each turn.
func (a *App) briefs(t *testing.T, id event.FlowID) []string {
	t.Helper()
	var out []string
	for e, err := range a.log.Read(t.Context(), id, 1) {
		if err != nil {
			t.Fatal(err)
		}
		if b, ok := e.Body.(event.Briefed); ok {
			text, err := a.Text(t.Context(), b.Text)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, text)
		}
	}
	return out
}

const changedNothing = "They have changed no file of the workspace"

// The agent that plans is told what a run says of its phase, and if the run has
// changed nothing that as well. What the run has cost counts for the job.
func TestJobByRunThatWritesNothing(t *testing.T) {
	for script, nothing := range map[string]bool{saysOnly: true, writesInJob: false} {
		a, j := byRun(t, "", script)
		a.decideJob(t, j, event.ReviewApprove, "")
		j = a.settleJob(t, j.ID)
		all := a.briefs(t, j.ID)
		last := all[len(all)-1]
		if len(all) != 2 || !strings.Contains(last, "written") || strings.Contains(last, changedNothing) != nothing {
			t.Errorf("with a run that changes nothing (%t), it is told:\n%s", nothing, strings.Join(all, "\n---\n"))
		}
		if want := event.Money(250_000); nothing && j.Usage.Cost < want {
			t.Errorf("the job has cost %s, less than its run", j.Usage.Cost)
		}
		a.sound(t, j.ID)
	}
}

// Of several agents the one who wins the vote writes, and nobody else does.
func TestJobByRunOfTwo(t *testing.T) {
	a := bureau(t, "  execute_with: run\n")
	team := filepath.Join(a.project, "team.yaml")
	text, err := os.ReadFile(team)
	if err != nil {
		t.Fatal(err)
	}
	two := strings.Replace(string(text), "planning:", "  - {id: bob, backend: {type: script, script: agent.yaml}}\nplanning:", 1)
	if err := os.WriteFile(team, []byte(two), 0o600); err != nil {
		t.Fatal(err)
	}
	j := a.settleJob(t, a.newJob(t, control.JobRequest{Paths: []string{"offers"}}))
	a.plays(t, j.ID, `
  - when: {presenting: true, reply: 1}
    do: [{tool: {name: write, input: {path: "DIR/output/by {{.Label}}.md", content: "Mine."}}}]
  - when: {presenting: true}
    do: [{say: "It is written."}]
  - when: {own: 0}
    do: [{tool: {name: write, input: {path: DIR/output/early.md, content: "Too early."}}}, {answer: "I write it."}]
  - do: [{vote: {for: first, reason: it came first}}]
`)
	a.decideJob(t, j, event.ReviewApprove, "")
	if j = a.settleJob(t, j.ID); j.State != view.JobCompleted {
		t.Fatalf("it is %s (%s)", j.State, j.Why)
	}
	entries, err := os.ReadDir(filepath.Join(j.Started.Dir, "output"))
	if err != nil || len(entries) != 1 || !strings.HasPrefix(entries[0].Name(), "by agent") {
		t.Errorf("the outputs are %v, %v", entries, err)
	}
	if len(j.Phases) != 3 || j.Phases[1].Run == "" {
		t.Errorf("its phases are %+v", j.Phases)
	}
	a.sound(t, j.ID)
}

// When a run has failed a person can have the plan changed in place of trying
// again.
func TestJobByRunFailsAndIsPlannedAnew(t *testing.T) {
	a, j := byRun(t, "", "  - do: [{fail: {kind: auth, message: the key is wrong}}]\n")
	a.decideJob(t, j, event.ReviewApprove, "")
	if j = a.settleJob(t, j.ID); j.State != view.JobTrouble {
		t.Fatalf("it is %s (%s)", j.State, j.Why)
	}
	a.plays(t, j.ID, writesInJob)
	a.decideJob(t, j, event.TroubleChange, "Do it by hand.")
	j = a.settleJob(t, j.ID)
	if all := a.briefs(t, j.ID); len(all) < 2 || !strings.Contains(all[1], "Do it by hand.") || !strings.Contains(all[1], "has not carried out the phase") {
		t.Errorf("it is told:\n%s", strings.Join(all, "\n---\n"))
	}
	if p := j.Phases[2]; p.Kind != event.PhaseStrategic || p.Purpose != event.PurposeCorrect {
		t.Errorf("the phase after it is %+v", p)
	}
	a.sound(t, j.ID)
}

// A run gets no more than what is left of the job's budget, and what it has used is
// gone.
func TestJobByRunOnABudget(t *testing.T) {
	a := bureau(t, "  execute_with: run\n  max_tokens: 200000\n")
	j := a.settleJob(t, a.newJob(t, control.JobRequest{Paths: []string{"offers"}}))
	a.plays(t, j.ID, strings.Replace(saysOnly, "input: 1000", "input: 300000", 1))
	a.decideJob(t, j, event.ReviewApprove, "")
	j = a.settleJob(t, j.ID)
	if j.State != view.JobTrouble || !strings.Contains(j.Why, "the next call may take 300100 tokens") {
		t.Fatalf("it is %s (%s)", j.State, j.Why)
	}
	a.plays(t, j.ID, strings.Replace(saysOnly, "input: 1000", "input: 100000", 1))
	a.decideJob(t, j, event.TroubleRetry, "")
	j = a.settleJob(t, j.ID)
	var grants, used []int64
	for e, err := range a.log.Read(t.Context(), j.ID, 1) {
		if err != nil {
			t.Fatal(err)
		}
		switch b := e.Body.(type) {
		case event.Launched:
			grants = append(grants, *b.Grant.Tokens)
		case event.Returned:
			used = append(used, b.Usage.Tokens())
		}
	}
	if len(grants) != 2 || grants[0] >= 200000 || grants[1] != grants[0]-used[0] || used[1] < 100000 {
		t.Errorf("granted were %v and used %v", grants, used)
	}
	if j.State != view.JobCompleted || j.Usage.Tokens() < 100000 {
		t.Errorf("it is %s (%s) with %d tokens", j.State, j.Why, j.Usage.Tokens())
	}
	a.sound(t, j.ID)
}
