package kit_test

import (
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/event"
	"conclave/internal/gear"
	"conclave/internal/policy"
	"conclave/internal/sandbox"
)

// Repositories and states of the program further down in a context path are kept
// like those at its top: hooks and settings in them are run by whoever uses them.
// What an agent makes itself is its own.
func TestInnerRepositories(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"a/deep/repo/.git/config", "a/repo/.git", "b/.conclave/permissions.json", "b/file"} {
		write(t, filepath.Join(dir, f), "old")
	}
	b := newBench(t, event.ContextPath{Path: dir, Write: true})
	k := b.kit(t, "agent1", gear.Gear{Files: true, Shell: &gear.Shell{}})
	n := work
	n.Write = true
	h := open(t, k, n)
	r := b.last.Root
	for _, f := range []string{"a/deep/repo/.git/config", "a/deep/repo/.git/hooks/pre-commit", "a/repo/.git", "b/.conclave/permissions.json", "b/.conclave/config.yaml"} {
		if err := r.WriteFile(filepath.Join(dir, f), []byte("new")); err == nil {
			t.Errorf("%s was written", f)
		}
	}
	if got := read(t, r, filepath.Join(dir, "b/.conclave/permissions.json")); !strings.HasPrefix(got, "error") {
		t.Errorf("another project's state can be read: %q", got)
	}
	for _, f := range []string{"b/file", "a/deep/repo/file", "c/.git/config"} {
		if err := r.WriteFile(filepath.Join(dir, f), []byte("new")); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, k, n)
	if err := b.last.Root.WriteFile(filepath.Join(dir, "c/.git/config"), []byte("newer")); err != nil {
		t.Errorf("its own repository: %v", err)
	}
}

// A folder that commands may read besides shows no more of the program's state
// than a context path does.
func TestMountsHideTheState(t *testing.T) {
	b := newBench(t)
	write(t, filepath.Join(b.State, "conclave.db"), "the log")
	write(t, filepath.Join(b.project, "file"), "text")
	k := b.kit(t, "agent1", gear.Gear{Files: true, Shell: &gear.Shell{Mounts: []policy.Mount{{Path: b.project}}}})
	open(t, k, work)
	if got := read(t, b.last.Root, filepath.Join(b.State, "conclave.db")); !strings.HasPrefix(got, "error") {
		t.Errorf("the log can be read: %q", got)
	}
	if got := read(t, b.last.Root, filepath.Join(b.project, "file")); got != "text" {
		t.Errorf("the folder itself: %q", got)
	}
	if _, err := b.last.Box.Start(t.Context(), sandbox.Command{Argv: []string{"true"}}); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := b.engine.opened[0].Place.Find(filepath.Join(b.State, "conclave.db")); ok {
		t.Error("commands can read the log")
	}
}
