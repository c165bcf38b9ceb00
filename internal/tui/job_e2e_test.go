package tui_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/tui"
	"conclave/internal/tui/robot"
	"conclave/internal/view"
)

// planners are a team with the agent of jobs of the demo, who does not dawdle.
const planners = `
agents:
  - {id: ada, backend: {type: script, script: agent.yaml}}
planning:
  backend: {type: demo, persona: planner, pace: 0}
  companion: {backend: {type: demo, persona: host, pace: 0}}
`

// office is a project with something to read and a job that waits for a person.
func office(t *testing.T) (*program, event.FlowID) {
	t.Helper()
	p := stage(t, planners, map[string]string{"notes/one.md": "# Gardens\n\nRoses want sun.\n", "notes/two.md": "Ferns want shade.\n"})
	id, err := p.NewJob(t.Context(), control.JobRequest{
		Title: "Plan the garden", Description: "Lay out what is to be planted where", Paths: []string{"notes"}, Config: p.config, Asks: true, By: "test",
	})
	if err == nil {
		err = p.Settle(t.Context(), id, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p, id
}

// desk opens the window of a job.
func (p *program) desk(t *testing.T, id event.FlowID) (*robot.Robot, *clock) {
	t.Helper()
	c := &clock{}
	o := c.options(p)
	o.Job = id
	return robot.Open(t, o, 100, 30), c
}

func (p *program) jobNow(t *testing.T, id event.FlowID) view.Job {
	t.Helper()
	s, err := p.Open(t.Context(), id)
	if err != nil || s.Job == nil {
		t.Fatalf("%+v, %v", s, err)
	}
	return *s.Job
}

// A job is begun in a conversation, waits, is looked at, commented on, changed,
// answered, sent back, looked at again, approved, watched and over, all in the
// terminal.
//
// IP-08 IP-09 IP-10 IP-11: the plan and the memory are read as they are meant to
// be, todos are a list; there is approve and request changes with words; edits
// are kept and count as revisions; the review can be skipped.
func TestJobStory(t *testing.T) {
	p := stage(t, planners, map[string]string{"notes/one.md": "Atlas is an offer.\n", "notes/two.md": "Kestrel and Nordwind are others.\n"})
	t.Chdir(filepath.Dir(p.config))
	c := &clock{}
	r := robot.Open(t, c.options(p), 100, 30)
	r.See("agent")
	r.Type("/job new Compare the offers @notes ").Press("enter").See("The job is begun: job-")
	press := func(keys ...string) *robot.Robot { // a moment later, as people do
		c.pass(1e9)
		return r.Press(keys...)
	}
	flows, err := p.Flows(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var id event.FlowID
	for _, f := range flows {
		if f.Kind == view.KindJob {
			id = f.ID
		}
	}
	press("f12").See("Jobs", "Compare the offers").Press("enter")
	r.See("Job: Compare the offers", "waits for you", "Round 1, revision 1", "2 Todos 3", "4 Questions 2")
	press("1").See("Goal", "A table in which the three offers can be compared").Gone("## Goal")
	press("3").See("Three offers for hosting the customer portal")
	press("4").See("Over how many months are costs compared?", "unless you say otherwise: 36").Press("enter").See("The plan asks")
	r.Type("24 months").Press("enter").See("you: 24 months")

	press("1", "down", "down", "c").See("Your comment on plan.md, line 5")
	r.Type("Which portal?").Press("enter").See("▎ you: Which portal?", "1 open comment")
	press("2", "down", "space").See("(left out)", "revision 2")
	press("J").See("revision 3")
	if got := p.jobNow(t, id); len(got.Staged) != 3 || !got.Staged[2].Skip || got.Staged[2].ID != "2" || got.Review.Revision != 3 {
		t.Errorf("the todos are %+v", got.Staged)
	}

	press("r").See("What is to be different? 1 open comment goes along")
	r.Type("Split the work").Press("esc").See("a draft (r)")
	press("r").See("❯ Split the work").Press("enter")
	r.See("Round 2, revision 4", "You asked for this in round 1", "Split the work", "agent, changed: Taken up in plan.md", "plan.md, changed", "+ ## Changes after review")

	press("a").See("Carry out revision 4?", "3 todos are done next.", "About $").Press("n").Gone("Carry out")
	press("a").See("Carry out").Press("y")
	r.See("Completed", "Deliverables", "output/", "✓ Phase 2, carrying out")
	press("enter").See("y copy").Press("esc").Gone("y copy")
	if j := p.jobNow(t, id); j.State != view.JobCompleted || j.Started.Parent != "" || len(j.Rounds) != 2 || j.Rounds[0].Choice != event.ReviewChange || j.Rounds[1].By != "you" {
		t.Errorf("it is %s: %+v", j.State, j.Rounds)
	}
	press("f").See("What is to be different in the result?").Type("Mention the support").Press("enter")
	r.See("correction.md", "Completed")
	press("esc").See("Jobs", "completed").Press("esc").See("What do you want done")
	press("f3").See("Compare the offers", "completed").Press("enter").See("Job: Compare the offers")
}

// What was decided, edited or answered elsewhere is seen at once; what is decided
// about something older is not taken, says so, and nothing written is lost.
func TestJobWindowsAgree(t *testing.T) {
	p, id := office(t)
	r, c := p.desk(t, id)
	other, _ := p.desk(t, id)
	r.See("Round 1, revision 1", "Goal")
	other.See("Round 1, revision 1", "Goal")
	r.Press("a").See("Carry out revision 1?")
	other.Press("2").See("[x]   1.").Press("space").See("revision 2")
	r.Press("y").See("Changed meanwhile, look again.", "That was about revision 1")
	if j := p.jobNow(t, id); j.State != view.JobReview || j.Review.Revision != 2 {
		t.Fatalf("it is %s", j.State)
	}
	c.pass(1e9)
	r.Press("r").See("What is to be different?").Type("More about roses")
	other.Press("space").See("revision 3")
	r.Press("enter").See("Changed meanwhile", "❯ More about roses").Press("enter")
	r.See("Round 2")
	other.See("Round 2", "More about roses")
	c.pass(1e9)
	r.Press("x").See("Cancel the job?").Press("y").See("Cancelled")
	other.See("Cancelled")
	c.pass(1e9)
	r.Press("q")
	if !r.Settles(5*time.Second, r.Closed) || !strings.Contains(r.Model().Parting(), "conclave job show "+string(id)) {
		t.Errorf("the window is closed: %v, and says %q", r.Closed(), r.Model().Parting())
	}
}

// A review is skipped for good: IP-11.
func TestJobSkip(t *testing.T) {
	p, id := office(t)
	r, _ := p.desk(t, id)
	r.See("skip review").Press("s").See("look at no further plan", "No plan of this job is asked about again.").Press("y").See("Completed")
	if j := p.jobNow(t, id); !j.Skipped || j.Rounds[0].Choice != event.ReviewSkip {
		t.Errorf("%+v", j.Rounds)
	}
}

// A window on something else tells of a job that waits.
func TestJobCalls(t *testing.T) {
	p, id := office(t)
	c := &clock{}
	r := robot.Open(t, c.options(p), 100, 30)
	r.See("The job “Plan the garden” waits for you: F12 shows it.")
	r.Type("/job "+string(id)).Press("enter").See("Job: Plan the garden", "waits for you")
	if s := r.Model().Situation(); s != tui.Idle {
		t.Errorf("the conversation is %s", s)
	}
}
