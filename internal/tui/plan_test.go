package tui_test

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"conclave/internal/event"
	"conclave/internal/tui/robot"
	"conclave/internal/view"
)

// planner writes a plan, changes it as it is told, and carries it out.
const planner = `
name: planner
steps:
  - when: {own: 1+}
    do: [{vote: {for: self, reason: done}}]
  - when: {sees: "mind the gap"}
    do: [{answer: "Executed, minding the gap."}]
  - when: {sees: "use a heap"}
    do: [{answer: "# The second plan\n\n- [ ] build a heap\n- [ ] sort with it\n"}]
  - do: [{answer: "# The plan\n\n- [ ] read the input\n- [ ] sort it\n"}]
`

func planning(t *testing.T) (*program, *robot.Robot, *clock) {
	t.Helper()
	a := stage(t, "agents:\n  - {id: ada, backend: {type: script, script: planner.yaml}}\norchestrator: {agent_mode: single, final_answer_strategy: winner_reuse}\n",
		map[string]string{"planner.yaml": planner})
	r, c := sit(t, a)
	r.Press("shift+tab").See("Plan: on")
	r.Type("Sort the list").Press("enter")
	return a, r, c
}

// TM-03.2
func TestPlanSubmission(t *testing.T) {
	a, r, c := planning(t)
	r.See("Plan, revision 1", ".conclave/plans/", "The plan", "read the input", "sort it", "tasks 2", "approve")
	r.Press("a").See("only just opened")
	c.pass(time.Second)
	r.Click("tasks 2").See("   1 1  read the input").Click("plan ").Press("t").See("   2 2  sort it")
	r.Press("d").See("This is the first revision.")
	r.Press("esc").See("Plan, revision 1, waits for your review", "Plan waits for your review").Gone("request changes")
	r.Press("enter").See("request changes")
	r.Resize(40, 12).See("approve").Resize(80, 24)
	c.pass(time.Minute)
	r.Press("x").See("Press the key again").Press("x").See("the plan is dropped")
	if p := planIn(t, a); p.Choice != event.PlanDrop {
		t.Errorf("the plan is %+v", p)
	}
}

// TM-03.3
func TestPlanApprovalWithAdditions(t *testing.T) {
	a, r, c := planning(t)
	r.See("Plan, revision 1", "request changes")
	c.pass(time.Minute)
	r.Press("i").Type("please a mind the gap").Press("enter", "a")
	r.See("Executed, minding the gap.")
	p := planIn(t, a)
	if p.Choice != event.PlanApprove || p.Note != "please a mind the gap" {
		t.Errorf("the plan is %+v", p)
	}
	if card := cardOf(t, a, newestRun(t, a)); card.Status != event.StatusSuccess {
		t.Errorf("it was executed: %s", card.Status)
	}
}

// TM-03.3: what is typed at the input while a plan waits goes into its review.
func TestPlanTypedBelow(t *testing.T) {
	_, r, _ := planning(t)
	r.See("Plan, revision 1", "request changes").Press("esc").Type("mind the gap").Press("enter")
	r.See("mind the gap", "Plan, revision 1", "a approves it").Press("a").See("Executed, minding the gap.")
}

// TM-03.4
func TestPlanExecutionDisplay(t *testing.T) {
	slow := strings.Replace(planner, `do: [{answer: "Executed, minding the gap."}]`, "do: [{say: at it}, hang]", 1)
	a := stage(t, "agents:\n  - {id: ada, backend: {type: script, script: planner.yaml}}\norchestrator: {agent_mode: single, final_answer_strategy: winner_reuse}\n",
		map[string]string{"planner.yaml": slow})
	r, c := sit(t, a)
	r.Press("shift+tab").Type("Sort the list").Press("enter").See("Plan, revision 1", "request changes")
	c.pass(time.Minute)
	r.Press("i").Type("mind the gap").Press("enter", "a")
	r.See("Executing plan", ".conclave/plans/"+planIn(t, a).ID)
}

// Changes are asked for with comments on lines and tasks; the next revision shows
// what is different.
func TestPlanChanges(t *testing.T) {
	a, r, c := planning(t)
	r.See("Plan, revision 1", "request changes")
	c.pass(time.Minute)
	r.Press("r").See("Say what is to be different")
	r.Press("esc", "c").See("Choose a line").Press("down", "down", "c").See("Your comment on line 3").Type("no, use a heap").Press("enter").See("▎ no, use a heap", "1 comment goes along")
	r.Press("t", "c").Type("from a file").Press("enter").See("2 comments go along", "from a file")
	r.Press("r").See("Plan, revision 2", "The second plan", "build a heap")
	c.pass(time.Second)
	r.Press("d").See("read the input", "build a heap")
	note := planIn(t, a)
	if len(note.Revisions) != 2 {
		t.Errorf("the plan is %+v", note)
	}
	var said string
	for e, err := range a.Read(t.Context(), sessionOf(t, a)) {
		if err != nil {
			t.Fatal(err)
		}
		if b, ok := e.Body.(event.Closed); ok {
			said = b.Text
		}
	}
	if !strings.Contains(said, `On line 3 ("- [ ] read the input"): no, use a heap`) || !strings.Contains(said, "from a file") {
		t.Errorf("the feedback is %q", said)
	}
}

// A revision that somebody writes elsewhere takes the place of the one that is
// being looked at, and what was typed stays.
func TestPlanRevisedElsewhere(t *testing.T) {
	a, r, c := planning(t)
	r.See("Plan, revision 1", "request changes")
	c.pass(time.Second)
	r.Press("i").Type("my note").Press("enter")
	p := planIn(t, a)
	if err := send(t, a, event.Revised{Plan: p.ID, Revision: 1, Text: event.Inline("# Mine\n\n- [ ] think\n"), By: "ann"}); err != nil {
		t.Fatal(err)
	}
	r.See("Plan, revision 2", "Mine", "think", "my note", "written by ann")
	r.Press("a").See("only just opened") // it is another plan than the one that was read
}

func send(t testing.TB, a *program, b event.Body) error {
	t.Helper()
	return a.Send(t.Context(), sessionOf(t, a), event.Fact{ID: "test/" + rand.Text(), Body: b})
}

func planIn(t testing.TB, a *program) view.SessionPlan {
	t.Helper()
	var s view.Session
	for e, err := range a.Read(t.Context(), sessionOf(t, a)) {
		if err != nil {
			t.Fatal(err)
		}
		s = s.Apply(e)
	}
	for _, x := range s.Turns.All(0) {
		if x.Plan != nil {
			return *x.Plan
		}
	}
	t.Fatal("there is no plan")
	return view.SessionPlan{}
}
