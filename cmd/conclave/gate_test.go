package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"conclave/internal/backend/backendtest"
	"conclave/internal/event"
)

// Killed in mid-turn and resumed, an agent finds its workspace as it was at its
// last answer, and the calls whose outcome nobody knows are told to it.
func TestKilledWorkspaceIsPutBack(t *testing.T) {
	t.Parallel()
	needsSandbox(t)
	stuck := make(chan struct{})
	var first *provider
	first = serve(t, "claude", func(a ask) backendtest.Reply {
		again := first.said() > 5 // killed by then
		switch {
		case !a.offers("vote") && a.turns == 0:
			return call("write", fields{"path": "kept.txt", "content": "kept\n"})
		case !a.offers("vote"):
			return answers("An answer, see kept.txt.")
		case a.turns == 0 && !again:
			return call("write", fields{"path": "lost.txt", "content": "lost\n"})
		case a.turns == 1 && !again:
			return call("shell", fields{"command": "rm kept.txt; echo left > .hidden; ls -A"})
		case !again:
			close(stuck)
			return backendtest.Reply{Parts: []backendtest.Part{{Text: "Well …"}}, Hang: true}
		case a.turns == 0:
			return call("shell", fields{"command": "echo here: $(ls -A | grep -vxe .git -e .conclave)"})
		}
		if !strings.Contains(a.sent, `here: kept.txt\n`) {
			t.Errorf("the workspace was not put back: %s", a.sent)
		}
		return votes(a.first())
	})
	p := bench(t, "orchestrator: {agent_mode: single, final_answer_strategy: winner_reuse}\n", first)
	x := p.start(t, "run", "--json", "--config", "team.yaml", "a task")
	<-stuck
	if err := syscall.Kill(-x.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	x.ends(-1)
	if s := p.status(t); s != "unfinished" {
		t.Errorf("the run is %s", s)
	}
	y := p.start(t, "resume", "--json")
	y.ends(0)
	_, r := ran(t, y.out.String())
	if r.Status != "success" || r.Resumed != 1 || r.FinalAnswer != "An answer, see kept.txt." || read(t, filepath.Join(r.Workspace, "kept.txt")) != "kept\n" {
		t.Errorf("the result is %+v", r)
	}
	p.sound(t)
	p.nobodyLeft(t)
}

// toucher is a mind that runs one command and answers with what came of it.
func toucher(a ask) backendtest.Reply {
	switch {
	case a.offers("vote") || a.presents():
		return plain(a)
	case a.turns == 0:
		return call("shell", fields{"command": "touch asked-for.txt"})
	case strings.Contains(a.sent, "Not permitted"):
		return answers("It was not permitted.")
	}
	return answers("It was done.")
}

// cautious is a project of one agent that has to ask before it touches anything.
func cautious(t *testing.T) (*project, *provider) {
	t.Helper()
	s := serve(t, "claude", toucher)
	p := bench(t, "", s)
	p.write(t, "team.yaml", "agents:\n  - id: claude\n    backend:\n      {type: claude, model: "+s.model+", base_url: \""+s.url+
		"\", shell: {sandbox: bwrap}, permissions: {rules: {ask: [\"command(touch *)\"]}}}\n"+
		"orchestrator: {agent_mode: single, final_answer_strategy: winner_reuse}\n")
	return p, s
}

// A permission is given or refused from another process, about exactly what is
// shown; with nobody to ask it is refused.
func TestPermission(t *testing.T) {
	t.Parallel()
	needsSandbox(t)
	for _, c := range []struct {
		name   string
		args   []string
		answer string
		files  bool
	}{
		{"approved", []string{"approve"}, "It was done.", true},
		{"approved for good", []string{"approve", "--always"}, "It was done.", true},
		{"denied", []string{"deny", "--reason", "not today"}, "It was not permitted.", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, s := cautious(t)
			x := p.start(t, "run", "--ask", "--config", "team.yaml", "a task")
			x.says(x.err, `(?s)touch asked-for\.txt.*Allow it with: conclave approve run-`)
			y := p.start(t, c.args...)
			y.says(y.out, `touch asked-for\.txt`)
			y.says(y.out, `^Answered: `)
			y.ends(0)
			x.ends(0)
			if x.out.String() != c.answer+"\n" {
				t.Errorf("the answer is %q", x.out)
			}
			if !c.files && !sentAny(s, "not today") {
				t.Error("the agent was not told why")
			}
			again := p.start(t, "approve")
			again.says(again.err, "^conclave: no run here asks for anything$")
			again.ends(1)
			if c.name == "approved for good" { // nobody is asked again
				z := p.start(t, "run", "--config", "team.yaml", "a task")
				z.ends(0)
				if z.out.String() != "It was done.\n" {
					t.Errorf("the second time the answer is %q", z.out)
				}
			}
			p.sound(t)
		})
	}
	t.Run("nobody drives", func(t *testing.T) { // so nobody waits: it is asked again
		t.Parallel()
		p, _ := cautious(t)
		x := p.start(t, "run", "--ask", "--config", "team.yaml", "a task")
		x.says(x.err, `Allow it with: conclave approve run-`)
		if err := syscall.Kill(-x.cmd.Process.Pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		x.ends(-1)
		y := p.start(t, "approve")
		y.says(y.err, `nobody waits for the answer; take it up, and it is asked again: conclave resume run-`)
		y.ends(1)
		z := p.start(t, "resume")
		z.says(z.err, `Allow it with: conclave approve run-`)
		y = p.start(t, "approve")
		y.ends(0)
		z.ends(0)
		if z.out.String() != "It was done.\n" {
			t.Errorf("the answer is %q", z.out)
		}
		p.sound(t)
	})
	t.Run("nobody to ask", func(t *testing.T) {
		t.Parallel()
		p, _ := cautious(t)
		x := p.start(t, "run", "--json", "--config", "team.yaml", "a task")
		x.ends(0)
		events, r := ran(t, x.out.String())
		if r.FinalAnswer != "It was not permitted." || len(bodies[event.Asked](events)) != 0 {
			t.Errorf("the result is %+v", r)
		}
		p.sound(t)
	})
}

func sentAny(p *provider, words string) bool {
	for _, a := range p.all() {
		if strings.Contains(a.sent, words) {
			return true
		}
	}
	return false
}

// Without a configuration the models of which there is a key are used, and it is
// said which and where.
func TestNothingConfigured(t *testing.T) {
	t.Parallel()
	s := serve(t, "claude", plain)
	p := &project{dir: t.TempDir(), env: []string{"ANTHROPIC_API_KEY=" + secret("claude"), "ANTHROPIC_BASE_URL=" + s.url, "HOME=" + t.TempDir()}}
	x := p.start(t, "run", "a task")
	x.says(x.err, `^No configuration found: 3 agents from claude \(claude-\S+, ANTHROPIC_API_KEY at `+s.url+`\)\. Write one with: conclave init$`)
	x.ends(0)
	if x.out.String() != "The final answer.\n" || s.said() < 7 {
		t.Errorf("asked %d times, the answer is %q\n%s", s.said(), x.out, x.err)
	}
	p.sound(t)
	p.secretless(t)
}
