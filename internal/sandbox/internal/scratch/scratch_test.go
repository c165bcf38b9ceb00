package scratch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"conclave/internal/event"
)

func exists(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Lstat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// What a killed process left is gone when its box is opened again, or swept.
func TestLeftBehind(t *testing.T) {
	parent, outside := t.TempDir(), t.TempDir()
	d, err := Open(parent, "run-1", "agent1")
	if err != nil {
		t.Fatal(err)
	}
	empty, filled := filepath.Join(outside, "empty"), filepath.Join(outside, "filled")
	for _, path := range []string{empty, filled} {
		if err := errors.Join(d.Note(path), os.Mkdir(path, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	kept := filepath.Join(d.Home(), "kept")
	if err := errors.Join(os.WriteFile(kept, nil, 0o600), os.WriteFile(filepath.Join(filled, "x"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}

	alive := func(id event.FlowID) bool { return id == "run-1" }
	if left, err := Left(parent, alive); err != nil || len(left) > 0 {
		t.Errorf("left are %v (%v) of a flow that is driven", left, err)
	}
	dead := func(event.FlowID) bool { return false }
	if left, err := Left(parent, dead); err != nil || len(left) != 1 || !exists(t, kept) {
		t.Errorf("left are %v (%v)", left, err)
	}
	again, err := Open(parent, "run-1", "agent1")
	if err != nil || exists(t, kept) || exists(t, empty) || !exists(t, filled) {
		t.Errorf("opened again (%v): kept %v, empty %v, filled %v", err, exists(t, kept), exists(t, empty), exists(t, filled))
	}
	if other, err := Open(parent, "run-1", "agent2"); err != nil || other.Home() == again.Home() {
		t.Errorf("two owners share %s (%v)", again.Home(), err)
	}
	if err := os.Mkdir(filepath.Join(parent, "somebody's"), 0o755); err != nil {
		t.Fatal(err)
	}
	if swept, err := Sweep(parent, dead); err != nil || len(swept) != 2 || exists(t, again.Home()) || !exists(t, filepath.Join(parent, "somebody's")) {
		t.Errorf("swept %v (%v)", swept, err)
	}
}

// A folder that was made unreadable goes too.
func TestRemove(t *testing.T) {
	d, err := Open("", "run-1", "agent1")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(d.Tmp(), "locked")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "x"), nil, 0o600), os.Chmod(dir, 0)); err != nil {
		t.Fatal(err)
	}
	if err := d.Remove(); err != nil || exists(t, d.Tmp()) {
		t.Errorf("removing says %v", err)
	}
	if err := d.Remove(); err != nil {
		t.Errorf("removing again says %v", err)
	}
}
