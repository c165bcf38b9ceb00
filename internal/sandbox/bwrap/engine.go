//go:build linux

package bwrap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"conclave/internal/event"
	"conclave/internal/policy"
	"conclave/internal/proc"
	"conclave/internal/sandbox"
	"conclave/internal/sandbox/internal/layout"
	"conclave/internal/sandbox/internal/scratch"
	"conclave/internal/sandbox/internal/seccomp"
)

// An Engine is bubblewrap.
type Engine struct {
	// Program is bwrap; empty looks for it in PATH.
	Program string
	// Procs is where processes are recorded, Boxes where boxes keep their files;
	// empty is no record, and a temporary folder.
	Procs, Boxes string
	// Scope is put before bwrap where a box shares the machine's network, to keep
	// the abstract unix sockets of the machine from it; empty keeps them not.
	Scope []string

	holds layout.Holds
}

var _ interface {
	sandbox.Engine
	sandbox.Sweeper
} = (*Engine)(nil)

func (*Engine) Name() string { return "bwrap" }

// Probe runs a command in a box.
func (e *Engine) Probe(ctx context.Context) error {
	if _, err := e.program(); err != nil {
		return err
	}
	b, err := (&Engine{Program: e.Program}).Open(ctx, sandbox.Spec{Flow: "probe", Place: policy.Place{Dir: "/"}})
	if err != nil {
		return fmt.Errorf("try bwrap: %w", err)
	}
	said := proc.NewCapture(1<<10, 0)
	p, err := b.Start(ctx, sandbox.Command{Argv: []string{"true"}, Stdout: said, Stderr: said})
	exit := 0
	if err == nil {
		exit, err = p.Wait()
	}
	if err = errors.Join(err, b.Close()); err != nil || exit != 0 {
		return fmt.Errorf("bwrap cannot make a sandbox (exit %d, %q, %v): allow user namespaces (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns), or use another sandbox", exit, said, err)
	}
	return nil
}

func (e *Engine) program() (string, error) {
	name := e.Program
	if name == "" {
		name = "bwrap"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("bwrap is not installed (%w): install the package bubblewrap", err)
	}
	return path, nil
}

func (e *Engine) Open(_ context.Context, s sandbox.Spec) (sandbox.Box, error) {
	b, err := e.open(s)
	if err != nil {
		return nil, fmt.Errorf("open a box in bwrap: %w", err)
	}
	return b, nil
}

func (e *Engine) open(s sandbox.Spec) (*box, error) {
	program, err := e.program()
	if err != nil {
		return nil, err
	}
	if err := possible(s.Limits); err != nil {
		return nil, err
	}
	filter, err := seccomp.Program(seccomp.Rules{Sockets: seccomp.Private})
	if err != nil {
		return nil, err
	}
	dir, err := scratch.Open(e.Boxes, s.Flow, s.Owner)
	if err != nil {
		return nil, err
	}
	b := &box{engine: e, program: program, filter: filter, spec: s, dir: dir, hold: e.holds.New(dir.Note)}
	if _, err := b.hold.Take(s.Place); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// possible is which limits are held.
func possible(l sandbox.Limits) error {
	switch {
	case l.CPUs != 0:
		return errors.New("it cannot limit CPUs; take the limit out or use docker")
	case l.Procs != 0 && os.Getuid() == 0:
		return errors.New("the kernel does not hold root to a number of processes; take the limit out, use docker, or run as another user")
	}
	return nil
}

// Left and Sweep are about files; processes end with their bwrap.
func (e *Engine) Left(_ context.Context, alive func(event.FlowID) bool) ([]string, error) {
	return scratch.Left(e.Boxes, alive)
}

func (e *Engine) Sweep(_ context.Context, alive func(event.FlowID) bool) ([]string, error) {
	return scratch.Sweep(e.Boxes, alive)
}
