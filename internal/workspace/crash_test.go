//go:build unix

package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"conclave/internal/event"
)

// victim names the directory, the first snapshot and the step of a process that
// is to be killed there.
const victim = "WORKSPACE_TEST_VICTIM"

func TestMain(m *testing.M) {
	if v := os.Getenv(victim); v != "" {
		if err := runVictim(strings.Split(v, "|")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// runVictim does a bit of everything and kills itself at a step.
func runVictim(args []string) error {
	ctx, dir, first := context.Background(), args[0], args[1]
	last, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	r, err := Open(dir)
	if err != nil {
		return err
	}
	r.step = func(string) {
		if last--; last == 0 {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	tree, err := r.Tree(ctx, "agent1")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(tree.Dir(), "a.txt"), []byte("two\n"), 0o644); err != nil {
		return err
	}
	second, err := tree.Snapshot(ctx, "second")
	if err != nil {
		return err
	}
	if err := tree.Reset(ctx, first); err != nil {
		return err
	}
	if err := removeAll(r.Checkout("agent1", second)); err != nil {
		return err
	}
	if _, err := r.Ensure(ctx, "agent1", second); err != nil {
		return err
	}
	// A .git without the base makes the next snapshot begin a new one.
	if err := removeAll(filepath.Join(tree.Dir(), gitDir, "objects")); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(tree.Dir(), "third"), []byte("3"), 0o644); err != nil {
		return err
	}
	if _, err := tree.Snapshot(ctx, "third"); err != nil {
		return err
	}
	return r.Baseline(ctx, []event.ContextPath{{Path: filepath.Join(dir, "user"), Write: true}})
}

// A process is killed between any two steps, and another goes on.
func TestKilledAnywhere(t *testing.T) {
	needGit(t)
	self, err := os.Executable()
	must(t, err)
	for step := 1; ; step++ {
		if step > 100 {
			t.Fatal("the victim survives every step")
		}
		dir := t.TempDir()
		write(t, dir, files{"user/file": "u"})
		r := opened(t, dir)
		tree := treeOf(t, r, "agent1")
		write(t, tree.Dir(), plain)
		first := snap(t, tree)
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%s|%d", victim, dir, first, step))
		out, err := cmd.CombinedOutput()
		if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != -1) {
			t.Fatalf("step %d: %v\n%s", step, err, out)
		}
		survive(t, dir, first)
		if err == nil {
			if step < 10 {
				t.Errorf("only %d steps", step)
			}
			return
		}
	}
}

// survive checks that a directory is of use whatever happened to it.
func survive(t *testing.T, dir, first string) {
	t.Helper()
	r := opened(t, dir)
	tree := treeOf(t, r, "agent1")
	for _, d := range []string{filepath.Join(dir, snapshotsDir), tree.state} {
		if left, _ := filepath.Glob(filepath.Join(d, temporary+"*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	kept, err := r.Ensure(t.Context(), "agent1", first)
	must(t, err)
	same(t, kept, plain)
	must(t, tree.Reset(t.Context(), first))
	same(t, tree.Dir(), plain)
	if got := snap(t, tree); got != first {
		t.Errorf("after the reset the id is %s, was %s", got, first)
	}
	write(t, tree.Dir(), files{"next": "n"})
	next := snap(t, tree)
	if got := read(t, r.Checkout("agent1", next)); len(got) != len(plain)+1 || got["next"] != "n" {
		t.Errorf("the next snapshot has %v", got)
	}
	gitSays(t, tree, "fsck", "--strict")
	must(t, r.Baseline(t.Context(), []event.ContextPath{{Path: filepath.Join(dir, "user"), Write: true}}))
	write(t, dir, files{"user/file": "changed"})
	changes(t, r, dir, "modified user/file")
}

// While another process, or a git of one that was killed, is at work nobody
// else is; afterwards what it left is swept away.
func TestLockOfAnotherProcess(t *testing.T) {
	r, tree := world(t)
	write(t, tree.Dir(), plain)
	other, err := lockFile(t.Context(), filepath.Join(tree.state, "lock"))
	must(t, err)
	half := filepath.Join(r.dir, snapshotsDir, temporary+"agent1-x")
	write(t, half, files{"a": "1"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tree.Snapshot(ctx, "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(half); err != nil {
		t.Error("what somebody works on was removed")
	}
	must(t, other.Close())
	snap(t, tree)
	if _, err := os.Stat(half); err == nil {
		t.Error("what nobody works on was kept")
	}
}

// Agents answer at the same time.
func TestConcurrentSnapshots(t *testing.T) {
	needGit(t)
	r := opened(t, t.TempDir())
	var wg sync.WaitGroup
	for i := range 4 {
		label := event.Label(fmt.Sprintf("agent%d", i%2+1)) // two of each
		wg.Go(func() {
			tree, err := r.Tree(t.Context(), label)
			if err != nil {
				t.Error(err)
				return
			}
			for n := range 5 {
				name := filepath.Join(tree.Dir(), fmt.Sprintf("f%d-%d", i, n))
				if err := os.WriteFile(name, []byte("x"), 0o644); err != nil {
					t.Error(err)
				}
				id, err := tree.Snapshot(t.Context(), "x")
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := r.Ensure(t.Context(), label, id); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for _, l := range []event.Label{"agent1", "agent2"} {
		tree := treeOf(t, r, string(l))
		if got := len(read(t, r.Checkout(l, snap(t, tree)))); got != 10 {
			t.Errorf("%s has %d files", l, got)
		}
	}
}

func TestCancelled(t *testing.T) {
	r, tree := world(t)
	write(t, tree.Dir(), plain)
	ctx, cancel := context.WithCancel(t.Context())
	r.step = func(name string) {
		if name == "scanned" {
			cancel()
		}
	}
	if _, err := tree.Snapshot(ctx, "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	r.step = func(string) {}
	same(t, r.Checkout("agent1", snap(t, tree)), plain)
}
