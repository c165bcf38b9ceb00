package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/config"
)

const canary = "sk-canary-0123456789abcdef"

// Wherever a secret stands, written out or in the environment, it reaches no
// value, no warning and no error.
func TestNoSecretGetsOut(t *testing.T) {
	t.Setenv("THE_API_KEY", canary)
	t.Setenv("PLAIN", "nothing")
	places := []string{
		"api_key: X", "api_ky: X", "apikey: X", "organization: X", "base_url: https://X@h.example", "base_url: https://h.example/X", "model: X", "temperature: X",
		"extra_body: {a: X}", "extra_body: {a: [X]}", "extra_body: {X: 1}", "betas: [X]", "cwd: X", "allowed_tools: [X]", "web_search_endpoint: {url: X}",
		"web_search_endpoint: {url: 'https://x.example', key_env: X}",
		"mcp_servers: {s: {command: npx, env: {A: X}}}", "mcp_servers: {s: {command: npx, env: {A_TOKEN: X}}}", "mcp_servers: {s: {command: npx, args: [X]}}",
		"mcp_servers: {s: {command: X}}", "mcp_servers: {s: {command: [npx, X]}}", "mcp_servers: {s: {url: 'https://h.example/X'}}", "mcp_servers: {s: {url: 'https://X@h.example/'}}",
		"mcp_servers: {s: {url: 'https://h.example', headers: {Authorization: X}}}", "mcp_servers: {s: {url: 'https://h.example', headers: {Cookie: X}}}",
		"mcp_servers: {X: {command: npx}}", "mcp_servers: [{name: X, command: npx}]", "shell: {set: {A: X}}", "shell: {set: {PASSWORD: X}}", "shell: {env: [X]}", "shell: X",
		"permissions: {rules: {allow: [X]}}", "permissions: {rules: {allow: ['command(X)']}}", "{X", "X: 1", "command_line_blocked_commands: ['X']\nshell: true", "text: X", "seed: X",
	}
	for _, place := range places {
		for _, secret := range []string{canary, "${THE_API_KEY}", "'" + canary + "'", "Bearer " + canary} {
			src := "agents:\n  - id: a\n    backend:\n      type: vllm\n      model: m\n      " + strings.ReplaceAll(strings.ReplaceAll(place, "X", secret), "\n", "\n      ") + "\n"
			f, err := config.Parse("team.yaml", []byte(src))
			var all any = f
			if e, ok := errors.AsType[*config.Error](err); ok {
				all = e.Problems
			}
			text, no := json.Marshal(all)
			if no != nil {
				t.Fatal(no)
			}
			if err != nil {
				text = append(text, err.Error()...)
			}
			if out := string(text) + fmt.Sprintf("%+v", all); strings.Contains(out, canary) {
				t.Errorf("%s: got out: %s", strings.ReplaceAll(place, "X", secret), text)
			}
		}
	}
}

// A key that is written out stays in its file, and is read back from there.
func TestKeyWrittenOut(t *testing.T) {
	t.Setenv("HALF", "0123")
	p := write(t, filepath.Join(t.TempDir(), "team.yaml"), `agents:
  - {backend: {type: openai, model: m, api_key: `+canary+`}, id: first}
  - {id: second, backend: {type: claude, model: m, api_key: "x-${HALF}"}}
  - {id: third, backend: {type: claude, model: m}}
`)
	f, err := config.Load(p)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{canary, "x-0123"} {
		key := f.Agents[i].API.Key
		if key.File != p || key.Agent != string(f.Agents[i].ID) || len(key.Env) > 0 {
			t.Errorf("%+v", key)
		}
		if got, err := config.Secret(key.File, f.Agents[i].ID); err != nil || got != want {
			t.Errorf("%q, %v", got, err)
		}
	}
	if len(f.Warnings) != 2 || !strings.Contains(f.Warnings[0].Message, "written out") {
		t.Error(f.Warnings)
	}
	if got, err := config.Secret(p, "third"); err == nil {
		t.Errorf("there is none, and it is %q", got)
	}
	for _, o := range f.Origins {
		if strings.Contains(o.Value, canary) {
			t.Errorf("%s shows %s", o.Path, o.Value)
		}
	}
}
