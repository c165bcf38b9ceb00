package kit_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/internal/agent"
	"conclave/internal/event"
	"conclave/internal/gear"
)

// The agent of a session works in a folder that stays as it is, a turn that is
// taken again included. It writes the user's files where that is configured, and
// looks at the workspaces of runs.
func TestHome(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	mine, theirs := filepath.Join(dir, "mine"), filepath.Join(dir, "theirs")
	write(t, filepath.Join(mine, "AGENTS.md"), "Be brief.")
	write(t, filepath.Join(theirs, "file"), "old")
	b := newBench(t, event.ContextPath{Path: mine, Write: true}, event.ContextPath{Path: theirs})
	b.Run, b.Home, b.Shown = nil, filepath.Join(b.State, "workspace"), []string{filepath.Join(b.State, "runs")}
	run := filepath.Join(b.State, "runs", "run-1", "snapshots", "agent1-0", "result.md")
	write(t, run, "a result")
	k := b.kit(t, "agent1", gear.Gear{Files: true})
	n := agent.Need{Turn: event.Turn{Round: 1, Take: 1}, Role: event.RoleWork}
	h := open(t, k, n)
	if err := b.last.Root.WriteFile("scratch/a.txt", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	if b.last.Dir != b.Home || h.Scene().Workspace != b.Home || len(h.Scene().Instructions) != 1 {
		t.Errorf("it works in %q: %+v", b.last.Dir, h.Scene())
	}
	if err := b.last.Root.WriteFile(filepath.Join(mine, "new"), []byte("x")); err != nil {
		t.Errorf("a writable path: %v", err)
	}
	for _, f := range []string{filepath.Join(theirs, "file"), run, filepath.Join(b.State, "conclave.db")} {
		if err := b.last.Root.WriteFile(f, []byte("new")); err == nil {
			t.Errorf("%s was written", f)
		}
	}
	if got := read(t, b.last.Root, run); got != "a result" {
		t.Errorf("the files of a run: %q", got)
	}
	if id, err := h.Snapshot(t.Context()); id != "" || err != nil {
		t.Errorf("a snapshot: %q, %v", id, err)
	}
	n.Turn.Take, n.Again, n.Write = 2, true, true
	h = open(t, k, n)
	if got := read(t, b.last.Root, "scratch/a.txt"); got != "kept" {
		t.Errorf("after a cut turn: %q", got)
	}
	if w, err := h.Written(t.Context()); w.Total != 0 || err != nil {
		t.Errorf("written: %+v, %v", w, err)
	}
	if _, err := os.Stat(filepath.Join(b.Home, ".git")); err == nil {
		t.Error("a repository was made in the workspace of sessions")
	}
	n.Planning = true
	open(t, k, n)
	if err := b.last.Root.WriteFile("x", nil); err == nil || !strings.Contains(err.Error(), "read") {
		t.Errorf("planning wrote: %v", err)
	}
}

// While only planning is allowed the files of the plan may be written, and
// nothing else.
func TestDrafts(t *testing.T) {
	b := newBench(t)
	b.Run, b.Home = nil, filepath.Join(b.State, "jobs", "job-1")
	for _, name := range []string{"plan.md", "todos.yaml", "documents/a.md"} {
		write(t, filepath.Join(b.Home, name), "old")
	}
	b.Drafts = []string{filepath.Join(b.Home, "plan.md")}
	b.Kept = func() []string {
		return []string{filepath.Join(b.Home, "documents"), filepath.Join(b.Home, "todos.yaml")}
	}
	k := b.kit(t, "agent1", gear.Gear{Files: true})
	try := func(planning bool, may ...string) {
		open(t, k, agent.Need{Turn: event.Turn{Round: 1, Take: 1}, Role: event.RoleWork, Planning: planning})
		for _, name := range []string{"plan.md", "todos.yaml", "documents/a.md", "output/x.md", ".git/config", "new.md"} {
			if err := b.last.Root.WriteFile(name, []byte("new")); (err == nil) != slices.Contains(may, name) {
				t.Errorf("planning %v, writing %s: %v", planning, name, err)
			}
		}
		for _, name := range []string{"plan.md", "documents/a.md"} {
			if b.last.Root.Remove(name) == nil && !slices.Contains(may, "new.md") {
				t.Errorf("planning %v, %s was deleted", planning, name)
			}
		}
	}
	try(true, "plan.md")
	try(false, "plan.md", "output/x.md", "new.md")
}
