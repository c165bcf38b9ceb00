package main

import (
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// still is a screen without what only time changes, and without what says that
// somebody has come back.
func still(s string) string {
	s = regexp.MustCompile(`\d+:\d\d(?::\d\d)?`).ReplaceAllString(s, "0:00")
	var out []string
	for l := range strings.SplitSeq(s, "\n") {
		if strings.Contains(l, "taken up") || strings.Contains(l, "resumed") {
			continue
		}
		if l = strings.TrimRight(l, " "); l != "" {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}

// payer answers and votes, and says what that costs.
const payer = `
name: agent
steps:
  - when: {presenting: true}
    do: [{say: "Final: {{.Own}}"}]
  - when: {own: 0}
    do: [{usage: {input: 10, output: 10, cost: 0.125}}, {answer: "An answer to {{.Task}}"}]
  - do: [{usage: {input: 10, output: 10, cost: 0.125}}, {vote: {for: first, reason: it came first}}]
`

// Whoever kills the program and comes back sees the same: the message that
// nobody has read, what was spent, and the question that waits.
func TestTmuxKilledAndReopened(t *testing.T) {
	for _, c := range []struct {
		name, rules string
		script      string
		come        func(x *pane)
		see         []string
		exact       bool // nobody was in the middle of anything
	}{
		{"message", "", "name: agent\nsteps:\n  - do: [{say: thinking about it}, hang]\n", func(x *pane) {
			x.see("● ada", "● bob").types("use metric units").press("Enter").see("waits for agent1 and agent2").press("F9").see("PAUSED")
		}, []string{"use metric units", "waits for agent1 and agent2", "PAUSED", "✉1"}, false},
		{"override", "orchestrator: {override: wait, final_answer_strategy: winner_present, defer_voting_until_all_answered: true}\n", payer, func(x *pane) { x.see("Press Ctrl+O to override") },
			[]string{"Press Ctrl+O to override, Enter to continue", "$0.", "An answer to Measure it"}, true},
		{"permission", "orchestrator: {agent_mode: single, final_answer_strategy: winner_reuse}\n",
			"name: agent\nsteps:\n  - do: [{usage: {input: 10, output: 10, cost: 0.25}}, {tool: {name: shell, input: {command: \"echo harmless\"}}}]\n", func(x *pane) { x.see("echo harmless", "Asked because") },
			[]string{"Permission", "May agent1 (ada) use shell?", "echo harmless", "$0."}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := couple(t, c.rules)
			if c.script != "" {
				p.write(t, "agent.yaml", c.script)
			}
			p.write(t, "team.yaml", "agents:\n  - {id: ada, backend: {type: script, script: agent.yaml, shell: {sandbox: host}}}\n  - {id: bob, backend: {type: script, script: agent.yaml}}\n"+c.rules)
			x := p.tmux(t, 90, 30, "--config", "team.yaml").see("2 agents are ready").types("Measure it").press("Enter").see("run started")
			c.come(x)
			before := x.see(c.see...).screen()
			kill(t, x.pid(), syscall.SIGKILL)
			x.see("[exit 137]")
			p.nobodyLeft(t)
			y := p.tmux(t, 90, 30, "resume").see("Runs and conversations", "Measure it").press("Enter").see(c.see...)
			y.gone("Runs and conversations").gone("pragmatist")
			if c.exact {
				y.until("see the same screen as before, which was\n"+still(before), func(s string) bool { return still(before) == still(s) })
			}
		})
	}
}
