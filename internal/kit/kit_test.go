package kit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/internal/agent"
	"conclave/internal/confine"
	"conclave/internal/event"
	"conclave/internal/gear"
	"conclave/internal/kit"
	"conclave/internal/policy"
	"conclave/internal/sandbox"
	"conclave/internal/tool"
	"conclave/internal/workspace"

	"github.com/google/go-cmp/cmp"
)

// bench is a workshop in a temporary project, and what the tools of its agents
// were last made from.
type bench struct {
	*kit.Workshop
	project string
	last    *kit.Bench
	engine  *engine
}

func newBench(t *testing.T, paths ...event.ContextPath) *bench {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("git is not installed")
		}
		t.Skip("git is not installed")
	}
	project, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(project, ".conclave")
	dir := filepath.Join(state, "runs", "run-1")
	run, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	given, err := kit.OpenGiven(filepath.Join(state, "permissions.json"))
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{project: project, engine: &engine{}}
	b.Workshop = &kit.Workshop{
		Flow: "run-1", Run: run, State: state, Env: os.LookupEnv, Given: given,
		Spec:    event.RunSpec{Dir: dir, ContextPaths: paths},
		Engine:  func(context.Context, gear.Shell) (sandbox.Engine, error) { return b.engine, nil },
		Sources: []kit.Source{func(_ context.Context, k *kit.Bench) ([]tool.Tool, error) { b.last = k; return nil, nil }},
	}
	return b
}

func (b *bench) kit(t *testing.T, label event.Label, g gear.Gear) *kit.Kit {
	t.Helper()
	p, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	k, err := b.Kit(event.Seat{Agent: event.AgentID("the-" + string(label)), Label: label, Gear: p})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	return k
}

func open(t *testing.T, k *kit.Kit, n agent.Need) agent.Hand {
	t.Helper()
	h, err := k.Open(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, r *confine.Root, file string) string {
	t.Helper()
	p, err := r.ReadFile(file, 1<<20)
	if err != nil {
		return "error: " + err.Error()
	}
	return string(p)
}

// engine is a sandbox that keeps what it is asked for.
type engine struct {
	opened []sandbox.Spec
	open   int
}

func (e *engine) Name() string                { return "fake" }
func (e *engine) Probe(context.Context) error { return nil }
func (e *engine) Open(_ context.Context, s sandbox.Spec) (sandbox.Box, error) {
	e.opened = append(e.opened, s)
	e.open++
	return &fakeBox{e}, nil
}

type fakeBox struct{ e *engine }

func (b *fakeBox) Start(context.Context, sandbox.Command) (sandbox.Process, error) {
	return ended{}, nil
}
func (b *fakeBox) Close() error { b.e.open--; return nil }

type ended struct{}

func (ended) Wait() (int, error) { return 0, nil }
func (ended) Stop()              {}

var work = agent.Need{Turn: event.Turn{Round: 1, Take: 1}, Role: event.RoleWork}

// TM-11.1 TM-11.2 While agents coordinate nobody writes the user's files; a turn
// that may write them does, but for what is protected. .git and the program's
// own state stay out of reach either way.
func TestContextPathRights(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"a.txt", "keep/b.txt", ".git/config", ".conclave/secret"} {
		write(t, filepath.Join(dir, f), "old")
	}
	b := newBench(t, event.ContextPath{Path: dir, Write: true, Protected: []string{"keep"}})
	k := b.kit(t, "agent1", gear.Gear{Files: true})

	h := open(t, k, work)
	if err := b.last.Root.WriteFile(filepath.Join(dir, "a.txt"), []byte("new")); err == nil {
		t.Error("written while agents coordinate")
	}
	if got := read(t, b.last.Root, filepath.Join(dir, "a.txt")); got != "old" {
		t.Errorf("read %q", got)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}

	n := work
	n.Role, n.Write = event.RolePresent, true
	h = open(t, k, n)
	r := b.last.Root
	if err := r.WriteFile(filepath.Join(dir, "a.txt"), []byte("new")); err != nil {
		t.Errorf("not written by the presenter: %v", err)
	}
	for _, f := range []string{"keep/b.txt", "keep/new.txt", ".git/config", ".conclave/secret"} {
		if err := r.WriteFile(filepath.Join(dir, f), []byte("new")); err == nil {
			t.Errorf("%s was written", f)
		}
	}
	if got := read(t, r, filepath.Join(dir, ".conclave/secret")); !strings.HasPrefix(got, "error") {
		t.Errorf("the program's state can be read: %q", got)
	}
	// TM-13.1 The files are remembered before they can be written.
	w, err := h.Written(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(event.Written{Total: 1, Changes: []event.Change{{Path: filepath.Join(dir, "a.txt"), Kind: event.ChangeModified}}}, w); diff != "" {
		t.Error(diff)
	}
}

// While planning nothing can be written and no command run.
func TestPlanningOnlyLooks(t *testing.T) {
	b := newBench(t)
	n := work
	n.Planning, n.Write = true, true
	open(t, b.kit(t, "agent1", gear.Gear{Files: true, Shell: &gear.Shell{}}), n)
	if err := b.last.Root.WriteFile("x", nil); err == nil {
		t.Error("a file was written while planning")
	}
	if b.last.Box != nil {
		t.Error("commands can be run while planning")
	}
}

// An agent reads the others' workspaces as they were with their answers, under
// their labels, and cannot change them; it sees nothing else of them.
func TestPeersAreReadFromSnapshots(t *testing.T) {
	b := newBench(t)
	one, two := b.kit(t, "agent1", gear.Gear{Files: true}), b.kit(t, "agent2", gear.Gear{Files: true})
	h1 := open(t, one, work)
	if err := b.last.Root.WriteFile("report.md", []byte("as answered")); err != nil {
		t.Fatal(err)
	}
	id, err := h1.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := b.last.Root.WriteFile("report.md", []byte("changed afterwards")); err != nil {
		t.Fatal(err)
	}
	first := b.last.Dir

	n := work
	n.Peers = []agent.Peer{{Label: "agent1", Revision: 1, Snapshot: id}}
	h2 := open(t, two, n)
	folders := h2.Scene().Folders
	if len(folders) != 1 || folders[0].Label != "agent1.1" || strings.Contains(folders[0].Dir, "the-agent1") {
		t.Fatalf("shown: %+v", folders)
	}
	if want := b.Spec.SnapshotDir("agent1", id); folders[0].Dir != want {
		t.Errorf("the snapshot is in %s, results say %s", folders[0].Dir, want)
	}
	r := b.last.Root
	if got := read(t, r, filepath.Join(folders[0].Dir, "report.md")); got != "as answered" {
		t.Errorf("read %q", got)
	}
	if err := r.WriteFile(filepath.Join(folders[0].Dir, "report.md"), nil); err == nil {
		t.Error("a snapshot was written")
	}
	if got := read(t, r, filepath.Join(first, "report.md")); !strings.HasPrefix(got, "error") {
		t.Errorf("the other's live workspace can be read: %q", got)
	}
}

// News in mid-turn brings the workspace behind it into reach: of file tools at
// once, of commands with the next one.
func TestNewsIsMounted(t *testing.T) {
	b := newBench(t)
	g := gear.Gear{Files: true, Shell: &gear.Shell{Network: "none"}}
	one, two := b.kit(t, "agent1", g), b.kit(t, "agent2", g)
	h1 := open(t, one, work)
	if err := b.last.Root.WriteFile("x", []byte("y")); err != nil {
		t.Fatal(err)
	}
	id, err := h1.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h2 := open(t, two, work)
	run := func() {
		p, err := b.last.Box.Start(t.Context(), sandbox.Command{Argv: []string{"true"}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	run()
	run()
	if n := len(b.engine.opened); n != 1 {
		t.Errorf("%d boxes were opened for two commands", n)
	}
	folders, err := h2.Show(t.Context(), []agent.Peer{{Label: "agent1", Revision: 1, Snapshot: id}})
	if err != nil || len(folders) != 1 {
		t.Fatalf("%v, %v", folders, err)
	}
	if got := read(t, b.last.Root, filepath.Join(folders[0].Dir, "x")); got != "y" {
		t.Errorf("read %q", got)
	}
	run()
	last := b.engine.opened[len(b.engine.opened)-1]
	if len(b.engine.opened) != 2 || !slices.ContainsFunc(last.Place.Mounts, func(m policy.Mount) bool { return m.Path == folders[0].Dir && !m.Write }) {
		t.Errorf("commands do not see it: %+v", last.Place)
	}
	if err := h2.Close(); err != nil || b.engine.open != 0 {
		t.Errorf("%d boxes are left open, %v", b.engine.open, err)
	}
}

// A take that was cut is taken again from the workspace of the last answer; a
// presenter goes on with what is there.
func TestWorkspaceIsPutBack(t *testing.T) {
	b := newBench(t)
	k := b.kit(t, "agent1", gear.Gear{Files: true})
	h := open(t, k, work)
	if err := b.last.Root.WriteFile("a", []byte("answered")); err != nil {
		t.Fatal(err)
	}
	id, err := h.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mess := func() {
		if err := os.WriteFile(filepath.Join(b.last.Dir, "a"), []byte("half done"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	mess()
	n := work
	n.Again, n.Snapshot = true, id
	open(t, k, n)
	if got := read(t, b.last.Root, "a"); got != "answered" {
		t.Errorf("the second take begins with %q", got)
	}
	mess()
	n.Role = event.RolePresent
	open(t, k, n)
	if got := read(t, b.last.Root, "a"); got != "half done" {
		t.Errorf("the presenter begins with %q", got)
	}
	n.Role, n.Write = event.RoleWork, true // alone and quick: it writes all along
	open(t, k, n)
	if got := read(t, b.last.Root, "a"); got != "half done" {
		t.Errorf("who writes the user's files begins again with %q", got)
	}
}

// A project's own instructions are found in its context paths, once.
func TestInstructions(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "AGENTS.md"), "Use tabs.\n")
	if err := os.Symlink("AGENTS.md", filepath.Join(dir, "CLAUDE.md")); err != nil {
		t.Skip(err)
	}
	other, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(other, "CLAUDE.md"), strings.Repeat("long ", 20_000))
	b := newBench(t, event.ContextPath{Path: dir}, event.ContextPath{Path: other})
	h := open(t, b.kit(t, "agent1", gear.Gear{Files: true}), work)
	got := h.Scene().Instructions
	if len(got) != 2 || got[0].Text != "Use tabs." || len(got[1].Text) > 40<<10 || !strings.Contains(got[1].Text, "cut off here") {
		t.Errorf("found %d: %.100v", len(got), got)
	}
}

// What an agent's commands are given of the environment is what its gear names.
func TestEnvironmentOfCommands(t *testing.T) {
	t.Setenv("KIT_SECRET", "s3cret")
	t.Setenv("KIT_OTHER", "no")
	b := newBench(t)
	open(t, b.kit(t, "agent1", gear.Gear{Shell: &gear.Shell{Env: []string{"KIT_SECRET", "KIT_MISSING"}, Set: map[string]string{"TOKEN": "x-${KIT_SECRET}"}, Network: "bridge", Memory: 1 << 20}}), work)
	if _, err := b.last.Box.Start(t.Context(), sandbox.Command{Argv: []string{"true"}}); err != nil {
		t.Fatal(err)
	}
	s := b.engine.opened[0]
	slices.Sort(s.Env)
	if diff := cmp.Diff([]string{"KIT_SECRET=s3cret", "TOKEN=x-s3cret"}, s.Env); diff != "" {
		t.Error(diff)
	}
	if !s.Network || s.Limits.Memory != 1<<20 || s.Owner != "agent1" || s.Flow != "run-1" {
		t.Errorf("opened %+v", s)
	}
}

// What was permitted for good is permitted in the next run too, and nothing but
// exactly that.
func TestGivenForGood(t *testing.T) {
	b := newBench(t)
	a := policy.Action{Tool: "shell", Kind: policy.Command, Target: "make", Dir: "/src"}
	if err := b.Given.Add(a); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(b.Given.File)
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	again, err := kit.OpenGiven(b.Given.File)
	if err != nil {
		t.Fatal(err)
	}
	p := policy.Permissions{Given: again.All()}
	if v := p.Judge(a); v.Decision != policy.Allow {
		t.Errorf("judged %+v", v)
	}
	a.Dir = "/elsewhere"
	if v := p.Judge(a); v.Decision != policy.Ask {
		t.Errorf("another action is judged %+v", v)
	}
	write(t, b.Given.File, "{broken")
	if _, err := kit.OpenGiven(b.Given.File); err == nil || !strings.Contains(err.Error(), b.Given.File) {
		t.Errorf("a broken file is read: %v", err)
	}
}

func TestExpand(t *testing.T) {
	env := func(name string) (string, bool) { return "v" + name, name != "NONE" }
	for in, want := range map[string]string{
		"${A} and ${B_2}": "vA and vB_2", "$A stays": "$A stays", "$${A} too": "${A} too", "": "", "${": "${", "${1}": "${1}",
	} {
		if got, err := kit.Expand(in, env); got != want || err != nil {
			t.Errorf("%q became %q, %v", in, got, err)
		}
	}
	if _, err := kit.Expand("x${NONE}", env); err == nil || !strings.Contains(err.Error(), "NONE") {
		t.Errorf("%v", err)
	}
}

// Instructions that are too long are cut, and say so; none that there was room
// for is dropped.
func TestLongInstructions(t *testing.T) {
	var paths []event.ContextPath
	for i := range 4 {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "AGENTS.md"), strings.Repeat(fmt.Sprintf("Rule of project %d.\n", i), 3000))
		paths = append(paths, event.ContextPath{Path: dir})
	}
	b := newBench(t, paths...)
	got := open(t, b.kit(t, "agent1", gear.Gear{Files: true}), work).Scene().Instructions
	if len(got) != 3 {
		t.Fatalf("%d files are taken in", len(got))
	}
	for _, x := range got {
		if !strings.HasSuffix(x.Text, "for the rest]") {
			t.Errorf("%s ends with %q", x.Name, x.Text[len(x.Text)-40:])
		}
	}
}

// More tools than a provider takes are not offered, and the user is told, once.
func TestTooManyTools(t *testing.T) {
	b := newBench(t)
	b.Sources = []kit.Source{func(context.Context, *kit.Bench) ([]tool.Tool, error) { return make([]tool.Tool, 0), nil },
		func(context.Context, *kit.Bench) ([]tool.Tool, error) {
			var out []tool.Tool
			for i := range 300 {
				out = append(out, named(fmt.Sprint("t", i)))
			}
			return out, nil
		}}
	k := b.kit(t, "agent1", gear.Gear{Plan: true, Except: []string{"t1*"}})
	h := open(t, k, work)
	if n := len(h.Tools()); n != 120 || h.Tools()[0].Name() != "t0" || h.Tools()[1].Name() != "t2" {
		t.Errorf("%d tools are offered", n)
	}
	if n := h.Notices(); len(n) != 1 || !strings.Contains(n[0], "allowed_tools") {
		t.Errorf("noticed %q", n)
	}
	if n := open(t, k, work).Notices(); len(n) != 0 {
		t.Errorf("noticed again %q", n)
	}
}

// named is a tool that has nothing but a name.
type named string

func (n named) Name() string          { return string(n) }
func (named) Description() string     { return "does nothing" }
func (named) Schema() json.RawMessage { return nil }
func (named) Tier() tool.Tier         { return tool.Read }
func (named) Run(context.Context, json.RawMessage) (tool.Result, error) {
	return tool.Result{}, nil
}
