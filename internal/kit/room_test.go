package kit_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/internal/agent"
	"conclave/internal/backend"
	"conclave/internal/event"
	"conclave/internal/gear"
	"conclave/internal/kit"
	"conclave/internal/policy"
	"conclave/internal/tool"
)

// rights is what a place says of a path, by the mount that decides.
func rights(p policy.Place, path string) string {
	best := policy.Mount{}
	for _, m := range p.Mounts {
		in, err := filepath.Rel(m.Path, path)
		if err == nil && filepath.IsLocal(in) && len(m.Path) > len(best.Path) {
			best = m
		}
	}
	switch {
	case best.Path == "" || slices.ContainsFunc(best.Hidden, func(h string) bool { return strings.HasPrefix(path+"/", h+"/") }):
		return "none"
	case best.Write:
		return "write"
	}
	return "read"
}

func start(t *testing.T, r backend.Room) {
	t.Helper()
	if _, err := r.Start(t.Context(), backend.Start{Argv: []string{"/bin/agent"}}); err != nil {
		t.Fatal(err)
	}
}

// An agent that is a program runs in a room of its own: its workspace, a home whose
// name tells nothing of it, what its program needs, and a network. It has no tools
// of ours for files and commands.
func TestRoom(t *testing.T) {
	b := newBench(t)
	b.Program = func(s event.Seat) ([]policy.Mount, error) {
		return []policy.Mount{{Path: "/home/me/bin"}}, nil
	}
	k := b.kit(t, "agent1", gear.Gear{Own: true, Files: true, Shell: &gear.Shell{Set: map[string]string{"A": "1", "B": "2", "C": "3"}}})
	h := open(t, k, work)
	r := h.Room()
	if r == nil || b.last.Box != nil || b.last.Gear.Files {
		t.Fatalf("its room is %v, its box %v", r, b.last.Box)
	}
	home := filepath.Join(b.project, ".conclave/cli/run-1/agent1")
	info, err := os.Stat(home)
	if r.Home() != home || err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its home is %s (%v, %v)", r.Home(), info, err)
	}
	if r.Dir() != filepath.Join(b.project, ".conclave/runs/run-1/agent1") || r.ReadOnly() || !r.Boxed() {
		t.Errorf("it works in %s", r.Dir())
	}
	if !h.Scene().Own || h.Scene().Shell == "" {
		t.Errorf("it is told %+v", h.Scene())
	}
	start(t, r)
	start(t, r)
	if len(b.engine.opened) != 1 {
		t.Fatalf("%d boxes were opened", len(b.engine.opened))
	}
	spec := b.engine.opened[0]
	if !spec.Network {
		t.Error("it cannot reach its model")
	}
	for path, want := range map[string]string{
		r.Dir(): "write", home: "write", "/home/me/bin/x": "read",
		filepath.Join(b.project, ".conclave/conclave.db"):                 "none",
		filepath.Join(b.project, ".conclave/runs/run-1/agent2"):           "none",
		filepath.Join(b.project, ".conclave/runs/run-1/snapshots/agent2"): "none",
		filepath.Join(b.project, ".conclave/cli/run-1/agent2"):            "none",
	} {
		if got := rights(spec.Place, path); got != want {
			t.Errorf("its right to %s is %s, want %s", path, got, want)
		}
	}
	if plain := b.kit(t, "agent2", gear.Gear{Files: true}); open(t, plain, work).Room() != nil {
		t.Error("an agent that is none has a room")
	}
}

// The room stays the same from turn to turn, also when the answers of others come,
// whose workspaces are then in reach at once and not before. Other rights are
// another room, and end what runs in the one before.
func TestRoomFromTurnToTurn(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, event.ContextPath{Path: dir, Write: true})
	other := b.kit(t, "agent2", gear.Gear{Files: true})
	theirs := open(t, other, work)
	if err := b.last.Root.WriteFile("made.txt", []byte("by agent2")); err != nil {
		t.Fatal(err)
	}
	snapshot, err := theirs.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	k := b.kit(t, "agent1", gear.Gear{Own: true, Files: true})
	one := open(t, k, work)
	first := one.Room()
	start(t, first)
	seen := filepath.Join(b.project, ".conclave/cli/run-1/agent1-seen")
	if left, err := os.ReadDir(seen); err != nil || len(left) > 0 {
		t.Errorf("before it hears of an answer it sees %v (%v)", left, err)
	}
	folders, err := one.Show(t.Context(), []agent.Peer{{Label: "agent2", Revision: 1, Snapshot: snapshot}})
	if err != nil || len(folders) != 1 || filepath.Dir(folders[0].Dir) != seen {
		t.Fatalf("shown %v, %v", folders, err)
	}
	if got, err := os.ReadFile(filepath.Join(folders[0].Dir, "made.txt")); string(got) != "by agent2" {
		t.Errorf("it reads %q, %v", got, err)
	}
	if got := rights(b.engine.opened[0].Place, folders[0].Dir); got != "read" {
		t.Errorf("a room that was there before has the right to %s it", got)
	}
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}

	next := work
	next.Turn.Round, next.Peers = 2, []agent.Peer{{Label: "agent2", Revision: 1, Snapshot: snapshot}}
	two := open(t, k, next)
	if two.Room().Key() != first.Key() {
		t.Error("the next turn is in another room")
	}
	start(t, two.Room())
	if len(b.engine.opened) != 1 || b.engine.open != 1 {
		t.Errorf("%d boxes were opened, %d are open", len(b.engine.opened), b.engine.open)
	}
	if got := two.Scene().Folders; len(got) != 1 || got[0].Dir != folders[0].Dir {
		t.Errorf("it is told of %v", got)
	}
	if err := two.Close(); err != nil {
		t.Fatal(err)
	}

	presents := work
	presents.Role, presents.Write = event.RolePresent, true
	three := open(t, k, presents)
	if three.Room().Key() == first.Key() || b.engine.open != 1 {
		t.Error("a presenter has the room of a voter")
	}
	start(t, three.Room())
	if len(b.engine.opened) != 2 || b.engine.open != 1 {
		t.Errorf("%d boxes were opened, %d are open", len(b.engine.opened), b.engine.open)
	}
	if got, was := rights(b.engine.opened[1].Place, dir), rights(b.engine.opened[0].Place, dir); got != "write" || was != "read" {
		t.Errorf("a presenter may %s the user's files, a voter %s them", got, was)
	}
	if err := k.Close(); err != nil || b.engine.open != 0 {
		t.Errorf("%d rooms are left (%v)", b.engine.open, err)
	}
	if _, err := three.Room().Start(t.Context(), backend.Start{Argv: []string{"x"}}); err == nil {
		t.Error("a program was started in a room that is closed")
	}
}

// What a program asks for is judged by the rules for its agent; in planning nothing
// is changed, whatever they say.
func TestRoomRules(t *testing.T) {
	b := newBench(t)
	k := b.kit(t, "agent1", gear.Gear{Own: true, Permissions: policy.Permissions{Ask: []string{"command(git push *)"}}})
	h := open(t, k, work)
	planning := work
	planning.Planning = true
	judged := func(h agent.Hand, kind policy.Kind, target string) policy.Decision {
		a, v := h.Rule(policy.Action{Tool: "X", Kind: kind, Target: target})
		if !a.Boxed || a.Dir != h.Room().Dir() {
			t.Errorf("judged is %+v", a)
		}
		return v.Decision
	}
	for _, tt := range []struct {
		kind   policy.Kind
		target string
		want   policy.Decision
	}{{policy.Command, "ls", policy.Allow}, {policy.Command, "git push", policy.Ask}, {policy.Write, "/x", policy.Allow}} {
		if got := judged(h, tt.kind, tt.target); got != tt.want {
			t.Errorf("%s %s is %s", tt.kind, tt.target, got)
		}
	}
	plan := open(t, b.kit(t, "agent2", gear.Gear{Own: true}), planning)
	if got := judged(plan, policy.Write, "/x"); got != policy.Deny || !plan.Room().ReadOnly() {
		t.Errorf("in planning a file is written: %s", got)
	}
	if got := judged(plan, policy.Command, "ls"); got != policy.Allow {
		t.Errorf("in planning nothing can be looked at: %s", got)
	}
}

// Where drafts alone may be written, a program is given tools of ours for them.
func TestRoomDrafts(t *testing.T) {
	b := newBench(t)
	home := filepath.Join(b.project, "job")
	write(t, filepath.Join(home, "plan.md"), "")
	b.Workshop = &kit.Workshop{
		Flow: "job-1", Home: home, Drafts: []string{filepath.Join(home, "plan.md")}, State: b.State, Env: os.LookupEnv, Engine: b.Engine,
		Sources: []kit.Source{func(_ context.Context, k *kit.Bench) ([]tool.Tool, error) { b.last = k; return nil, nil }},
	}
	k := b.kit(t, "", gear.Gear{Own: true, Files: true})
	planning := work
	planning.Planning = true
	h := open(t, k, planning)
	if !b.last.Gear.Files || !h.Room().ReadOnly() || filepath.Base(h.Room().Home()) != "agent" {
		t.Errorf("files: %v, in %s", b.last.Gear.Files, h.Room().Home())
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if open(t, k, work); b.last.Gear.Files {
		t.Error("it is given tools it has")
	}
}

// In planning nothing may be changed, wherever the user's commands may otherwise.
func TestRoomOfPlanning(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, event.ContextPath{Path: t.TempDir(), Write: true})
	planning := work
	planning.Planning, planning.Write = true, true
	h := open(t, b.kit(t, "agent1", gear.Gear{Own: true, Shell: &gear.Shell{Mounts: []policy.Mount{{Path: dir, Write: true}}}}), planning)
	start(t, h.Room())
	for _, m := range b.engine.opened[0].Place.Mounts {
		if m.Write && m.Path != h.Room().Home() {
			t.Errorf("%s may be written to", m.Path)
		}
	}
}
