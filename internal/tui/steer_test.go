package tui_test

import (
	"strings"
	"testing"
	"time"

	"conclave/internal/event"
)

// busy is a window on two agents that work until they are stopped.
func busyPair(t *testing.T) (*program, robotAt) {
	t.Helper()
	a := stage(t, strings.ReplaceAll(pair, "agent.yaml", "hang.yaml"), map[string]string{"hang.yaml": hangScript})
	r, c := sit(t, a)
	r.Type("Think").Press("enter").See("working", "● ada", "● bob")
	return a, robotAt{r, c}
}

// Messages have a fate that is seen: they wait, are taken back, and go along with
// what is said next if nobody has read them.
func TestMessageFates(t *testing.T) {
	a, r := busyPair(t)
	r.Type("use metric units").Press("enter").See("✉ to all: use metric units – waits for agent1 and agent2", "✉1")
	r.Type("@bob hurry").Press("enter").See("hurry – waits for agent", "✉2")
	r.Press("alt+z").See("hurry – taken back").Gone("✉2")
	r.Resize(40, 12).See("✉").Resize(100, 30)
	r.Press("esc").See("Esc again").Press("esc").See("use metric units – not read; goes along with what you say next")
	for e, err := range a.Read(t.Context(), newestRun(t, a)) {
		if err != nil {
			t.Fatal(err)
		}
		if b, ok := e.Body.(event.Messaged); ok && b.Text.Text == "hurry" && (len(b.To) != 1 || b.To[0] != "bob") {
			t.Errorf("the message went to %v", b.To)
		}
	}
}

// A message that is read says so.
func TestMessageIsRead(t *testing.T) {
	const waits = `
name: waits
steps:
  - when: {sees: "metric"}
    do: [{say: In metric units.}, hang]
  - do: [{say: looking}, {delay: 100ms}, {tool: {name: nothing, input: {}}}]
`
	a := stage(t, strings.ReplaceAll(pair, "agent.yaml", "waits.yaml")+"orchestrator: {agent_mode: single, refinement: false, max_attempts_per_round: 500}\n",
		map[string]string{"waits.yaml": waits})
	r, _ := sit(t, a)
	r.Type("Measure").Press("enter").See("● ada").Type("metric please").Press("enter")
	r.See("metric please – read by agent1")
}

// Several permissions wait in turn.
func TestPermissionsQueue(t *testing.T) {
	two := strings.Replace(cautious, "orchestrator: {agent_mode: single, final_answer_strategy: winner_reuse}", "orchestrator: {refinement: false, override: off}", 1)
	two = strings.Replace(two, "orchestrator", "  - {id: bob, backend: {type: script, script: touch.yaml, shell: {sandbox: host}}}\norchestrator", 1)
	a := stage(t, two, map[string]string{"touch.yaml": touchScript})
	r, c := sit(t, a)
	r.Type("Do it").Press("enter").See("Permission, 1 more")
	c.pass(time.Minute)
	first, second := "│ May agent1", "│ May agent2"
	if strings.Contains(r.Screen(), second) { // whoever asked first
		first, second = second, first
	}
	r.See(first).Press("tab").See(second).Press("tab").See(first)
	r.Press("a").See("Permission ─").Gone("1 more")
	c.pass(time.Minute)
	r.Press("a").Gone("Permission ─").See("It was done.")
}

// Whom messages go to is switched and seen.
func TestMessageTarget(t *testing.T) {
	_, r := busyPair(t)
	r.See("messages to all", "Say something to all agents")
	r.Press("alt+i").See("whose tab is open; all together are open now")
	r.Press("alt+1").See("messages to").Type("only you").Press("enter").See("): only you – waits for agent")
	r.Type("/to bob").Press("enter").See("messages to bob", "(bob)")
	r.Type("/to nobody").Press("enter").See("There is no agent nobody")
	r.Type("/to all").Press("enter").See("messages to all")
}

func TestPauseAndContinue(t *testing.T) {
	_, r := busyPair(t)
	r.Press("f9").See("PAUSED")
	if !strings.Contains(r.Title(), "paused") {
		t.Errorf("the title is %q", r.Title())
	}
	r.Press("f9").Gone("PAUSED").See("working")
}

func TestWrapUp(t *testing.T) {
	_, r := busyPair(t)
	r.Type("/wrapup").Press("enter").See("coming to an end")
	r.Press("alt+n").See("Not taken: everybody has been told to finish already")
}

func TestStopAgent(t *testing.T) {
	_, r := busyPair(t)
	r.Press("alt+k").See("Which one?")
	r.Press("alt+1", "alt+k").See("Stop agent", "It will not act again").Press("n").Gone("It will not act again")
	r.Press("alt+k").See("It will not act again").Press("y").See("✗ ")
	r.Press("alt+k").See("does not act any more")
	r.Type("/stop nobody").Press("enter").See("There is no agent nobody")
}

// Esc twice interrupts and keeps what there is; one Esc, and long after another,
// does not.
func TestInterrupt(t *testing.T) {
	_, r := busyPair(t)
	r.Press("esc").See("Esc again")
	r.clock.pass(time.Minute)
	r.Press("esc").See("Esc again").Press("esc").See("cancelled").Gone("(locked)")
	r.Press("esc").See("Nothing is running")
}
