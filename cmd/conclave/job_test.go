package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"conclave/internal/event"
	"conclave/internal/view"
)

const jobsYAML = `
agents:
  - {id: ada, backend: {type: script, script: agent.yaml}}
planning:
  backend: {type: demo, persona: planner, pace: 0}
  companion: {backend: {type: demo, persona: companion, pace: 0}}
`

// threeOffers is a project with three offers, in which a job about them is begun.
func threeOffers(t *testing.T) (*project, string) {
	t.Helper()
	p := newTeam(t)
	p.write(t, "jobs.yaml", jobsYAML)
	if err := os.CopyFS(p.dir+"/offers", os.DirFS("../../examples/jobs/offers")); err != nil {
		t.Fatal(err)
	}
	return p, strings.TrimSpace(p.output(t, "job", "new", "--config", "jobs.yaml", "-d", "Compare the three offers", "--doc", "offers"))
}

func (p *project) job(t *testing.T, id string) view.Job {
	t.Helper()
	var j view.Job
	if err := json.Unmarshal([]byte(p.output(t, "job", "show", "--json", id)), &j); err != nil {
		t.Fatal(err)
	}
	return j
}

// Whoever drives a job is killed again and again, wherever it is. The job is frozen
// or goes on, never neither and never both: taken up each time it comes to its end
// as if nothing had happened, with every todo done once and each commit made once.
//
// IP-02 IP-07
func TestJobKilledAnywhere(t *testing.T) {
	t.Parallel()
	kills := 24
	if testing.Short() || raceEnabled {
		kills = 6
	}
	rng := rand.New(rand.NewPCG(uint64(kills), 815))
	p, id := threeOffers(t)
	rounds := 0
	for n := 0; ; n++ {
		endDrivers(p.dir)
		j := p.job(t, id)
		if j.State == view.JobReview && n > kills/2 || j.State.Over() {
			if j.State.Over() {
				break
			}
			p.start(t, "job", "approve", id).ends(0)
			continue
		}
		if j.State == view.JobReview { // asked again, and killed on the way
			if rounds++; rounds < 3 {
				p.start(t, "job", "revise", id, "-m", "Shorter.").ends(0)
				continue
			}
		}
		x := p.start(t, "resume", id)
		if n < kills {
			stop := time.AfterFunc(time.Duration(rng.IntN(250))*time.Millisecond, func() { _ = x.cmd.Process.Signal(syscall.SIGKILL) })
			x.readers.Wait()
			_ = x.cmd.Wait()
			stop.Stop()
			continue
		}
		x.readers.Wait()
		_ = x.cmd.Wait()
		if code := x.cmd.ProcessState.ExitCode(); code != 0 && code != 5 { // over, or it waits again
			t.Fatalf("resume ended with %d\n%s", code, x.everything())
		}
	}
	j := p.job(t, id)
	if j.State != view.JobCompleted || j.Ended == nil || len(j.Phases) != 3 {
		t.Fatalf("it is %s (%s) after %d phases", j.State, j.Why, len(j.Phases))
	}
	commits := map[string]bool{}
	for _, c := range j.Commits {
		if commits[c.Ref] {
			t.Errorf("%s was committed twice", c.Ref)
		}
		commits[c.Ref] = true
	}
	for _, todo := range j.Phases[1].Todos {
		if !todo.Done {
			t.Errorf("%s was not done", todo.Text)
		}
	}
	p.sound(t)
	p.nobodyLeft(t)
}

// A job that waits for a person waits without anybody who drives it, for as long
// as it takes, and is approved by a program that is started much later.
//
// IP-07
func TestJobFrozenWithoutAProcess(t *testing.T) {
	t.Parallel()
	p, id := threeOffers(t)
	p.start(t, "job", "wait", id).ends(5)
	endDrivers(p.dir) // the machine goes down
	p.nobodyLeft(t)
	if j := p.job(t, id); j.State != view.JobReview || j.Review == nil || j.Review.Kind != event.GateReview {
		t.Fatalf("it is %s", j.State)
	}
	p.start(t, "job", "approve", id).ends(0)
	x := p.start(t, "job", "wait", id)
	x.ends(0)
	x.says(x.out, "is complete")
	p.sound(t)
}
