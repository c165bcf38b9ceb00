// Package proc runs child processes and leaves none behind.
//
// A [Process] is started in a session of its own and ended with everything it
// started: its group, its descendants, and whoever carries its mark, a variable
// in the environment that nobody else has. When the first process ends, what it
// left running is killed; when it is stopped, all of them are asked to end
// (interrupt, then terminate) before they are killed.
//
// A process is known by its pid and the time it was born ([Identity]), never by
// its name. Before it starts, a record of it is written into a directory of the
// caller's; it is removed when the process has ended. So the next start of the
// program finds what a killed one left behind: [Left] lists it, [Sweep] ends it.
//
// [Capture] keeps the beginning and the end of an output of any length.
//
// Goroutines: each Process has one that waits for it and one that notices its
// end; both are over when Wait returns. A [Set] stops and waits for many.
//
// Outside Linux only the group is known and nothing is recorded.
package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"conclave/internal/event"
)

const (
	// FlowVar names the flow a process belongs to, MarkVar the process whose
	// command it is part of; both are in its environment.
	FlowVar = "CONCLAVE_FLOW"
	MarkVar = "CONCLAVE_PROC"

	defaultGrace = 500 * time.Millisecond
	drain        = 2 * time.Second
)

// A Command is what is to run.
type Command struct {
	// Argv is the program and its arguments. A program without a slash is looked
	// for in the PATH of Env.
	Argv []string
	Dir  string
	Env  []string // the whole environment, besides the marks
	// Stdin, Stdout, Stderr: nil is nothing, and nowhere.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Files          []*os.File // from descriptor 3 on

	Flow    event.FlowID
	Records string        // directory for the record; empty is none
	Grace   time.Duration // between the steps of stopping; zero is half a second
	// Keeper: the process itself only keeps others, which are what is stopped. It
	// ends when they have; it is killed if it does not.
	Keeper bool
	// Death is the signal the process gets when this one dies; zero is KILL.
	Death syscall.Signal
}

// A Process is a command that runs.
type Process struct {
	cmd     *exec.Cmd
	id      Identity
	kin     kin
	grace   time.Duration
	keeper  bool
	record  *record
	after   func()
	stop    chan struct{} // closed when somebody wants it stopped
	stopped sync.Once
	done    chan struct{} // closed when it has ended
	exit    int           // valid after done
	err     error
}

// Start begins a command. When ctx ends it is stopped like by Stop.
func Start(ctx context.Context, c Command) (*Process, error) { return start(ctx, c, nil) }

func start(ctx context.Context, c Command, after func()) (*Process, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return nil, errors.New("start a process: there is no command")
	}
	program, err := look(c.Argv[0], c.Dir, c.Env)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Argv[0], err)
	}
	p := &Process{
		kin: kin{mark: newMark()}, grace: c.Grace, keeper: c.Keeper, after: after,
		stop: make(chan struct{}), done: make(chan struct{}),
	}
	if p.grace <= 0 {
		p.grace = defaultGrace
	}
	if p.record, err = newRecord(c.Records, c.Flow, p.kin.mark); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Argv[0], err)
	}
	p.cmd = &exec.Cmd{
		Path: program, Args: c.Argv, Dir: c.Dir,
		Env:   append(slices.Clone(c.Env), FlowVar+"="+string(c.Flow), MarkVar+"="+p.kin.mark),
		Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr, ExtraFiles: c.Files,
		SysProcAttr: attributes(c.Death), WaitDelay: drain,
	}
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", c.Argv[0], err), p.record.remove())
	}
	// What is not known by its birth is known by its mark, so a failure here
	// makes the record poorer and the process no less ours.
	p.id, _ = Of(p.cmd.Process.Pid)
	p.id.PID = p.cmd.Process.Pid
	recordErr := p.record.born(p.id)
	go p.run(ctx)
	if recordErr != nil {
		p.Stop()
		return nil, fmt.Errorf("start %s: %w", c.Argv[0], recordErr)
	}
	return p, nil
}

// ID is who the process is.
func (p *Process) ID() Identity { return p.id }

// Adopt counts a process among those this one started, and among those that
// have to be gone before Wait returns: for one that cannot be found by itself.
func (p *Process) Adopt(pid int) {
	if id, err := Of(pid); err == nil {
		p.kin.mu.Lock()
		defer p.kin.mu.Unlock()
		p.kin.add(pid, id.Start)
	}
}

// Done is closed when the process has ended with everything it started.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait returns when the process has ended, everything it started too, and all
// output was written; a process that got away with an open end of a pipe is
// waited for two seconds. Exit is its exit code, 128 and the signal if one ended
// it. An error is the end of the context, a failure to read or write for it, or
// that something could not be ended.
func (p *Process) Wait() (exit int, err error) {
	<-p.done
	return p.exit, p.err
}

// Stop ends the process with everything it started, politely at first, and
// returns when it has ended.
func (p *Process) Stop() {
	p.ask()
	<-p.done
}

func (p *Process) ask() { p.stopped.Do(func() { close(p.stop) }) }

func (p *Process) run(ctx context.Context) {
	defer close(p.done)
	ended := make(chan struct{})
	var reap func() error // set when ended
	go func() {
		defer close(ended)
		reap = p.awaitExit()
	}()
	var cause error
	select {
	case <-ended:
	case <-p.stop:
	case <-ctx.Done():
		cause = context.Cause(ctx)
	}
	left := p.end(ended)
	<-ended
	p.exit, p.err = status(reap(), p.cmd.ProcessState)
	p.err = errors.Join(cause, p.err, left, p.record.remove())
	if p.after != nil {
		p.after()
	}
}

// status is how a process ended. That a pipe was kept open by somebody who got
// away is no failure of the command.
func status(err error, s *os.ProcessState) (int, error) {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) || errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	if s == nil {
		return -1, err
	}
	return code(s), err
}

// look finds a program in the PATH of the environment it will have: ours is
// nobody's business.
func look(name, dir string, env []string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		if filepath.IsAbs(name) || dir == "" {
			return name, nil
		}
		return filepath.Join(dir, name), nil
	}
	path := ""
	for _, v := range env {
		if p, ok := strings.CutPrefix(v, "PATH="); ok {
			path = p
		}
	}
	for _, d := range filepath.SplitList(path) {
		if !filepath.IsAbs(d) {
			continue // the directory a command starts in is not to be trusted
		}
		if found, err := exec.LookPath(filepath.Join(d, name)); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("%w in PATH %q", exec.ErrNotFound, path)
}
