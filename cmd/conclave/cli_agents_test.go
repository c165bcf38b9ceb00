package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/claudecode/claudetest"
	"conclave/internal/backend/cli/clitest"
)

// A codeModel is the model behind the real Claude Code, and every request it got.
type codeModel struct {
	url string
	mu  sync.Mutex
	got []claudetest.Request
}

func (c *codeModel) all() []claudetest.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]claudetest.Request(nil), c.got...)
}

// coder is a project of one agent that is the real Claude Code. Answer is given the
// request, and what was said last in it.
func coder(t *testing.T, more string, answer func(r claudetest.Request, last string) backendtest.Reply) (*project, *codeModel) {
	t.Helper()
	needsSandbox(t)
	program, c := clitest.Installed(t, clitest.Claude), &codeModel{}
	c.url = claudetest.Serve(t, func(r claudetest.Request) backendtest.Reply {
		c.mu.Lock()
		c.got = append(c.got, r)
		c.mu.Unlock()
		return answer(r, claudetest.Last(r))
	})
	p := bench(t, "")
	p.env = append(p.env, "CODER_KEY="+claudetest.Key)
	p.write(t, "team.yaml", fmt.Sprintf(`agents:
  - id: coder
    backend:
      {type: claude_code, model: claude-sonnet-4-5, command: %q, base_url: %q, api_key: "${CODER_KEY}", env: {CLAUDE_CODE_MAX_RETRIES: "0"}%s}
orchestrator: {agent_mode: single, final_answer_strategy: winner_reuse}
`, program, c.url, more))
	return p, c
}

// ends is what a lone agent says once its work is done.
func ends(r claudetest.Request, last, answer string) backendtest.Reply {
	switch {
	case strings.Contains(last, "Taken."):
		return claudetest.Say("Done.")
	case strings.Contains(last, `yours="true"`):
		return claudetest.Reply(claudetest.Host("vote", fields{"agent_id": "agent1", "reason": "It is done."}))
	}
	return claudetest.Reply(claudetest.Host("new_answer", fields{"content": answer}))
}

// SR-12 What a program wants to do by itself is asked about like any command, and
// answered from another process; the keys of its model are not within its reach.
func TestProgramAsks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ how, answer string }{{"approve", "It was done."}, {"deny", "It was not permitted."}} {
		t.Run(c.how, func(t *testing.T) {
			t.Parallel()
			p, m := coder(t, `, permissions: {rules: {ask: ["command(touch *)"]}}`, func(r claudetest.Request, last string) backendtest.Reply {
				switch {
				case strings.Contains(last, "a task") && !strings.Contains(last, `yours="true"`):
					return claudetest.Reply(claudetest.Use("Bash", fields{"command": "env", "description": "look"}))
				case strings.Contains(last, "TMPDIR="):
					return claudetest.Reply(claudetest.Use("Bash", fields{"command": "touch asked-for.txt", "description": "touch"}))
				case strings.Contains(last, "Not permitted"):
					return ends(r, last, "It was not permitted.")
				}
				return ends(r, last, "It was done.")
			})
			x := p.start(t, "run", "--ask", "--config", "team.yaml", "a task")
			x.says(x.err, `(?s)touch asked-for\.txt.*Allow it with: conclave approve run-`)
			y := p.start(t, c.how)
			y.says(y.out, `touch asked-for\.txt`)
			y.ends(0)
			x.ends(0)
			if x.out.String() != c.answer+"\n" {
				t.Errorf("the answer is %q", x.out)
			}
			for _, r := range m.all() {
				if strings.Contains(r.Sent, claudetest.Key) {
					t.Fatal("a command can read the key")
				}
			}
			made, err := filepath.Glob(filepath.Join(p.dir, ".conclave/runs/*/agent1/asked-for.txt"))
			if err != nil || (len(made) == 1) != (c.how == "approve") {
				t.Errorf("made is %v (%v)", made, err)
			}
			p.sound(t)
			p.nobodyLeft(t)
		})
	}
}

// SR-10 Killed while its agent runs a command, the program leaves nothing running;
// resumed, the agent goes on in its own conversation, in a workspace that was put
// back.
func TestProgramKilledAndResumed(t *testing.T) {
	t.Parallel()
	stuck := make(chan string, 1)
	var killed sync.Once
	p, m := coder(t, "", func(r claudetest.Request, last string) backendtest.Reply {
		switch {
		case strings.Contains(last, `yours="true"`):
			return ends(r, last, "")
		case strings.Contains(last, "a task") && !strings.Contains(last, "put back"):
			return claudetest.Reply(claudetest.Use("Bash", fields{"command": "echo lost > lost.txt; ls", "description": "make"}))
		case strings.Contains(last, "lost.txt") && !strings.Contains(r.Sent, "put back"):
			killed.Do(func() { stuck <- "now" })
			return claudetest.Reply(claudetest.Use("Bash", fields{"command": "sleep 1000", "description": "wait"}))
		case strings.Contains(last, "put back"):
			return claudetest.Reply(claudetest.Use("Bash", fields{"command": "echo here: $(ls)", "description": "look"}))
		}
		return ends(r, last, "It is done.")
	})
	x := p.start(t, "run", "--json", "--config", "team.yaml", "a task")
	<-stuck
	x.says(x.out, `"command":"sleep 1000"`)
	if err := syscall.Kill(x.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	x.ends(-1)
	y := p.start(t, "resume", "--json")
	y.ends(0)
	_, r := ran(t, y.out.String())
	if r.Status != "success" || r.FinalAnswer != "It is done." || r.Resumed != 1 {
		t.Errorf("the result is %+v", r)
	}
	if _, err := os.Stat(filepath.Join(r.Workspace, "lost.txt")); err == nil {
		t.Error("the workspace was not put back")
	}
	// What it was told before it was killed, if it had come to write that down, when it
	// was resumed, and to vote.
	all := m.all()
	if said := claudetest.Said(all[len(all)-1]); len(said) < 2 || len(said) > 3 || !strings.Contains(said[len(said)-2], "put back") {
		t.Errorf("its conversation does not go on: it was told %.2000q", said)
	}
	p.sound(t)
	p.nobodyLeft(t)
	p.quiet(t)
}

// quiet is that nothing runs of what was started in the project's rooms.
func (p *project) quiet(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if env, err := os.ReadFile(f); err == nil && strings.Contains(string(env), "HOME="+filepath.Join(p.dir, ".conclave/cli")) {
			cmd, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline"))
			t.Errorf("%s is left: %.300q", filepath.Dir(f), cmd)
		}
	}
}
