package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/internal/event"
	"conclave/internal/project"
)

// Only publishing writes to the versions of a project: neither the agent of the
// session does, nor one of a run that is given the project.
func TestTalkVersionsStay(t *testing.T) {
	a := salon(t, ", require_approval: false")
	store := project.Store{Dir: a.state("workspace")}
	if _, err := store.Create(t.Context(), "kites", "Kites that fly."); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Publish(t.Context(), "kites", project.Publication{Path: "a.md", Content: strings.NewReader("first")}); err != nil {
		t.Fatal(err)
	}
	versions := filepath.Join(store.Root("kites"), "versions")
	for name, call := range map[string]string{
		"write": `{name: write, input: {path: projects/kites/versions/index/forged.json, content: x}}`,
		"move":  `{name: move, input: {from: projects/kites, to: scratch/kites}}`,
		"moved": `{name: move, input: {from: projects/kites/versions, to: scratch/versions}}`,
	} {
		a.hostScript(t, "name: host\nsteps:\n  - when: {reply: 1}\n    do: [{tool: "+call+"}]\n  - do: [{say: 'told: {{.Result}}'}]\n")
		k := a.talk(t, true).drive()
		if got := k.words(k.tell("go")); !strings.Contains(got, "protected") && !strings.Contains(got, "stays") {
			t.Errorf("%s: %s", name, got)
		}
		k.sound()
	}
	if v, err := store.Versions(t.Context(), "kites", "a.md"); err != nil || len(v) != 1 {
		t.Errorf("%+v, %v", v, err)
	}
	paths := []event.ContextPath{{Path: store.Dir, Write: true}, {Path: store.Root("kites"), Write: true}, {Path: versions, Write: true}, {Path: store.Dir}}
	guardVersions(paths, store.Dir)
	if !slices.Equal(paths[0].Protected, []string{"projects/kites/versions"}) || !slices.Equal(paths[1].Protected, []string{"versions"}) || paths[2].Write {
		t.Errorf("%+v", paths)
	}
	if _, err := os.Stat(versions); err != nil {
		t.Error(err)
	}
}

// A run that is launched with a project to write in is kept from its versions.
func TestTalkRunSparesVersions(t *testing.T) {
	a := salon(t, ", require_approval: false")
	store := project.Store{Dir: a.state("workspace")}
	p, err := store.Create(t.Context(), "kites", "Kites that fly.")
	if err != nil {
		t.Fatal(err)
	}
	a.hostScript(t, launches(`{task: go, agent_mode: single, context_paths: [{path: `+p.Dir+`, permission: write}]}`))
	k := a.talk(t, true).drive()
	turn := k.tell("go")
	got := k.started(turn.Runs[0].ID).Spec.ContextPaths
	if len(got) != 1 || !got[0].Write || !slices.Contains(got[0].Protected, "versions") {
		t.Errorf("%+v\n%s", got, k.words(turn))
	}
	k.sound()
}

// What lies in .git stays as it is, though a launch names it by itself: hooks are
// run by whoever uses the repository.
func TestTalkRunSparesRepositories(t *testing.T) {
	mine := real(t, t.TempDir())
	hooks := filepath.Join(mine, ".git", "hooks")
	if err := os.MkdirAll(hooks, 0o755); err != nil {
		t.Fatal(err)
	}
	a := salon(t, ", require_approval: false", "  context_paths: [{path: "+mine+", permission: write}]\n")
	for permission, want := range map[string]string{"write": "cannot be written", "read": "success/"} {
		a.hostScript(t, launches(`{task: go, agent_mode: single, context_paths: [{path: `+hooks+`, permission: `+permission+`}]}`))
		k := a.talk(t, true).drive()
		if got := k.words(k.tell("go")); !strings.Contains(got, want) {
			t.Errorf("%s: %s", permission, got)
		}
		k.sound()
	}
}
