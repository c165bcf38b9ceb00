package main

import (
	"bufio"
	"strings"
	"testing"
)

// A reader of the events that has seen enough ends the driving, not the run.
func TestReaderGone(t *testing.T) {
	t.Parallel()
	p := newTeam(t)
	p.slow(t, "300ms")
	x := p.untilFirstLine(t, "run", "--json", "--config", "stuck.yaml", "a task")
	x.says(x.err, "^conclave: standard output cannot be written any more: broken pipe$")
	id := x.says(x.err, `resume: +conclave resume (run-\S+)`)[1]
	x.ends(4)
	p.goesOn(t, x, id)
}

// untilFirstLine runs the program as "| head -1" would.
func (p *project) untilFirstLine(t *testing.T, args ...string) *process {
	t.Helper()
	x := &process{t: t, cmd: p.command(args...), out: newTranscript(), err: newTranscript()}
	out, err := x.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs := x.pipe(x.cmd.StderrPipe)
	x.begin(x.cmd.Start)
	x.readers.Go(func() { x.err.read(errs) })
	line, err := bufio.NewReaderSize(out, 16).ReadString('\n')
	if err != nil {
		t.Errorf("no first line: %v", err)
	}
	x.out.text.WriteString(line)
	out.Close()
	return x
}

// An answer that nobody reads is kept, and that is no failure.
func TestAnswerUnread(t *testing.T) {
	t.Parallel()
	p := newTeam(t)
	x := &process{t: t, cmd: p.command("run", "--config", "two.yaml", "a task"), out: newTranscript(), err: newTranscript()}
	out, err := x.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs := x.pipe(x.cmd.StderrPipe)
	x.begin(x.cmd.Start)
	out.Close()
	x.readers.Go(func() { x.err.read(errs) })
	x.ends(0)
	if strings.Contains(x.err.String(), "conclave:") {
		t.Errorf("standard error has %s", x.err)
	}
	if out := p.output(t, "runs", "show"); !strings.HasSuffix(out, "\nThe final answer to: a task\n") {
		t.Errorf("the run shows\n%s", out)
	}
}

// Whoever follows into a pipe ends with its reader.
func TestFollowerUnread(t *testing.T) {
	t.Parallel()
	p := newTeam(t)
	a := p.start(t, "run", "--config", "chatty.yaml", "a task")
	a.says(a.err, "run started")
	for _, args := range [][]string{{"log", "--follow", "--live"}, {"log", "--follow", "--live", "--json"}} {
		x := p.untilFirstLine(t, args...)
		x.ends(0)
		if x.err.String() != "" {
			t.Errorf("standard error has %s", x.err)
		}
	}
	if s := p.status(t); s != "running" {
		t.Errorf("the run is %s", s)
	}
	p.output(t, "runs", "cancel", "run-")
	a.ends(4)
	for _, args := range [][]string{{"log"}, {"log", "--json"}, {"runs"}, {"runs", "--json"}} {
		x := p.untilFirstLine(t, args...)
		x.ends(0)
		if x.err.String() != "" {
			t.Errorf("%s: standard error has %s", args, x.err)
		}
	}
}
