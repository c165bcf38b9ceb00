package tui_test

import (
	"strings"
	"testing"
	"time"

	"conclave/internal/event"
)

// storyteller is what both agents of the story do: they wait for what they are
// told before they answer, know what was said before, plan and carry out.
const storyteller = `
name: storyteller
steps:
  - when: {presenting: true, task: "Which sort"}
    do: [{usage: {input: 100, output: 20, cost: 0.01}}, {say: "Presented: {{.Own}}"}]
  - when: {own: 1+}
    do: [{vote: {for: first, reason: it came first}}]
  - when: {task: "Which sort", sees: "equal keys"}
    do: [{usage: {input: 100, output: 20, cost: 0.01}}, {answer: "Merge sort, for the equal keys."}]
  - when: {task: "Which sort"}
    do: [{say: looking}, {delay: 20ms}, {tool: {name: nothing, input: {}}}]
  - when: {task: "(?i)what did I ask", sees: "Which sort"}
    do: [{answer: "You asked which sort, and were told merge sort."}]
  - when: {sees: "keep it stable"}
    do: [{say: at it}, hang]
  - do: [{answer: "# The plan\n\n- [ ] write merge sort\n- [ ] test it\n"}]
`

// The whole of it, as somebody would use it: the welcome, a question, a look at
// who works, a message, the vote and another choice, the answer, a question to
// one agent who knows all of it, a plan, its approval with words of one's own,
// and its execution.
// TM-01.1, TM-03.1, TM-03.2, TM-03.3, TM-03.4, TM-04.1, TM-04.3, TM-09.1, TM-09.2, TM-09.3
func TestStory(t *testing.T) {
	rules := "orchestrator: {override: wait, final_answer_strategy: winner_present, max_attempts_per_round: 1000, defer_voting_until_all_answered: true}\n"
	a := stage(t, strings.ReplaceAll(pair, "agent.yaml", "teller.yaml")+rules, map[string]string{"teller.yaml": storyteller})
	r, c := sit(t, a)

	r.See("Conclave", "2 agents are ready", "Plan: off", "Agents: all", "Refine: on")
	r.Type("Which sort?").Press("enter").See("● ada", "● bob", "working", "(locked)")
	r.Press("alt+1").See("agent", "round 1").Press("alt+0")
	r.Type("There are equal keys").Press("enter").See("There are equal keys")

	r.See("Press Ctrl+O to override, Enter to continue").Press("ctrl+o").See("Who presents?", "Merge sort, for the equal keys.", "it came first", "won the vote")
	r.Press("down", "enter").See("Final answer", "Presented: Merge sort, for the equal keys.", "was picked by a person", "success", "$0.0")
	if card := cardOf(t, a, newestRun(t, a)); card.Presenter == card.Ballot.Chosen.Winner || card.Presenter == "" {
		t.Errorf("%s presented, and %s had won", card.Presenter, card.Ballot.Chosen.Winner)
	}

	r.Type("/agents bob").Press("enter").See("Agents: bob alone")
	r.Until("see the other greyed", func() bool {
		return strings.Contains(r.Screen(), "(★ ada") || strings.Contains(r.Screen(), "(· ada")
	})
	r.Press("alt+e").See("Refine: off")
	r.Type("What did I ask?").Press("enter").See("turn 2", "You asked which sort, and were told merge sort.", "success")

	r.Press("shift+tab").See("Plan: on", "What is to be planned by bob alone?")
	r.Type("Write it").Press("enter").See("Plan, revision 1", "write merge sort", "request changes")
	c.pass(time.Minute)
	r.Press("i").Type("keep it stable").Press("enter", "a")
	r.See("Executing plan", ".conclave/plans/"+planIn(t, a).ID, "● bob")
	if p := planIn(t, a); p.Choice != event.PlanApprove || p.Note != "keep it stable" {
		t.Errorf("the plan is %+v", p)
	}

	r.Press("esc").See("Esc again").Press("esc").See("cancelled").Press("ctrl+d").Left()
	if p := r.Parting(); !strings.Contains(p, "conclave resume "+string(sessionOf(t, a))) {
		t.Errorf("it says %q", p)
	}
}
