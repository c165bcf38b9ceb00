package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/claudecode/claudetest"
	"conclave/internal/backend/cli/clitest"
	"conclave/internal/event"
)

// clock is how long programs may be silent in tests of who may take longer.
const clock = ", idle_timeout_seconds: 4"

// mute adds an agent to a project that says nothing, until the clock has run out for
// it as often as it may: a measure of time for what has to last longer than the clock.
func (p *project) mute(t *testing.T) (backend string) {
	t.Helper()
	program := p.write(t, "bin/claude", fmt.Sprintf(fakeClaude, "read -r line; exit 0"))
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{type: claude_code, command: %q, base_url: "http://127.0.0.1:1"%s}`, program, clock)
}

// outlasted is that the agent that says nothing was given up in its run when the
// clock had run out twice.
func (p *project) outlasted(t *testing.T, id string) {
	t.Helper()
	n := 0
	for _, e := range p.events(t, id) {
		if f, ok := e.Body.(event.Failed); ok && strings.Contains(f.Message, "nothing came from claude for 4s") {
			n++
		}
	}
	if n != 2 {
		t.Errorf("the clock has run out %d times", n)
	}
}

// SR-10 A tool of ours takes as long as it takes: an agent that is a program launches
// a run which lasts twice as long as the program may be silent, and goes on with
// what came of it, in the same turn and the same process.
func TestProgramWaitsForAHostTool(t *testing.T) {
	t.Parallel()
	for _, program := range []string{clitest.Claude, clitest.Codex} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			p, pids, x := launches(t, program, "")
			if !strings.Contains(x.out.String(), "They could not do it.") || len(pids) != 1 {
				t.Errorf("it was the processes %v\n%s", pids, x.everything())
			}
			p.outlasted(t, "run-")
			p.sound(t)
			p.nobodyLeft(t)
			p.quiet(t)
		})
	}
}

// SR-10 What has Claude Code wait is what it is told of its own clock: with that
// shorter than a run, it does not.
func TestProgramThatDoesNotWait(t *testing.T) {
	t.Parallel()
	_, _, x := launches(t, clitest.Claude, "MCP_TOOL_TIMEOUT")
	if strings.Contains(x.out.String(), "They could not do it.") {
		t.Errorf("it waits all the same\n%s", x.everything())
	}
}

// launches has a program launch a run that says nothing for long, and gives which
// processes it was. A variable may be set to a second for it.
func launches(t *testing.T, program, hurry string) (*project, map[string]bool, *process) {
	t.Helper()
	needsSandbox(t)
	p := bench(t, "")
	var mu sync.Mutex
	pids := map[string]bool{}
	host := p.backendOf(t, program, clock, func(r claudetest.Request) backendtest.Reply {
		mu.Lock()
		defer mu.Unlock()
		for _, pid := range p.programs() {
			pids[pid] = true
		}
		switch last := claudetest.Last(r); {
		case strings.Contains(last, "Have it done."):
			return claudetest.Reply(claudetest.Host("launch_run", fields{"task": "Do it.", "agent_mode": "single", "refinement": false}))
		case strings.Contains(last, `"status":"error"`):
			return claudetest.Say("They could not do it.")
		default:
			return claudetest.Say("I was told " + last)
		}
	})
	attempts := 2
	if hurry != "" {
		attempts, host = 1, strings.Replace(host, "env: {", "env: {"+hurry+`: "1000", `, 1)
	}
	p.write(t, "talk.yaml", fmt.Sprintf(`agents: [{id: mute, backend: %s}]
orchestrator:
  max_attempts_per_round: %d
  interactive_mode:
    require_approval: false
    backend: %s
`, p.mute(t), attempts, host))
	x := p.start(t, "sessions", "say", "--new", "--config", "talk.yaml", "Have it done.")
	x.ends(0)
	return p, pids, x
}

// SR-10 SR-12 So does a person who is asked for permission.
func TestProgramWaitsForPermission(t *testing.T) {
	t.Parallel()
	for _, program := range []string{clitest.Claude, clitest.Codex} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			needsSandbox(t)
			p := bench(t, "")
			coder := p.backendOf(t, program, clock+`, permissions: {rules: {ask: ["command(touch *)"]}}`, func(r claudetest.Request) backendtest.Reply {
				last := claudetest.Last(r)
				if strings.Contains(last, "a task") && !strings.Contains(last, `yours="true"`) {
					return claudetest.Reply(claudetest.Use("Bash", fields{"command": "touch asked-for.txt; echo touched", "description": "touch"}))
				}
				return ends(r, last, "It was done.")
			})
			const alone = "orchestrator: {agent_mode: single, final_answer_strategy: winner_reuse, max_attempts_per_round: 2}\n"
			p.write(t, "team.yaml", "agents: [{id: coder, backend: "+coder+"}]\n"+alone)
			p.write(t, "mute.yaml", "agents: [{id: mute, backend: "+p.mute(t)+"}]\n"+alone)
			x := p.start(t, "run", "--ask", "--config", "team.yaml", "a task")
			id := x.says(x.err, `(?s)touch asked-for\.txt.*Allow it with: conclave approve (run-\S+)`)[1]
			z := p.start(t, "run", "--config", "mute.yaml", "a task")
			z.ends(2)
			p.outlasted(t, z.says(z.err, `run-\d\S*`)[0])
			y := p.start(t, "approve", id)
			y.says(y.out, `touch asked-for\.txt`)
			y.ends(0)
			x.ends(0)
			if x.out.String() != "It was done.\n" || strings.Contains(x.err.String(), "agent1 fails") {
				t.Errorf("it did not wait\n%s", x.everything())
			}
			p.sound(t)
			p.nobodyLeft(t)
			p.quiet(t)
		})
	}
}
