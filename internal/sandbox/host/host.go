// Package host runs commands without any confinement: in a session of their
// own, with a fresh environment, a home and a folder for temporary files of the
// box, and nothing else between them and the machine.
//
// It is for those who ask for it by name, where the machine itself is the
// sandbox. Mounts, Protected, Hidden and Network are not held; limits are
// refused.
package host

import (
	"context"
	"errors"
	"fmt"
	"os"

	"conclave/internal/event"
	"conclave/internal/proc"
	"conclave/internal/sandbox"
	"conclave/internal/sandbox/internal/scratch"
)

// An Engine is the machine itself.
type Engine struct {
	// Procs is where processes are recorded, Boxes where boxes keep their files;
	// empty is no record, and a temporary folder.
	Procs, Boxes string
}

var _ interface {
	sandbox.Engine
	sandbox.Sweeper
} = (*Engine)(nil)

func (*Engine) Name() string { return "host" }

// Probe has nothing that could be missing.
func (*Engine) Probe(context.Context) error { return nil }

func (e *Engine) Open(_ context.Context, s sandbox.Spec) (sandbox.Box, error) {
	if s.Limits != (sandbox.Limits{}) {
		return nil, errors.New("open a box on the host: it holds no limits; take them out or use docker")
	}
	for _, m := range s.Place.Mounts {
		if _, err := os.Stat(m.Path); err != nil {
			return nil, fmt.Errorf("open a box on the host: %w", err)
		}
	}
	dir, err := scratch.Open(e.Boxes, s.Flow, s.Owner)
	if err != nil {
		return nil, fmt.Errorf("open a box on the host: %w", err)
	}
	return &box{procs: e.Procs, spec: s, dir: dir}, nil
}

// Left and Sweep are about files; processes are for package proc.
func (e *Engine) Left(_ context.Context, alive func(event.FlowID) bool) ([]string, error) {
	return scratch.Left(e.Boxes, alive)
}

func (e *Engine) Sweep(_ context.Context, alive func(event.FlowID) bool) ([]string, error) {
	return scratch.Sweep(e.Boxes, alive)
}

type box struct {
	procs string
	spec  sandbox.Spec
	dir   *scratch.Dir
	set   proc.Set
}

func (b *box) Start(ctx context.Context, c sandbox.Command) (sandbox.Process, error) {
	dir := c.Dir
	if dir == "" {
		dir = b.spec.Place.Dir
	}
	// The machine's own PATH: there is nothing that it could lead out of.
	env := sandbox.Env(b.dir.Home(), b.dir.Tmp(), []string{"PATH=" + os.Getenv("PATH")}, b.spec.Env, c.Env)
	p, err := b.set.Start(ctx, proc.Command{
		Argv: c.Argv, Dir: dir, Env: env, Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr,
		Flow: b.spec.Flow, Records: b.procs,
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

func (b *box) Close() error {
	b.set.Close()
	return b.dir.Remove()
}
