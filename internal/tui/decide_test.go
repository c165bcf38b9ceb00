package tui_test

import (
	"strings"
	"testing"
	"time"

	"conclave/internal/event"
	"conclave/internal/view"
)

const waiting = pair + "orchestrator: {override: wait, final_answer_strategy: winner_present}\n"

// TM-09.1
func TestOverrideAvailability(t *testing.T) {
	r, _ := sit(t, stage(t, waiting, nil))
	r.Type("Which sort?").Press("enter")
	r.See("Press Ctrl+O to override, Enter to continue", "waits for you", "won.")
	r.Press("enter").See("Final:", "Decided: ").Gone("Press Ctrl+O")
}

// TM-09.1: the countdown is seen, and the gate closes by itself.
func TestOverrideCountdown(t *testing.T) {
	r, c := sit(t, stage(t, pair+"orchestrator: {override: 30, final_answer_strategy: winner_present}\n", nil))
	r.Type("Which sort?").Press("enter").See("Press Ctrl+O to override, Enter to continue", "left)")
	r.Until("see it count", func() bool { return strings.Contains(r.Screen(), "0:2") || strings.Contains(r.Screen(), "0:30") })
	c.pass(10 * time.Second)
	r.Until("see it count down", func() bool { return strings.Contains(r.Screen(), "0:1") || strings.Contains(r.Screen(), "0:20") })
	r.Resize(40, 12).See("Ctrl+O override, Enter go on")
}

// TM-09.2
func TestOverrideModal(t *testing.T) {
	r, _ := sit(t, stage(t, waiting, nil))
	r.Type("Which sort?").Press("enter").See("Press Ctrl+O")
	r.Press("ctrl+o").See("Who presents?", "(ada)", "(bob)", "won the vote", "An answer to Which sort?", "it came first", "2 votes", "0 votes")
	r.Press("down").See("nobody voted for it")
	r.Press("esc").See("Press Ctrl+O to override").Gone("Who presents? waits")
}

// TM-09.3
func TestOverrideSelection(t *testing.T) {
	a := stage(t, waiting, nil)
	r, _ := sit(t, a)
	r.Type("Which sort?").Press("enter").See("Press Ctrl+O")
	r.Press("ctrl+o").See("won the vote", "0 votes")
	r.Press("down", "enter").See("Final:").Gone("Who presents? waits")
	run := newestRun(t, a)
	card := cardOf(t, a, run)
	chosen := card.Ballot.Chosen.Winner
	if card.Presenter == chosen || card.Presenter == "" || card.Winner != card.Presenter {
		t.Errorf("%s won the vote and %s presented", chosen, card.Presenter)
	}
}

// A gate that another process answers closes the dialog here, which says so.
func TestAnsweredElsewhere(t *testing.T) {
	a := stage(t, waiting, nil)
	r, _ := sit(t, a)
	r.Type("Which sort?").Press("enter").See("Press Ctrl+O").Press("ctrl+o").See("Who presents?")
	run := newestRun(t, a)
	g := cardOf(t, a, run).Gates[0]
	body := event.Replied{Gate: g.Gate, Choice: g.Default, Revision: g.Revision, By: "conclave approve"}
	if err := a.Send(t.Context(), run, event.Fact{ID: "replied/elsewhere", Body: body}); err != nil {
		t.Fatal(err)
	}
	r.See("Answered elsewhere (conclave approve)").Gone("Who presents? waits")
}

func newestRun(t testing.TB, a *program) event.FlowID {
	t.Helper()
	var s view.Session
	for e, err := range a.Read(t.Context(), sessionOf(t, a)) {
		if err != nil {
			t.Fatal(err)
		}
		s = s.Apply(e)
	}
	last, _ := s.Turns.Last()
	return last.Runs[len(last.Runs)-1].ID
}

func cardOf(t testing.TB, a *program, id event.FlowID) view.Card {
	t.Helper()
	var c view.Card
	for e, err := range a.Read(t.Context(), id) {
		if err != nil {
			t.Fatal(err)
		}
		c = c.Apply(e)
	}
	return c
}

const cautious = `
agents:
  - {id: ada, backend: {type: script, script: touch.yaml, shell: {sandbox: host}}}
orchestrator: {agent_mode: single, final_answer_strategy: winner_reuse}
`

const touchScript = `
name: touch
steps:
  - when: {own: 1+}
    do: [{vote: {for: self, reason: done}}]
  - when: {sees: "Not permitted"}
    do: [{answer: It was not permitted.}]
  - when: {call: 1}
    do: [{tool: {name: shell, input: {command: "echo harmless"}}}]
  - do: [{answer: It was done.}]
`

func TestPermissionAllow(t *testing.T) {
	a := stage(t, cautious, map[string]string{"touch.yaml": touchScript})
	r, c := sit(t, a)
	r.Type("Do it").Press("enter").See("Permission", "agent1 (ada)", "shell", "echo harmless", "Asked because:")
	r.Press("a").See("only just opened")
	c.pass(time.Second)
	r.Press("a").See("It was done.").Gone("Asked because:")
}

func TestPermissionDeny(t *testing.T) {
	a := stage(t, cautious, map[string]string{"touch.yaml": touchScript})
	r, c := sit(t, a)
	r.Type("Do it").Press("enter").See("echo harmless")
	c.pass(time.Second)
	r.Press("esc").See("Ctrl+O opens the question").Gone("Asked because:")
	r.Press("enter").See("echo harmless")
	r.Press("d").See("Deny, because:", "why not, for the agent to read")
	r.Type("a is not allowed here").Press("left", "left").See("a is not allowed here").Press("enter")
	r.See("It was not permitted.").Gone("Deny, because:")
	found := false
	for e, err := range a.Read(t.Context(), newestRun(t, a)) {
		if err != nil {
			t.Fatal(err)
		}
		if b, ok := e.Body.(event.Closed); ok {
			found = b.Choice == event.PermitDeny && b.Text == "a is not allowed here"
		}
	}
	if !found {
		t.Error("the reason did not reach the run")
	}
}
