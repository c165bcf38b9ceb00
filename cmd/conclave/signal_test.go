package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const (
	ctrlC         = "\x03"
	ctrlBackslash = "\x1c"
)

// Ctrl-C once cancels the run and prints what there is.
func TestCancelAtTheTerminal(t *testing.T) {
	t.Parallel()
	p := newTeam(t)
	x := p.terminal(t, 100, 30, "run", "--config", "stuck.yaml", "a task")
	x.says(x.out, "answers, revision 1")
	x.press(ctrlC)
	x.says(x.out, "Cancelling; press Ctrl-C again to leave the run as it is")
	x.says(x.out, "Cancelled by .*The best answer so far is by agent[12] \\(ada\\)")
	x.ends(4)
	if last := lastLine(x.out.String()); last != "A first answer." {
		t.Errorf("the last line is %q", last)
	}
	if s := p.status(t); s != "cancelled" {
		t.Errorf("the run is %s", s)
	}
	p.sound(t)
	p.nobodyLeft(t)
}

// Ctrl-C twice leaves the run as it is: it is not cancelled.
func TestLeaveAtTheTerminal(t *testing.T) {
	t.Parallel()
	p := newTeam(t)
	x := p.terminal(t, 100, 30, "run", "--config", "stuck.yaml", "a task")
	x.says(x.out, "answers, revision 1")
	x.press(ctrlC)
	x.says(x.out, "press Ctrl-C again to leave")
	x.press(ctrlC)
	id := x.says(x.out, `resume: +conclave resume (run-\S+)`)[1]
	x.ends(4)
	p.goesOn(t, x, id)
}

// goesOn checks that a run was left to be resumed, and resumes it.
func (p *project) goesOn(t *testing.T, x *process, id string) {
	t.Helper()
	if !strings.Contains(x.everything(), "The run is left as it is and nothing of it is lost.") {
		t.Errorf("nothing is said of the run being left:\n%s", x.everything())
	}
	if s := p.status(t); s != "unfinished" {
		t.Errorf("the run is %s", s)
	}
	p.heal(t)
	if out := p.output(t, "resume", "-q", id); out != "The final answer to: a task\n" {
		t.Errorf("the resumed run says %q", out)
	}
	if s := p.status(t); s != "success" {
		t.Errorf("the resumed run is %s", s)
	}
	p.sound(t)
	p.nobodyLeft(t)
}

// Other signals leave the run to be resumed as well, and say so.
func TestToldToEnd(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]syscall.Signal{"SIGTERM": syscall.SIGTERM, "SIGHUP": syscall.SIGHUP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newTeam(t)
			x := p.start(t, "run", "--config", "stuck.yaml", "a task")
			x.says(x.err, "answers, revision 1")
			x.signal(s)
			id := x.says(x.err, `resume: +conclave resume (run-\S+)`)[1]
			x.ends(4)
			if x.out.String() != "" {
				t.Errorf("standard output has %q", x.out)
			}
			p.goesOn(t, x, id)
		})
	}
}

// A signal that the program was started to ignore stays ignored.
func TestNoHangUp(t *testing.T) {
	t.Parallel()
	p := newTeam(t)
	p.slow(t, "400ms")
	cmd := p.command()
	cmd.Args = []string{"sh", "-c", `trap "" HUP; exec "$0" run --config stuck.yaml "a task"`, cmd.Path}
	cmd.Path = "/bin/sh"
	x := startCommand(t, cmd)
	x.says(x.err, "answers, revision 1")
	x.signal(syscall.SIGHUP)
	x.ends(0)
	if x.out.String() != "The final answer to: a task\n" {
		t.Errorf("the run says %q", x.out)
	}
}

// slow makes the hanging agent one that only takes its time.
func (p *project) slow(t *testing.T, delay string) {
	t.Helper()
	p.heal(t)
	name := filepath.Join(p.dir, "hanging.yaml")
	text, err := os.ReadFile(name)
	if err == nil {
		err = os.WriteFile(name, []byte(strings.Replace(string(text), "{think: Let me see.}", "{delay: "+delay+"}", 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Ctrl-\ hands the run to a background process, which brings it to its end.
func TestHandToTheBackground(t *testing.T) {
	t.Parallel()
	p := newTeam(t)
	x := p.terminal(t, 100, 30, "run", "--config", "stuck.yaml", "a task")
	x.says(x.out, "answers, revision 1")
	p.slow(t, "400ms") // for the process that takes it up
	x.press(ctrlBackslash)
	pid := x.says(x.out, `The run goes on in the background, process (\d+)\.`)[1]
	id := x.says(x.out, `follow: +conclave log --follow (run-\S+)`)[1]
	x.ends(4)

	f := p.start(t, "log", "--follow", id)
	f.says(f.out, "resumed after")
	f.says(f.out, "run finished: success, stopped by votes: The final answer to: a task")
	f.ends(0)
	awaitGone(t, pid)
	if s := p.status(t); s != "success" {
		t.Errorf("the run is %s", s)
	}
	p.sound(t)
	p.nobodyLeft(t)
}

// A run that begins in the background is there when its id is printed.
func TestDetach(t *testing.T) {
	t.Parallel()
	p := newTeam(t)
	p.slow(t, "400ms")
	x := p.start(t, "run", "--detach", "--config", "stuck.yaml", "a task")
	x.ends(0)
	id := strings.TrimSpace(x.out.String())
	pid := x.says(x.err, `process (\d+)\.`)[1]
	f := p.start(t, "log", "--follow", id)
	f.says(f.out, "run finished: success")
	f.ends(0)
	awaitGone(t, pid)
	p.nobodyLeft(t)
	if out := p.output(t, "runs", "show", id); !strings.HasSuffix(out, "\nThe final answer to: a task\n") {
		t.Errorf("the run shows\n%s", out)
	}
	if said, err := os.ReadFile(filepath.Join(p.dir, ".conclave", "runs", id, "driver.log")); err != nil || len(said) > 0 {
		t.Errorf("the background process said %q (%v)", said, err)
	}
}

// A background process that is told to end leaves its run to be resumed.
func TestEndTheBackground(t *testing.T) {
	t.Parallel()
	p := newTeam(t)
	x := p.start(t, "run", "--detach", "--config", "stuck.yaml", "a task")
	x.ends(0)
	id := strings.TrimSpace(x.out.String())
	pid := x.says(x.err, `process (\d+)\.`)[1]
	kill(t, pid, syscall.SIGTERM)
	awaitGone(t, pid)
	said, err := os.ReadFile(filepath.Join(p.dir, ".conclave", "runs", id, "driver.log"))
	if err != nil || string(said) != id+" is left as it is, to be resumed\n" {
		t.Errorf("the background process said %q (%v)", said, err)
	}
	p.heal(t)
	if out := p.output(t, "resume", "-q"); out != "The final answer to: a task\n" {
		t.Errorf("the resumed run says %q", out)
	}
}
