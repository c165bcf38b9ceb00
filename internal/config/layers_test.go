package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/config"

	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, path, src string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The project's keys win, one by one; what it does not say is the user's; each
// knows where it was set.
func TestLayers(t *testing.T) {
	dir := t.TempDir()
	user := write(t, filepath.Join(dir, "user.yaml"), `agents: [{id: mine, backend: {type: demo, persona: sceptic}}]
orchestrator:
  max_tokens: 5
  max_cost: 1
  context_paths: [{path: `+dir+`}]
ui: {theme: dark}
`)
	project := write(t, filepath.Join(dir, "project.yaml"), `agents:
  - {id: ours, backend: {type: claude, model: m}}
orchestrator:
  max_cost: 2
  context_paths: []
`)
	f, err := config.LoadOver(user, project)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Agents) != 1 || f.Agents[0].ID != "ours" || *f.Settings.MaxTokens != 5 || *f.Settings.MaxCost != 2_000_000 || f.UI.Theme != "dark" || len(f.Settings.ContextPaths) != 0 {
		t.Errorf("%+v", f)
	}
	var got []string
	for _, o := range f.Origins {
		got = append(got, strings.TrimPrefix(o.File, dir+"/")+" "+o.Path+" "+o.Value)
	}
	want := []string{
		"project.yaml agents a list of 1", "project.yaml agents[0].backend.model m", "project.yaml agents[0].backend.type claude", "project.yaml agents[0].id ours",
		"project.yaml orchestrator.context_paths a list of 0", "project.yaml orchestrator.max_cost 2", "user.yaml orchestrator.max_tokens 5", "user.yaml ui.theme dark",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A user's file is enough where the project has none, with agents or without.
func TestUserFileAlone(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	if f, ok := config.UserFile(); ok || f != "" {
		t.Errorf("there is no file, and it is %q", f)
	}
	write(t, filepath.Join(dir, "conclave", "config.yaml"), "orchestrator: {max_cost: 1}\n")
	user, ok := config.UserFile()
	if !ok {
		t.Fatal("not found")
	}
	f, err := config.LoadOver(user, "")
	if err != nil || len(f.Agents) != 0 || f.Settings.MaxCost == nil {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := config.Load(user); err == nil {
		t.Error("a project without agents")
	}
}

// Problems of both files are told, each with its file; those of agents that the
// project replaces are not.
func TestProblemsOfLayers(t *testing.T) {
	dir := t.TempDir()
	user := write(t, filepath.Join(dir, "user.yaml"), "agents: [{id: a, backend: {type: openai, model: m, api_key: '${NO_SUCH_THING}'}}]\norchestrator: {max_cots: 1}\n")
	project := write(t, filepath.Join(dir, "project.yaml"), team+"orchestrator: {skip_votin: true}\n")
	f, err := config.LoadOver(user, project)
	if err != nil {
		t.Fatal(err)
	}
	want := user + ":2:16: unknown key \"max_cots\"; did you mean \"max_cost\"?\n" + project + ":4:16: unknown key \"skip_votin\"; did you mean \"skip_voting\"?"
	if got := lines(f.Warnings); got != want {
		t.Error(got)
	}
}

// Design §8: what agents may have written is not trusted.
func TestConfigurationOfAgents(t *testing.T) {
	dir := t.TempDir()
	inside := write(t, filepath.Join(dir, ".conclave", "runs", "run-1", "agent1", "config.yaml"), team)
	link := filepath.Join(dir, "link.yaml")
	if err := os.Symlink(inside, link); err != nil {
		t.Skip("symbolic links: ", err)
	}
	scratch := write(t, filepath.Join(dir, ".conclave", "workspace", "scratch", "config.yaml"), team)
	for _, p := range []string{inside, scratch, link} {
		if _, err := config.Load(p); err == nil || !strings.Contains(err.Error(), "where agents write") {
			t.Errorf("%s: %v", p, err)
		}
	}
}

// The presenter cannot rewrite the file that its next run is made from.
func TestConfigurationIsProtected(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	p := write(t, filepath.Join(dir, "conf", "team.yaml"), team+"orchestrator: {context_paths: [{path: ., permission: write}]}\n")
	f, err := config.Load(p)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Settings.ContextPaths[0].Protected; !cmp.Equal(got, []string{filepath.Join("conf", "team.yaml")}) {
		t.Errorf("protected are %v", got)
	}
}

func TestProjectFile(t *testing.T) {
	dir := t.TempDir()
	deep := filepath.Join(dir, "a", "b")
	want := write(t, filepath.Join(dir, ".conclave", "config.yaml"), team)
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	if got, ok := config.ProjectFile(deep); !ok || got != want {
		t.Errorf("%s, %v", got, ok)
	}
}
