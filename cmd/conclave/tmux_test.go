package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// couple is a project with two scripted agents who agree.
func couple(t *testing.T, rules string) *project {
	t.Helper()
	p := &project{dir: t.TempDir()}
	t.Cleanup(func() { endDrivers(p.dir) }) // of a test that has failed
	p.write(t, "agent.yaml", `
name: agent
steps:
  - when: {presenting: true}
    do: [{say: "Final: {{.Own}}"}]
  - when: {own: 0}
    do: [{answer: "An answer to {{.Task}}"}]
  - do: [{vote: {for: first, reason: it came first}}]
`)
	p.write(t, "hang.yaml", "name: hang\nsteps:\n  - do: [{say: thinking about it}, hang]\n")
	team := `
agents:
  - {id: ada, backend: {type: script, script: agent.yaml}}
  - {id: bob, backend: {type: script, script: agent.yaml}}
`
	p.write(t, "team.yaml", team+rules)
	p.write(t, "busy.yaml", strings.ReplaceAll(team, "agent.yaml", "hang.yaml"))
	return p
}

const calm = "orchestrator: {override: off}\n"

// From the welcome to the first answer, the next question and out again.
func TestTmuxFirstAnswer(t *testing.T) {
	p := couple(t, calm)
	x := p.tmux(t, 80, 24, "--config", "team.yaml").see("Conclave", "2 agents are ready", "Plan: off")
	x.types("Which sort?").press("Enter").see("Final answer", "Final: An answer to Which sort?", "success")
	x.types("And then?").press("Enter").see("turn 2", "And then?", "Final: An answer to And then?")
	x.press("C-d").ends(0).see("Go on with: conclave resume session-")
	p.nobodyLeft(t)
	p.sound(t)
}

// The input: completion, commands, a shell line, history, search, an editor.
func TestTmuxInput(t *testing.T) {
	p := couple(t, calm)
	p.write(t, "notes-about-sorting.md", "stable\n")
	editor := p.write(t, "editor.sh", "#!/bin/sh\nprintf ' and edited' >>\"$1\"\n")
	if err := os.Chmod(editor, 0o755); err != nil {
		t.Fatal(err)
	}
	p.env = []string{"VISUAL=" + editor, "SHELL=/bin/sh"}
	x := p.tmux(t, 100, 30, "--config", "team.yaml").see("2 agents are ready")
	x.types("Read @notsort").see("notes-about-sorting.md").press("Tab").see("@notes-about-sorting.md").press("C-u")
	x.types("/vot").see("/votes", "There is no run yet").press("Escape").gone("There is no run yet").press("C-u")
	x.types("!echo so-it-$((1+1))").press("Enter").see("so-it-2").press("Escape").see("❯", "1 line").press("C-c").gone("1 line")
	x.types("First question").press("Enter").see("Final: An answer to First question")
	x.press("Up").see("❯ First question").press("C-c").gone("❯ First question")
	x.press("C-r").types("irst q").see("irst q", "First question").press("Enter").see("❯ First question")
	x.press("C-g").see("❯ First question and edited").press("Enter").see("Final: An answer to First question and edited")
	x.press("C-d").ends(0)
}

// A click on the mode bar, and terminals that change their size.
func TestTmuxMouseAndResize(t *testing.T) {
	p := couple(t, calm)
	x := p.tmux(t, 80, 24, "--config", "team.yaml").see("2 agents are ready")
	x.click("Plan: off").see("Plan: on").click("Plan: on").see("Plan: off")
	x.click("Agents: all").see("Agents: ada alone").click("Agents: ada alone").see("Agents: all")
	x.types("Which sort?").press("Enter").see("Final answer")
	x.tmux("resize-window", "-x", "40", "-y", "12")
	x.see("P:off", "Final answer")
	x.click("P:off").see("P:on")
	x.tmux("resize-window", "-x", "130", "-y", "40")
	x.see("Plan: on", "Final answer").press("M-s").see("agent1 (", "agent2 (", "│")
	x.press("C-d").ends(0)
}

// Without colours there are none, on a small terminal as well.
func TestTmuxNoColor(t *testing.T) {
	p := couple(t, calm)
	p.env = []string{"NO_COLOR=1"}
	x := p.tmux(t, 40, 12, "--config", "team.yaml").see("P:off").types("Which sort?").press("Enter").see("Final answer", "success")
	x.press("M-a").see("Answers").press("Escape").gone("Answers").press("C-d").ends(0)
	if m := regexp.MustCompile(`\x1b\[(?:[0-9;:]*[;:])?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:[;:][0-9;:]*)?m`).FindString(x.written()); m != "" {
		t.Errorf("a colour: %q", m)
	}
}

// Lines of text, for screen readers: at a terminal and through a pipe.
func TestTmuxPlain(t *testing.T) {
	p := couple(t, calm)
	x := p.tmux(t, 80, 24, "--plain", "--config", "team.yaml").see("/quit leaves")
	x.types("Which sort?").press("Enter").see("Final: An answer to Which sort?")
	x.press("C-d").ends(0).see("Go on with: conclave resume")
	if s := x.written(); strings.Contains(s, "\x1b[?1049h") || strings.Contains(s, "\x1b[?1000h") || strings.Contains(s, "\x1b[?1002h") {
		t.Errorf("it takes the terminal over: %q", s)
	}
	cmd := p.command("--plain", "--config", "team.yaml", "Which sort is it?")
	cmd.Stdin = strings.NewReader("")
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "\nFinal: An answer to Which sort is it?") != 1 || strings.Contains(string(out), "\x1b") {
		t.Errorf("%v: %q", err, out)
	}
}

// Leaving agents at work asks the same of who reads lines.
func TestTmuxPlainQuit(t *testing.T) {
	p := couple(t, calm)
	x := p.tmux(t, 80, 24, "--plain", "--config", "busy.yaml").see("/quit leaves").types("Think").press("Enter").see("run started")
	x.types("/quit").press("Enter").see("Leave while agents are at work?", "2: Leave it as it is").types("2").press("Enter")
	x.ends(0).see("conclave resume session-")
	p.nobodyLeft(t)
}

// busy is the window on two agents who work until they are stopped.
func (p *project) busy(t *testing.T) *pane {
	t.Helper()
	x := p.tmux(t, 80, 24, "--config", "busy.yaml").see("2 agents are ready")
	return x.types("Think").press("Enter").see("● ada", "● bob", "working")
}

// What goes on is kept going by a process of its own, which is found again.
func TestTmuxQuitToBackground(t *testing.T) {
	p := couple(t, calm)
	x := p.busy(t)
	x.press("C-d").see("Leave while agents are at work?").press("b").ends(0)
	m := regexp.MustCompile(`It goes on in process (\d+)`).FindStringSubmatch(strings.ReplaceAll(x.screen(), "\n", " "))
	if m == nil {
		t.Fatalf("no process is named:\n%s", x.screen())
	}
	if m[1] == x.pid() || !alive(m[1]) {
		t.Errorf("process %s does not go on with it", m[1])
	}
	y := p.tmux(t, 80, 24, "resume").see("Runs and conversations", "Think", "running").press("Enter").see("● ada", "● bob")
	y.press("Escape").see("Esc again").press("Escape").see("cancelled").press("C-d").ends(0)
	kill(t, m[1], 15)
	awaitGone(t, m[1])
	p.nobodyLeft(t)
}

// What is left stands still, with nobody at work, and is taken up again.
func TestTmuxQuitLeaving(t *testing.T) {
	p := couple(t, calm)
	x := p.busy(t)
	x.press("C-c").see("Leave while agents are at work?").press("l").ends(0).see("conclave resume session-")
	awaitGone(t, x.pid())
	p.nobodyLeft(t)
	y := p.tmux(t, 80, 24, "resume").see("Runs and conversations", "Think").types("nothing of the kind").see("nothing fits that").press("C-u")
	y.types("thin").see("Think").press("Enter").see("● ada", "● bob", "working")
	y.press("C-d").see("Leave while").press("c").ends(0)
	p.nobodyLeft(t)
}

func TestTmuxQuitCancelling(t *testing.T) {
	p := couple(t, calm)
	x := p.busy(t)
	x.press("C-d").see("Leave while agents are at work?").press("c").ends(0)
	awaitGone(t, x.pid())
	p.nobodyLeft(t)
	if s := p.status(t); s != "cancelled" && s != "idle" {
		t.Errorf("it is %s", s)
	}
	p.sound(t)
}

func alive(pid string) bool {
	_, err := os.Stat(filepath.Join("/proc", pid))
	return err == nil
}
