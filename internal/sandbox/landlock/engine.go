//go:build linux

package landlock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"conclave/internal/event"
	"conclave/internal/policy"
	"conclave/internal/proc"
	"conclave/internal/sandbox"
	"conclave/internal/sandbox/internal/scratch"
	"conclave/internal/sandbox/internal/seccomp"
)

// needed is the version of Landlock that holds what is promised: signals and
// abstract sockets stay inside since the sixth (Linux 6.12).
const needed = 6

// An Engine is Landlock.
type Engine struct {
	// Self is a program that calls Child first: "/proc/self/exe" if this one does.
	Self string
	// Procs is where processes are recorded, Boxes where boxes keep their files;
	// empty is no record, and a temporary folder.
	Procs, Boxes string
}

var _ interface {
	sandbox.Engine
	sandbox.Sweeper
} = (*Engine)(nil)

func (*Engine) Name() string { return "landlock" }

// Probe asks the kernel for its version and runs a command in a box.
func (e *Engine) Probe(ctx context.Context) error {
	switch v, err := ll.LandlockGetABIVersion(); {
	case err != nil:
		return fmt.Errorf("the kernel has no Landlock (%w): it needs Linux 6.12 and landlock among the security modules at boot (lsm=landlock,…)", err)
	case v < needed:
		return fmt.Errorf("the kernel has version %d of Landlock and %d is needed, which came with Linux 6.12: use bwrap or docker", v, needed)
	}
	b, err := (&Engine{Self: e.Self}).Open(ctx, sandbox.Spec{Flow: "probe", Place: policy.Place{Dir: "/"}})
	if err != nil {
		return fmt.Errorf("try landlock: %w", err)
	}
	said := proc.NewCapture(1<<10, 0)
	exit := 0
	p, err := b.Start(ctx, sandbox.Command{Argv: []string{"true"}, Stdout: said, Stderr: said})
	if err == nil {
		exit, err = p.Wait()
	}
	if err = errors.Join(err, b.Close()); err != nil || exit != 0 {
		return fmt.Errorf("landlock cannot confine a command (exit %d, %q, %v): use bwrap or docker", exit, said, err)
	}
	return nil
}

// Scope is what is put before a command, by its path, that another sandbox starts:
// then neither signals nor abstract unix sockets lead out of it, whatever network
// it has. It is nothing where the kernel cannot do that.
func (e *Engine) Scope() []string {
	if v, err := ll.LandlockGetABIVersion(); err != nil || v < needed {
		return nil
	}
	return []string{e.Self, Arg, scope}
}

func (e *Engine) Open(_ context.Context, s sandbox.Spec) (sandbox.Box, error) {
	b, err := e.open(s)
	if err != nil {
		return nil, fmt.Errorf("open a box with landlock: %w", err)
	}
	return b, nil
}

func (e *Engine) open(s sandbox.Spec) (*box, error) {
	switch {
	case e.Self == "" || len(os.Args) > 1 && os.Args[1] == Arg:
		return nil, errors.New("this program does not call landlock.Child before anything else")
	case s.Limits.CPUs != 0:
		return nil, errors.New("it cannot limit CPUs; take the limit out or use docker")
	case s.Limits.Procs != 0:
		return nil, errors.New("it cannot limit processes; take the limit out, or use bwrap or docker")
	}
	if _, err := seccomp.Program(seccomp.Rules{}); err != nil {
		return nil, err
	}
	place, err := resolve(s.Place)
	if err != nil {
		return nil, err
	}
	dir, err := scratch.Open(e.Boxes, s.Flow, s.Owner)
	if err != nil {
		return nil, err
	}
	return &box{engine: e, spec: s, place: place, dir: dir}, nil
}

// resolve is a place without links, as they lead now. Later no link is followed:
// somebody in a box may have made it.
func resolve(p policy.Place) (policy.Place, error) {
	var out policy.Place
	out.Dir = p.Dir
	for _, m := range p.Mounts {
		real, err := filepath.EvalSymlinks(m.Path)
		if err != nil {
			return out, fmt.Errorf("put %s into the box: %w", m.Path, err)
		}
		inner := func(paths []string) (out []string, err error) {
			for _, path := range paths {
				rel, ok := strings.CutPrefix(path, m.Path+"/")
				if !ok || !filepath.IsLocal(rel) {
					return nil, fmt.Errorf("%s is not inside %s", path, m.Path)
				}
				out = append(out, filepath.Join(real, rel))
			}
			return out, nil
		}
		protected, err := inner(m.Protected)
		hidden, err2 := inner(m.Hidden)
		if err := errors.Join(err, err2); err != nil {
			return out, err
		}
		out.Mounts = append(out.Mounts, policy.Mount{Path: real, Write: m.Write, Protected: protected, Hidden: hidden})
	}
	return out, nil
}

// Left and Sweep are about files; processes are for package proc.
func (e *Engine) Left(_ context.Context, alive func(event.FlowID) bool) ([]string, error) {
	return scratch.Left(e.Boxes, alive)
}

func (e *Engine) Sweep(_ context.Context, alive func(event.FlowID) bool) ([]string, error) {
	return scratch.Sweep(e.Boxes, alive)
}

type box struct {
	engine *Engine
	spec   sandbox.Spec
	place  policy.Place // without links
	dir    *scratch.Dir
	set    proc.Set
}

func (b *box) Start(ctx context.Context, c sandbox.Command) (sandbox.Process, error) {
	p, err := b.start(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("start a command with landlock: %w", err)
	}
	return p, nil
}

func (b *box) start(ctx context.Context, c sandbox.Command) (*proc.Process, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return nil, errors.New("there is no command")
	}
	dir := c.Dir
	if dir == "" {
		dir = b.place.Dir
	}
	plan, err := b.plan(order{
		Argv: c.Argv, Dir: dir, Env: sandbox.Env(b.dir.Home(), b.dir.Tmp(), b.spec.Env, c.Env),
		Place: b.place, Own: []string{b.dir.Home(), b.dir.Tmp()}, Network: b.spec.Network, Memory: b.spec.Limits.Memory,
	})
	if err != nil {
		return nil, err
	}
	defer plan.Close()
	failed, tell, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer failed.Close()
	// What it is to do goes by a descriptor: neither variables nor arguments of the
	// command are any concern of the process that is still unconfined.
	p, err := b.set.Start(ctx, proc.Command{
		Argv: []string{b.engine.Self, Arg, keep}, Dir: "/", Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr,
		Files: []*os.File{plan, tell}, Flow: b.spec.Flow, Records: b.engine.Procs,
		// A keeper whose owner dies ends the others before itself.
		Keeper: true, Death: syscall.SIGTERM,
	})
	_ = tell.Close()
	if err != nil {
		return nil, err
	}
	// The other end is closed when the command has become what it is to be.
	why, err := io.ReadAll(failed)
	if err == nil && len(why) > 0 {
		err = errors.New(string(why))
	}
	if err != nil {
		_, waited := p.Wait()
		return nil, errors.Join(err, waited)
	}
	return p, nil
}

// plan is an order as a file without a name.
func (b *box) plan(o order) (*os.File, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("write the order: %w", err)
	}
	fd, err := unix.MemfdCreate("order", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("write the order: %w", err)
	}
	f := os.NewFile(uintptr(fd), "order")
	if _, err = f.Write(text); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write the order: %w", err), f.Close())
	}
	return f, nil
}

func (b *box) Close() error {
	b.set.Close()
	return b.dir.Remove()
}
