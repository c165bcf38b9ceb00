package main

import (
	"strings"
	"testing"

	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/claudecode/claudetest"
	"conclave/internal/backend/cli/clitest"
)

// SR-12 What a program has used is counted, also by a run whose result is the answer
// that it gives in the middle of its turn.
func TestProgramsCost(t *testing.T) {
	t.Parallel()
	needsSandbox(t)
	for _, program := range []string{clitest.Claude, clitest.Codex} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			p := bench(t, "")
			b := p.backendOf(t, program, "", func(r claudetest.Request) backendtest.Reply {
				if strings.Contains(claudetest.Last(r), "Taken.") {
					return claudetest.Say("Done.")
				}
				return claudetest.Reply(claudetest.Host("new_answer", fields{"content": "It is done."}))
			})
			p.write(t, "team.yaml", "agents:\n  - {id: coder, backend: "+b+"}\n")
			x := p.start(t, "run", "--single", "--quick", "--json", "--config", "team.yaml", "a task")
			x.ends(0)
			_, r := ran(t, x.out.String())
			if r.Status != "success" || r.FinalAnswer != "It is done." || r.Usage.Total.Input == 0 || r.Usage.Total.Output == 0 {
				t.Errorf("the result is %+v", r)
			}
			p.sound(t)
			p.nobodyLeft(t)
		})
	}
}
