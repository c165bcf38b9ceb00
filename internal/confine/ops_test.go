package confine_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/confine"
)

func TestWriteKeepsTheMode(t *testing.T) {
	w := newWorld(t)
	if err := os.Chmod(w.path("ws/a.txt"), 0o751); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.WriteFile("a.txt", []byte("new")), w.Copy("a.txt", "x/y/copy.txt")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ws/a.txt", "ws/x/y/copy.txt"} {
		w.holds(name, "new")
		if info, err := os.Stat(w.path(name)); err != nil || info.Mode().Perm() != 0o751 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	entries, err := os.ReadDir(w.path("ws/x/y"))
	if err != nil || len(entries) != 1 {
		t.Errorf("something is left over: %v, %v", entries, err)
	}
}

// A file that is a mount stays the same file, for those who have it open.
func TestWriteIntoAFileMount(t *testing.T) {
	w := newWorld(t)
	one := w.path("files/one.txt")
	before, err := os.Stat(one)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteFile(one, []byte("shorter")); err != nil {
		t.Fatal(err)
	}
	w.holds("files/one.txt", "shorter")
	if after, err := os.Stat(one); err != nil || !os.SameFile(before, after) {
		t.Errorf("it is another file now, %v", err)
	}
}

func TestReadFileLimit(t *testing.T) {
	w := newWorld(t)
	if got, err := w.ReadFile("a.txt", 12); err != nil || string(got) != "old ws/a.txt" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := w.ReadFile("a.txt", 11); err == nil || !strings.Contains(err.Error(), "larger than 11 bytes") {
		t.Error(err)
	}
	if _, err := w.ReadFile("gone.txt", 11); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func walked(w world, path string) ([]string, error) {
	var out []string
	err := w.Walk(w.t.Context(), path, func(e confine.Entry) error {
		rel, err := filepath.Rel(w.dir, e.Path)
		out = append(out, rel)
		return err
	})
	slices.Sort(out)
	return out, err
}

func TestWalk(t *testing.T) {
	w := newWorld(t)
	w.link("../out", "ws/out")
	w.link("sub", "ws/other")
	got, err := walked(w, ".")
	want := []string{
		"ws/.git", "ws/.git/config", "ws/a.txt", "ws/inner", "ws/inner/i.txt", "ws/keep", "ws/keep/k.txt",
		"ws/other", "ws/out", "ws/sub", "ws/sub/b.txt",
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	got, err = walked(w, "other")
	if diff := cmp.Diff([]string{"ws/sub/b.txt"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, path := range []string{"out", "a.txt", "gone", "..", w.path("files")} {
		if got, err := walked(w, path); err == nil {
			t.Errorf("%s: %v", path, got)
		}
	}
}

func TestWalkStops(t *testing.T) {
	w := newWorld(t)
	for i := range 2000 {
		w.put(fmt.Sprintf("ws/many/%d.txt", i), "")
	}
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	err := w.Walk(ctx, "many", func(confine.Entry) error {
		n++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || n >= 2000 {
		t.Errorf("%d entries, %v", n, err)
	}
	n = 0
	err = w.Walk(t.Context(), "many", func(confine.Entry) error {
		n++
		return fs.SkipAll
	})
	if err != nil || n != 1 {
		t.Errorf("%d entries, %v", n, err)
	}
	n = 0
	if err := w.ReadDir(t.Context(), ".", func(confine.Entry) error { n++; return nil }); err != nil || n != 6 {
		t.Errorf("%d entries, %v", n, err)
	}
}

func TestReal(t *testing.T) {
	w := newWorld(t)
	w.link("sub", "ws/link")
	for path, want := range map[string]string{"link/b.txt": "ws/sub/b.txt", "link/new.txt": "ws/sub/new.txt", "a.txt": "ws/a.txt", ".": "ws"} {
		if got, err := w.Real(path); err != nil || got != w.path(want) {
			t.Errorf("%s leads to %s, %v", path, got, err)
		}
	}
}
