//go:build unix

package shell_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"syscall"
	"testing"

	"conclave/internal/sandbox"
	"conclave/internal/tool"
)

// direct is a box that confines nothing: commands run as they are.
type direct struct{ dir string }

func (direct) Close() error { return nil }

func (d direct) Start(ctx context.Context, c sandbox.Command) (sandbox.Process, error) {
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.Dir, c.Stdout, c.Stderr
	if cmd.Dir == "" {
		cmd.Dir = d.dir
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &directProcess{ctx, cmd}, nil
}

type directProcess struct {
	ctx context.Context
	cmd *exec.Cmd
}

func (p *directProcess) Wait() (int, error) {
	err := p.cmd.Wait()
	if p.ctx.Err() != nil {
		return 0, p.ctx.Err()
	}
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		if s := ended.Sys().(syscall.WaitStatus); s.Signaled() {
			return 128 + int(s.Signal()), nil
		}
		return ended.ExitCode(), nil
	}
	return 0, err
}

func (p *directProcess) Stop() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM) }

// acted is a box whose commands are a function: it gets the line and where to
// print, and ends when its context does.
type acted func(ctx context.Context, line string, out io.Writer) (exit int, err error)

func (acted) Close() error { return nil }

func (a acted) Start(ctx context.Context, c sandbox.Command) (sandbox.Process, error) {
	ctx, stop := context.WithCancel(ctx)
	p := &actedProcess{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.exit, p.err = a(ctx, c.Argv[len(c.Argv)-1], c.Stdout)
	}()
	return p, nil
}

type actedProcess struct {
	stop context.CancelFunc
	done chan struct{}
	exit int
	err  error
}

func (p *actedProcess) Wait() (int, error) { <-p.done; p.stop(); return p.exit, p.err }
func (p *actedProcess) Stop()              { p.stop() }

// broken is a box in which nothing starts.
type broken struct{}

func (broken) Close() error { return nil }
func (broken) Start(context.Context, sandbox.Command) (sandbox.Process, error) {
	return nil, errors.New("no such directory")
}

// call runs a tool and fails the test if that is an error of ours.
func call(t *testing.T, x tool.Tool, input any) tool.Result {
	t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	res, err := x.Run(t.Context(), raw)
	if err != nil {
		t.Fatalf("%s %s: %v", x.Name(), raw, err)
	}
	return res
}

type m = map[string]any
