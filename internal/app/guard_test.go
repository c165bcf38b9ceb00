package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/internal/control"
	"conclave/internal/event"
)

// link makes a link in a project.
func link(t *testing.T, a *App, to, name string) {
	t.Helper()
	if err := os.Symlink(to, filepath.Join(a.project, name)); err != nil {
		t.Skip(err)
	}
}

// A project cannot hand out what is outside of it by a link, whoever names it.
func TestLinksOutOfTheProject(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	a := bare(t, "")
	secrets, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link(t, a, secrets, "data")
	link(t, a, "src", "source")
	put(t, a, ".conclave/x", "src/x")
	own := filepath.Join(a.project, ".conclave", "config.yaml")
	agents := "agents: [{id: ada, backend: {type: script, script: ../agent.yaml, files: true, shell: {sandbox: host%s}}}]\n"
	for name, text := range map[string]string{
		"a context path": strings.Replace(agents, "%s", "", 1) + "orchestrator: {context_paths: [{path: " + filepath.Join(a.project, "data") + ", permission: write}]}\n",
		"a mount":        strings.Replace(agents, "%s", ", mounts: ["+filepath.Join(a.project, "data")+"]", 1),
	} {
		if err := os.WriteFile(own, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		q := control.Request{Task: "a task"}
		refused(t, a, q, "and it would")
		if _, risks, err := a.Trust(); err != nil || !slices.ContainsFunc(risks, func(s string) bool { return strings.HasSuffix(s, `data"`) }) {
			t.Errorf("%s: the risks are %q (%v)", name, risks, err)
		}
		// An agent may have made the link since.
		refused(t, a, q, "data leads over a link out of the project, to "+secrets)
	}
	for name, ok := range map[string]bool{"source": true, "data": false, secrets: true} {
		_, paths, _, err := a.material(t.Context(), nil, control.Request{Task: "x", Context: []event.ContextPath{{Path: name}}}, nil)
		if (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && paths[0].Path != secrets && paths[0].Path != filepath.Join(a.project, "src") {
			t.Errorf("%s is %s", name, paths[0].Path)
		}
	}
}

// A project is known by its real name, however it was reached: what is kept from
// agents is told by it.
func TestProjectBehindALink(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(base, "real", "project"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(base, "link")); err != nil {
		t.Skip(err)
	}
	a, err := Open(filepath.Join(base, "link", "project"))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if want := filepath.Join(base, "real", "project", ".conclave"); a.state() != want {
		t.Errorf("its state is in %s, not %s", a.state(), want)
	}
}

// Whatever context paths there are, agents cannot write what the program goes by
// the next time, even where it does not exist yet.
func TestConfigurationIsKept(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a := playground(t, "")
	t.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
	q := a.request()
	q.Context = []event.ContextPath{{Path: a.project, Write: true}, {Path: home, Write: true}}
	run, err := a.Prepare(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range run.Started.Spec.ContextPaths {
		want := []string{"team.yaml"}
		if p.Path == home {
			want = []string{"state/conclave", "config/conclave"}
		}
		if !p.Write || !slices.Equal(p.Protected, want) {
			t.Errorf("%+v, want %v to be protected", p, want)
		}
	}
	put(t, a, "tools/server.py")
	seat := event.Seat{Gear: []byte(`{"servers":[{"name":"x","command":["python3","-u","tools/server.py","team"]}]}`)}
	if got := a.programs([]event.Seat{seat}); !slices.Equal(got, []string{filepath.Join(a.project, "tools/server.py")}) {
		t.Errorf("the programs are %v", got)
	}
	q.Context = []event.ContextPath{{Path: filepath.Join(a.project, "team.yaml"), Write: true}}
	run, err = a.Prepare(t.Context(), q)
	if err != nil || run.Started.Spec.ContextPaths[0].Write {
		t.Errorf("the configuration itself: %+v, %v", run.Started.Spec.ContextPaths, err)
	}
}

// What is permitted for good is the user's word: a file that came with a project
// permits nothing.
func TestProjectPermitsNothing(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	a := playground(t, "")
	put(t, a, ".conclave/x")
	if err := os.WriteFile(filepath.Join(a.project, ".conclave", "permissions.json"), []byte(`[{"hash":"0123456789abcdef"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(a.state(), "runs", "run-1")
	shop, err := a.workshop("run-1", event.RunSpec{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if all := shop.Given.All(); len(all) != 0 || a.inside(shop.Given.File) {
		t.Errorf("%v is permitted, by %s", all, shop.Given.File)
	}
}
