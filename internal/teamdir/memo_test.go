package teamdir_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/teamdir"
)

// watched puts a git in the PATH that writes down what it is asked, and returns a
// function that says what that was since it was called last.
func watched(t *testing.T) func() []string {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin, log := t.TempDir(), filepath.Join(t.TempDir(), "asked")
	script := fmt.Sprintf("#!/bin/sh\nfor a; do case $a in core.*|diff.*|gc.*|maintenance.*|commit.*|tag.*|log.*|protocol.*|submodule.*|safe.*|advice.*|-*) ;; *) echo \"$a\" >>%q; break;; esac; done\nexec %q \"$@\"\n", log, git)
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return func() []string {
		text, _ := os.ReadFile(log)
		_ = os.Remove(log)
		return strings.Fields(string(text))
	}
}

// TestAskedOnce: what is known is not asked of git again. A process for each question
// is most of what the trees of a large team cost.
func TestAskedOnce(t *testing.T) {
	d := fresh(t, "")
	asked := watched(t)
	dir := root(t, d, "ada").Dir
	put(t, dir, "a.md", "one\n")
	first := commit(t, d, "ada", 1, 1)
	if asked := asked(); !slices.Contains(asked, "commit-tree") {
		t.Fatalf("the commands are not seen: %q", asked)
	}

	if root(t, d, "ada"); len(asked()) > 0 {
		t.Error("git is asked for a tree that is there")
	}
	if diff := cmp.Diff(first, commit(t, d, "ada", 1, 1)); diff != "" {
		t.Errorf("asked for again, the commit is another (-first +now):\n%s", diff)
	}
	for _, c := range asked() {
		if c != "add" && c != "write-tree" { // what is on disk may always be different
			t.Errorf("git %s is run though nothing has changed", c)
		}
	}
	if _, _, err := d.Sync(t.Context(), "ada"); err != nil {
		t.Fatal(err)
	}
	if asked := asked(); len(asked) > 1 {
		t.Errorf("git is asked for %q to see that the shared tree is where it was", asked)
	}
}

// TestNotByHeart: what another program has done to the repository since is seen.
func TestNotByHeart(t *testing.T) {
	d := fresh(t, "")
	dir := root(t, d, "ada").Dir
	put(t, dir, "a.md", "one\n")
	commit(t, d, "ada", 1, 1)

	next := &teamdir.Dir{Path: d.Path, Leader: d.Leader}
	put(t, dir, "b.md", "two\n")
	theirs := commit(t, next, "ada", 1, 1)
	if diff := cmp.Diff(theirs, commit(t, d, "ada", 1, 1)); diff != "" {
		t.Errorf("the commit of another driver is not seen (-theirs +ours):\n%s", diff)
	}

	repo := filepath.Join(d.Path, "repo")
	if out, err := exec.Command("git", "--git-dir", repo, "pack-refs", "--all", "--prune").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if now := commit(t, d, "ada", 1, 1); now.Commit != theirs.Commit {
		t.Errorf("with its branches packed the repository is at %s, want %s", now.Commit, theirs.Commit)
	}
	if m := merge(t, d, "ada", ""); m.Total != 2 {
		t.Errorf("merged with packed branches: %+v", m)
	}
	root(t, d, "bob")
	if got := get(t, d.Tree("bob"), "b.md"); got != "two\n" {
		t.Errorf("a new tree has %q", got)
	}
}
