//go:build linux

package bwrap

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"conclave/internal/event"
	"conclave/internal/policy"
	"conclave/internal/proc"
	"conclave/internal/sandbox"
	"conclave/internal/sandbox/sandboxtest"
)

func working(t testing.TB, e *Engine) {
	t.Helper()
	if err := e.Probe(t.Context()); err != nil {
		if tt, ok := t.(*testing.T); ok {
			sandboxtest.Missing(tt, err.Error())
		}
		t.Skip(err)
	}
}

// place is a workspace with protected names that do not exist.
func place(t testing.TB) policy.Place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return policy.Place{Dir: dir, Mounts: []policy.Mount{{Path: dir, Write: true, Protected: []string{dir + "/.git", dir + "/.conclave"}}}}
}

// What a killed process put where nothing may be made is swept; what has become
// somebody's is not.
func TestSweep(t *testing.T) {
	boxes, p := t.TempDir(), place(t)
	killed := &Engine{Boxes: boxes}
	working(t, killed)
	if _, err := killed.Open(t.Context(), sandbox.Spec{Flow: "run-1", Owner: "agent1", Place: p}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.Dir+"/.git/HEAD", nil, 0o644); err != nil {
		t.Fatalf("the protected name is not held: %v", err)
	}
	next := &Engine{Boxes: boxes}
	dead := func(event.FlowID) bool { return false }
	if left, err := next.Left(t.Context(), dead); err != nil || len(left) != 1 {
		t.Errorf("left are %v (%v)", left, err)
	}
	if swept, err := next.Sweep(t.Context(), dead); err != nil || len(swept) != 1 {
		t.Errorf("swept %v (%v)", swept, err)
	}
	if _, err := os.Stat(p.Dir + "/.git/HEAD"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(p.Dir + "/.conclave"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was put there is still there: %v", err)
	}
}

// A repository that is made from outside while a box is open is seen in it, and
// stays protected.
func TestMadeFromOutside(t *testing.T) {
	e, p := &Engine{}, place(t)
	working(t, e)
	b, err := e.Open(t.Context(), sandbox.Spec{Flow: "run-1", Place: p})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.Dir+"/.git/HEAD", []byte("main"), 0o644); err != nil {
		t.Fatal(err)
	}
	if exit, said := run(t, b, "cat .git/HEAD && ! echo x > .git/HEAD && ! rm -rf .git"); exit != 0 {
		t.Errorf("it ended with %d: %s", exit, said)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(p.Dir + "/.git/HEAD"); err != nil || string(got) != "main" {
		t.Errorf("the repository holds %q (%v)", got, err)
	}
}

func run(t testing.TB, b sandbox.Box, script string) (int, string) {
	t.Helper()
	said := proc.NewCapture(1<<12, 0)
	p, err := b.Start(t.Context(), sandbox.Command{Argv: []string{"sh", "-c", script}, Stdout: said, Stderr: said})
	if err != nil {
		t.Fatal(err)
	}
	exit, err := p.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return exit, said.String()
}

// Variables of a command are neither in the list of processes nor in the
// environment of bwrap, which runs outside the box.
func TestVariablesStayInside(t *testing.T) {
	e := &Engine{}
	working(t, e)
	b, err := e.Open(t.Context(), sandbox.Spec{Flow: "run-1", Place: place(t), Env: []string{"TOKEN=very secret"}})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	in, end := io.Pipe()
	p, err := b.Start(t.Context(), sandbox.Command{
		Argv: []string{"sh", "-c", `test ${#TOKEN} = 11 && read x`}, Env: []string{"LD_PRELOAD=/evil.so"}, Stdin: in,
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join("/proc", strconv.Itoa(p.(*process).ID().PID))
	for _, name := range []string{"cmdline", "environ"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || strings.Contains(string(got), "very secret") || strings.Contains(string(got), "evil") {
			t.Errorf("%s of bwrap holds %q (%v)", name, got, err)
		}
	}
	_, _ = io.WriteString(end, "go\n")
	_ = end.Close()
	if exit, err := p.Wait(); exit != 0 || err != nil {
		t.Errorf("it ended with %d, %v", exit, err)
	}
}

// What cannot be made into a box is refused, with what to do.
func TestRefused(t *testing.T) {
	e := &Engine{}
	working(t, e)
	p := place(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(p.Dir, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		spec sandbox.Spec
		says string
	}{
		{sandbox.Spec{Place: policy.Place{Mounts: []policy.Mount{{Path: link}}}}, "symbolic link"},
		{sandbox.Spec{Place: policy.Place{Mounts: []policy.Mount{{Path: "relative"}}}}, "absolute and clean"},
		{sandbox.Spec{Place: policy.Place{Mounts: []policy.Mount{{Path: "/"}}}}, "absolute and clean"},
		{sandbox.Spec{Place: policy.Place{Mounts: []policy.Mount{{Path: p.Dir, Write: true, Protected: []string{"/etc"}}}}}, "is not inside"},
		{sandbox.Spec{Place: p, Limits: sandbox.Limits{CPUs: 1}}, "docker"},
	} {
		if _, err := e.Open(t.Context(), c.spec); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %q", c.spec, err, c.says)
		}
	}
	b, err := e.Open(t.Context(), sandbox.Spec{Place: p})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	proc, err := b.Start(t.Context(), sandbox.Command{Argv: []string{"no-such-program"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := proc.Wait(); err == nil || !strings.Contains(err.Error(), "no-such-program") {
		t.Errorf("a program that is not there is %v", err)
	}
}

func TestProbe(t *testing.T) {
	if err := (&Engine{Program: "/no/bwrap"}).Probe(t.Context()); err == nil || !strings.Contains(err.Error(), "install the package bubblewrap") {
		t.Errorf("a bwrap that is not there is %v", err)
	}
	broken := filepath.Join(t.TempDir(), "bwrap")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\necho no namespaces >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := (&Engine{Program: broken}).Probe(t.Context()); err == nil || !strings.Contains(err.Error(), "no namespaces") || !strings.Contains(err.Error(), "allow user namespaces") {
		t.Errorf("a bwrap that does not work is %v", err)
	}
}

// The cost of a box over a process, in the same run.
func BenchmarkCommand(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			if err := exec.CommandContext(context.Background(), "true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("bwrap", func(b *testing.B) {
		e := &Engine{Procs: b.TempDir(), Boxes: b.TempDir()}
		working(b, e)
		box, err := e.Open(b.Context(), sandbox.Spec{Flow: "run-1", Place: place(b)})
		if err != nil {
			b.Fatal(err)
		}
		defer box.Close()
		for b.Loop() {
			p, err := box.Start(b.Context(), sandbox.Command{Argv: []string{"true"}})
			if err != nil {
				b.Fatal(err)
			}
			if exit, err := p.Wait(); exit != 0 || err != nil {
				b.Fatal(exit, err)
			}
		}
	})
}
