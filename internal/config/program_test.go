package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/config"
	"conclave/internal/gear"

	"github.com/google/go-cmp/cmp"
)

// A program has an address and a key like a model, works in a room that is made of
// what is said of commands, and has tools of its own.
func TestPrograms(t *testing.T) {
	t.Setenv("MINE", "x")
	f := mustParse(t, `agents:
  - {id: a, backend: {type: claude_code, model: opus, base_url: "https://gate.example", api_key: "${MINE}", shell: {sandbox: docker, image: mine}}}
  - {id: b, backend: {type: codex, permissions: {rules: {ask: [command]}}}}
`)
	if len(f.Warnings) > 0 {
		t.Error(lines(f.Warnings))
	}
	a, b := f.Agents[0], f.Agents[1]
	want := backend.Program{Provider: "claude_code", Model: "opus", BaseURL: "https://gate.example", Key: backend.Key{Env: []string{"MINE"}}}
	if d := cmp.Diff(want, a.CLI); d != "" || a.API.Provider != "" {
		t.Errorf("%s %+v", d, a.API)
	}
	if d := cmp.Diff(&gear.Shell{Sandbox: "docker", Image: "mine", Network: "bridge"}, a.Gear.Shell); d != "" || !a.Gear.Own || !a.Gear.Files {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"command"}, b.Gear.Permissions.Ask); d != "" || !b.Gear.Own || b.Gear.Shell == nil || b.Model != "" {
		t.Errorf("%+v %s", b, d)
	}
}

// A key that is written out stays in the file, as that of a model does.
func TestProgramKeyInFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "team.yaml")
	if err := os.WriteFile(file, []byte("agents:\n  - {id: a, backend: {type: codex, api_key: sk-written-out-in-the-file}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(backend.Key{File: file, Agent: "a"}, f.Agents[0].CLI.Key); d != "" {
		t.Error(d)
	}
	if key, err := config.Secret(file, "a"); key != "sk-written-out-in-the-file" || err != nil {
		t.Errorf("%q, %v", key, err)
	}
}

func TestProgramRefusals(t *testing.T) {
	t.Setenv("MINE", "x")
	for _, tt := range []struct{ yaml, want string }{
		{"{type: acp}", "team.yaml:4:7: command is missing; an acp backend needs it: the program that speaks the protocol, with its arguments"},
		{"{type: claude_code, login: true, api_key: '${MINE}'}", "team.yaml:4:34: login and api_key contradict each other; leave one of them out"},
		{"{type: claude_code, login: true, base_url: 'https://gate.example'}", "team.yaml:4:34: login and base_url contradict each other: a login is for its own place alone; leave one of them out"},
		{"{type: claude_code, temperature: 1}", "team.yaml:4:27: temperature has no effect: it is for models that are asked by their API"},
		{"{type: claude_code, shell: false}", "team.yaml:4:27: shell has no effect: the program runs commands by itself; deny them: permissions: {rules: {deny: [command]}}"},
		{"{type: claude_code, files: false}", "team.yaml:4:27: files has no effect: the program has tools of its own for files; deny them under permissions.rules"},
		{"{type: claude_code, env: {TOKEN: sk-0123456789abcdef0123}}", "team.yaml:4:33: this looks like a secret, and TOKEN is written to the log; put it into the environment and write ${NAME_OF_THE_VARIABLE}"},
		{"{type: codex, permission_mode: plan}", `team.yaml:4:21: "permission_mode" is not supported yet and has no effect; permissions.rules decide what an agent may do, and its sandbox what it can`},
		{"{type: claude, model: m, command: x}", "team.yaml:4:32: command has no effect: it is for claude_code, codex or acp backends"},
		{"{type: codex, turn_timeout_seconds: 0}", "team.yaml:4:43: turn_timeout_seconds must be a number of seconds above 0, not 0"},
	} {
		if got := said(t, "agents:\n  - id: a\n    backend:\n      "+tt.yaml+"\n"); got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.yaml, got, tt.want)
		}
	}
}
