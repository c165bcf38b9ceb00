package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/config"
	"conclave/internal/event"

	"github.com/google/go-cmp/cmp"
)

// team is the shortest configuration there is.
const team = `agents:
  - id: a
    backend: {type: demo, persona: sceptic}
`

func mustParse(t *testing.T, src string) *config.File {
	t.Helper()
	f, err := config.Parse("team.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// said is everything Parse has to say, one problem on a line.
func said(t *testing.T, src string) string {
	t.Helper()
	f, err := config.Parse("team.yaml", []byte(src))
	if err != nil {
		if e, ok := errors.AsType[*config.Error](err); !ok || f != nil || len(e.Problems) == 0 {
			t.Fatalf("Parse returned %v and %v", f, err)
		}
		return err.Error()
	}
	return lines(f.Warnings)
}

func lines(problems []config.Problem) string {
	var out []string
	for _, p := range problems {
		if !p.Warning {
			out = append(out, "not a warning: "+p.String())
			continue
		}
		out = append(out, p.String())
	}
	return strings.Join(out, "\n")
}

func TestAgents(t *testing.T) {
	dir := t.TempDir()
	src := `
agents:
  - id: first one
    backend:
      type: script
      script: scripts/a.yaml
      model: rehearsal
      pace: 0.5
    system_message: |
      Be brief.
  - id: "2.5-flash"
    backend: {type: demo, persona: theorist, pace: 0}
  - {id: c, backend: {type: script, script: /scripts/c.yaml}, system_message: null}
`
	f, err := config.Parse(filepath.Join(dir, "team.yaml"), []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	want := []config.Agent{
		{ID: "first one", Backend: "script", Model: "rehearsal", Script: filepath.Join(dir, "scripts/a.yaml"), Pace: new(0.5), Prompt: "Be brief.\n"},
		{ID: "2.5-flash", Backend: "demo", Persona: "theorist", Pace: new(0.0)},
		{ID: "c", Backend: "script", Script: "/scripts/c.yaml"},
	}
	if d := cmp.Diff(want, f.Agents); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(config.Settings{}, f.Settings); d != "" {
		t.Errorf("settings that were not made: %s", d)
	}
	if f.Path != filepath.Join(dir, "team.yaml") || f.Warnings != nil {
		t.Errorf("path %q, warnings %v", f.Path, f.Warnings)
	}
}

func TestSingleAgent(t *testing.T) {
	f := mustParse(t, "agent: {id: a, backend: {type: demo, persona: sceptic}}\n")
	if d := cmp.Diff([]config.Agent{{ID: "a", Backend: "demo", Persona: "sceptic"}}, f.Agents); d != "" {
		t.Error(d)
	}
}

func TestScriptRelativeToConfiguration(t *testing.T) {
	t.Chdir(t.TempDir())
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", "/home/somebody")
	for script, want := range map[string]string{
		"a.yaml":     filepath.Join(wd, "conf", "a.yaml"),
		"../a.yaml":  filepath.Join(wd, "a.yaml"),
		"/s/a.yaml":  "/s/a.yaml",
		"~/a.yaml":   "/home/somebody/a.yaml",
		"~other/a.y": filepath.Join(wd, "conf", "~other", "a.y"),
	} {
		f, err := config.Parse("conf/team.yaml", []byte("agent: {id: a, backend: {type: script, script: "+script+"}}"))
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Agents[0].Script; got != want {
			t.Errorf("%s is %s, want %s", script, got, want)
		}
	}
}

func TestContextPaths(t *testing.T) {
	t.Chdir(t.TempDir())
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	f, err := config.Parse("/elsewhere/team.yaml", []byte(team+`orchestrator:
  context_paths:
    - path: src
      permission: write
      protected_paths: [gen, ./a/../b, `+filepath.Join(wd, "src", "c")+`]
    - {path: /data, permission: read}
    - {path: ., protected_paths: null}
    - docs
    - "~/notes.md"
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []event.ContextPath{
		{Path: filepath.Join(wd, "src"), Write: true, Protected: []string{"gen", "b", "c"}},
		{Path: "/data"},
		{Path: wd},
		{Path: filepath.Join(wd, "docs")},
		{Path: filepath.Join(home, "notes.md")},
	}
	if d := cmp.Diff(want, f.Settings.ContextPaths); d != "" {
		t.Error(d)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, src string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	script := write("a.yaml", "steps: []")
	good := write("good.yaml", "agent: {id: a, backend: {type: script, script: a.yaml}}")
	f, err := config.Load(good)
	if err != nil {
		t.Fatal(err)
	}
	if f.Path != good || f.Agents[0].Script != script {
		t.Errorf("%s names %s", f.Path, f.Agents[0].Script)
	}

	bad := write("bad.yaml", `agents:
  - {id: a, backend: {type: script, script: none.yaml}}
  - {id: b, backend: {type: script, script: .}}
  - {id: c, backend: {type: script, script: a.yaml}, pace: fast}
orchestrator:
  context_paths: [{path: `+filepath.Join(dir, "nowhere")+`}]
  max_tokens: lots
`)
	want := strings.Join([]string{
		bad + `:2:45: script "` + filepath.Join(dir, "none.yaml") + `" does not exist`,
		bad + `:3:45: script "` + dir + `" is not a file`,
		bad + `:4:54: unknown key "pace"; it belongs under agents[].backend`,
		bad + `:6:26: path "` + filepath.Join(dir, "nowhere") + `" does not exist`,
		bad + `:7:15: max_tokens must be a whole number from 0 up, not "lots"`,
	}, "\n")
	_, err = config.Load(bad)
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestLoadUnreadable(t *testing.T) {
	dir := t.TempDir()
	_, err := config.Load(filepath.Join(dir, "none.yaml"))
	if !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "read configuration: ") {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := config.Load(dir); err == nil {
		t.Error("a directory was read")
	}
	big := filepath.Join(dir, "big.yaml")
	if err := os.WriteFile(big, []byte(strings.Repeat("# filler\n", 10<<20/9)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = config.Load(big)
	if want := big + ":1:1: the configuration is larger than 1048576 bytes"; err == nil || err.Error() != want {
		t.Errorf("ten megabytes: %v", err)
	}
}

func TestProblem(t *testing.T) {
	_, err := config.Parse("team.yaml", []byte("agents:\n  - {id: a, backend: {type: demo, persona: nobody}}\nmemory: {}\n"))
	e, ok := errors.AsType[*config.Error](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	want := []config.Problem{
		{File: "team.yaml", Line: 2, Column: 44, Key: "agents[0].backend.persona", Text: "nobody",
			Excerpt: "  - {id: a, backend: {type: demo, persona: nobody}}",
			Message: `persona must be pragmatist, theorist, sceptic, host, planner, companion, leader, pm, architect, designer, front-end, back-end, qa or member, not "nobody"`},
		{File: "team.yaml", Line: 3, Column: 1, Key: "memory", Excerpt: "memory: …",
			Message: `"memory" is not supported yet and has no effect`, Warning: true},
	}
	if d := cmp.Diff(want, e.Problems); d != "" {
		t.Error(d)
	}
}
