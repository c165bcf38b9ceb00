package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// A second terminal sees what is said while it is said, whoever drives the run,
// learns when nobody does, and a third one ends it.
func TestFollowDriverAfterDriver(t *testing.T) {
	t.Parallel()
	p := newTeam(t)
	a := p.start(t, "run", "--config", "chatty.yaml", "a task")
	a.says(a.err, "run started")
	f := p.start(t, "log", "--follow", "--live")
	f.says(f.out, "^          ada » one two three four")
	j := p.start(t, "log", "--follow", "--live", "--json")
	j.says(j.out, `^\{"live":\{"flow":"run-.*"agent":"ada","turn":.*"kind":"text","text":".+","call":1\}\}$`)

	a.signal(syscall.SIGKILL)
	id := f.says(f.err, `^Nobody drives this run now; to go on with it: conclave resume (run-\S+)$`)[1]
	j.says(j.err, `^Nobody drives this run now`)
	heard := strings.Count(f.out.String(), "»")

	b := p.start(t, "resume", id)
	f.says(f.out, "resumed after")
	f.says(f.out, "(?s)resumed after.*ada » one two three")
	c := p.start(t, "runs", "cancel", id)
	c.ends(0)
	b.ends(4)
	f.says(f.out, "run finished: cancelled")
	f.ends(0)
	j.says(j.out, `"kind":"finished"`)
	j.ends(0)
	if n := strings.Count(f.out.String(), "»"); heard == 0 || n <= heard {
		t.Errorf("%d lines were heard from the first driver and %d from both", heard, n)
	}
	if n := strings.Count(f.err.String(), "Nobody drives"); n != 1 {
		t.Errorf("the follower was told %d times:\n%s", n, f.err)
	}
	p.sound(t)
	p.nobodyLeft(t)
}

// A run that nobody drives is followed all the same, until somebody does.
func TestFollowNobody(t *testing.T) {
	t.Parallel()
	p := newTeam(t)
	a := p.start(t, "run", "--config", "stuck.yaml", "a task")
	a.says(a.err, "answers, revision 1")
	a.signal(syscall.SIGKILL)
	a.ends(-1)

	f := p.start(t, "log", "--follow")
	f.says(f.err, "^Nobody drives this run now")
	onTerminal := p.terminal(t, 100, 20, "log", "--follow")
	onTerminal.says(onTerminal.out, "Nobody drives this run now; to go on with it: conclave resume run-")
	p.heal(t)
	p.output(t, "resume", "-q")
	f.says(f.out, "run finished: success")
	f.ends(0)
	onTerminal.ends(0)
	p.nobodyLeft(t)
}

// Whoever stops following does not stop the run.
func TestStopFollowing(t *testing.T) {
	t.Parallel()
	p := newTeam(t)
	a := p.start(t, "run", "--config", "stuck.yaml", "a task")
	a.says(a.err, "answers, revision 1")
	f := p.terminal(t, 100, 20, "log", "--follow")
	f.says(f.out, "Following; Ctrl-C stops following")
	f.press(ctrlC)
	f.ends(4)
	if s := p.status(t); s != "running" {
		t.Errorf("the run is %s", s)
	}
	p.output(t, "runs", "cancel", strings.Fields(p.output(t, "runs"))[6])
	a.ends(4)
	if a.out.String() != "A first answer.\n" {
		t.Errorf("the cancelled run says %q", a.out)
	}
}

// A driver that hangs is replaced. When it comes back it learns so, and nothing
// it does is recorded.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	p := newTeam(t)
	a := p.start(t, "run", "--config", "stuck.yaml", "a task")
	a.says(a.err, "answers, revision 1")
	a.freeze()
	log := p.takeOver(t)
	a.signal(syscall.SIGCONT)
	a.says(a.err, "^conclave: "+takenOver)
	a.ends(4)
	if a.out.String() != "" {
		t.Errorf("the old driver says %q", a.out)
	}
	if now := p.output(t, "log", "--json"); now != log {
		t.Errorf("the log was\n%s\nand is now\n%s", log, now)
	}
	p.sound(t)
}

// Whoever follows hears the new driver, though the old one, which hangs, keeps
// its socket open.
func TestFollowTakeOver(t *testing.T) {
	t.Parallel()
	p := newTeam(t)
	a := p.start(t, "run", "--config", "chatty.yaml", "a task")
	a.says(a.err, "run started")
	f := p.start(t, "log", "--follow", "--live")
	f.says(f.out, "ada » one two three four")
	a.freeze()
	b := p.start(t, "resume", "--take-over")
	f.says(f.out, "(?s)resumed after.*ada » one two three")
	p.start(t, "runs", "cancel", strings.TrimSpace(p.output(t, "runs", "--json"))[7:31]).ends(0)
	b.ends(4)
	f.ends(0)
	a.signal(syscall.SIGCONT)
	a.ends(4)
	p.sound(t)
	p.nobodyLeft(t)
}

const takenOver = `another process has taken over run-\S+, and nothing this one did since is recorded; follow it with: conclave log --follow run-`

// takeOver brings a run to its end that another process drives, and returns its
// log.
func (p *project) takeOver(t *testing.T) string {
	t.Helper()
	p.heal(t)
	b := p.start(t, "resume", "--take-over")
	b.ends(0)
	if b.out.String() != "The final answer to: a task\n" {
		t.Errorf("the new driver says %q", b.out)
	}
	return p.output(t, "log", "--json")
}

// A background process that nobody watches learns it when it tries to record.
func TestTakeOverFromTheBackground(t *testing.T) {
	t.Parallel()
	p := newTeam(t)
	p.slow(t, "2s")
	a := p.start(t, "run", "--detach", "--config", "stuck.yaml", "a task")
	a.ends(0)
	pid := a.says(a.err, `process (\d+)\.`)[1]
	// A process that is stopped while it writes keeps the others from writing.
	f := p.start(t, "log", "--follow")
	f.says(f.out, "answers, revision 1")
	kill(t, pid, syscall.SIGSTOP)
	log := p.takeOver(t)
	f.ends(0)
	kill(t, pid, syscall.SIGCONT)
	awaitGone(t, pid)
	said, err := os.ReadFile(filepath.Join(p.dir, ".conclave", "runs", strings.TrimSpace(a.out.String()), "driver.log"))
	if err != nil || !regexp.MustCompile("^conclave: "+takenOver).Match(said) {
		t.Errorf("the background process said %q (%v)", said, err)
	}
	if now := p.output(t, "log", "--json"); now != log {
		t.Errorf("the log was\n%s\nand is now\n%s", log, now)
	}
	p.sound(t)
	p.nobodyLeft(t)
}

// A driver that does not answer is waited for, and the person is told.
func TestCancelUnheard(t *testing.T) {
	t.Parallel()
	p := newTeam(t)
	a := p.start(t, "run", "--config", "stuck.yaml", "a task")
	a.says(a.err, "answers, revision 1")
	a.freeze()
	c := p.start(t, "runs", "cancel", "run-")
	c.says(c.err, `^Waiting for process \d+, which drives the run and has been told. If it hangs: conclave resume --take-over run-`)
	// Its driver dies, and what it was told is not forgotten.
	a.signal(syscall.SIGKILL)
	c.says(c.out, "is cancelled")
	c.ends(0)
	p.sound(t)
}

// Of several who resume a run at once one drives it, and the others are told.
func TestResumeAtOnce(t *testing.T) {
	t.Parallel()
	p := newTeam(t)
	a := p.start(t, "run", "--config", "stuck.yaml", "a task")
	a.says(a.err, "answers, revision 1")
	a.signal(syscall.SIGKILL)
	a.ends(-1)

	p.slow(t, "500ms")
	all := []*process{p.start(t, "resume", "run-"), p.start(t, "resume", "run-"), p.start(t, "resume", "run-")}
	drove := 0
	for _, x := range all {
		x.readers.Wait()
		_ = x.cmd.Wait()
		refused := regexp.MustCompile(`(?m)^conclave: run-\S+ is (being driven by|finished)`).MatchString(x.err.String())
		switch code := x.cmd.ProcessState.ExitCode(); {
		case code == 0 && !refused:
			drove++
		case code != 1 || !refused:
			t.Errorf("exit code %d\n%s", code, x.everything())
		}
	}
	if drove != 1 {
		t.Errorf("%d processes drove the run", drove)
	}
	p.sound(t)
}
