package workspace

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A full disk costs the snapshot that does not fit, and nothing else.
func TestFullDisk(t *testing.T) {
	needGit(t)
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("a small file system cannot be mounted: %v", err)
	}
	t.Cleanup(func() { must(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	r := opened(t, dir)
	tree := treeOf(t, r, "agent1")
	write(t, tree.Dir(), plain)
	first := snap(t, tree)
	// Of each size another step is the one that finds no room.
	failed := 0
	for size := 3 << 20; size > 1<<20; size -= 64 << 10 {
		noise := make([]byte, size)
		for i := range noise {
			noise[i] = byte(i * i >> 3)
		}
		if err := os.WriteFile(filepath.Join(tree.Dir(), "big"), noise, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := tree.Snapshot(t.Context(), "big")
		if err != nil {
			failed++
			if !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("%d bytes: got %v", size, err)
			}
			if got, err := os.ReadFile(filepath.Join(tree.Dir(), "big")); err != nil || !bytes.Equal(got, noise) {
				t.Errorf("%d bytes: the workspace lost a file: %v", size, err)
			}
		}
		kept, err := r.Ensure(t.Context(), "agent1", first)
		must(t, err)
		same(t, kept, plain)
		must(t, tree.Reset(t.Context(), first))
		same(t, tree.Dir(), plain)
		if got := snap(t, tree); got != first {
			t.Fatalf("%d bytes: the id is %s, was %s", size, got, first)
		}
		must(t, opened(t, dir).forget(t, first))
	}
	if failed < 3 {
		t.Errorf("only %d snapshots did not fit", failed)
	}
}

// forget removes every checkout but one, and what git has, to make room.
func (r *Run) forget(t *testing.T, id string) error {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(r.dir, snapshotsDir, "*"))
	for _, d := range dirs {
		if d != r.Checkout("agent1", id) {
			err = errors.Join(err, removeAll(d))
		}
	}
	return errors.Join(err, removeAll(filepath.Join(r.dir, "agent1", gitDir)), removeAll(filepath.Join(r.dir, stateDir, "agent1", "git.old")))
}
