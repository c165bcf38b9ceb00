package tui_test

import (
	"strings"
	"testing"

	"conclave/internal/event"
)

// TM-01.1
func TestModesBeginWithDefaults(t *testing.T) {
	r, _ := sit(t, stage(t, pair, nil))
	r.See("Plan: off", "Agents: all", "Refine: on")
}

// TM-02.1: the mode bar is right above the input, in every size, and is clicked.
func TestModeBarVisible(t *testing.T) {
	r, _ := sit(t, stage(t, pair, nil))
	r.Click("Plan: off").See("Plan: on").Click("Plan: on").See("Plan: off")
	r.Click("Agents: all").See("Agents: ada alone").Click("Agents: ada").See("Agents: all")
	r.Click("Refine: on").See("Refine: off")
	r.Resize(40, 12).See("P:off", "A:all", "R:off").Click("P:off").See("P:on")
	r.Resize(200, 50).See("Plan: on │ Agents: all │ Refine: off")
	lines := strings.Split(r.Screen(), "\n")
	for i, l := range lines {
		if strings.Contains(l, "Plan: on") && (i+1 >= len(lines) || !strings.Contains(lines[i+1], "❯")) {
			t.Errorf("the mode bar is not above the input:\n%s", r.Screen())
		}
	}
}

// TM-02.2
func TestModeBarLocked(t *testing.T) {
	a := stage(t, strings.ReplaceAll(pair, "agent.yaml", "hang.yaml"), map[string]string{"hang.yaml": hangScript})
	r, _ := sit(t, a)
	r.Type("Think").Press("enter").See("working", "(locked)")
	r.Click("Plan: off").See("locked while agents are at work", "Plan: off")
	r.Press("shift+tab").See("Plan: off")
	r.Press("esc").See("Esc again").Press("esc").See("cancelled").Gone("(locked)")
	r.Press("shift+tab").See("Plan: on")
}

// TM-03.1
func TestEnterPlanMode(t *testing.T) {
	r, _ := sit(t, stage(t, pair, nil))
	r.Press("shift+tab").See("Plan: on", "Plan mode is on").Press("shift+tab").See("Plan: off")
}

// TM-04.3: who works alone now knows what another was told before.
func TestContextAcrossAgents(t *testing.T) {
	const knows = `
name: knows
steps:
  - when: {sees: "word is heron", task: "(?i)which"}
    do: [{answer: It was heron.}]
  - do: [{answer: Noted.}]
`
	a := stage(t, strings.ReplaceAll(pair, "agent.yaml", "knows.yaml"), map[string]string{"knows.yaml": knows})
	r, _ := sit(t, a)
	r.Press("alt+e").See("Refine: off").Press("alt+g").See("Agents: ada alone")
	r.Type("The word is heron").Press("enter").See("Noted.", "success")
	if err := send(t, a, event.Renamed{Title: "birds"}); err != nil {
		t.Fatal(err)
	}
	r.Type("/agents bob").Press("enter").See("Agents: bob alone")
	r.Type("Which word was it?").Press("enter").See("It was heron.")
}
