package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/config"
	"conclave/internal/control"
)

// here is a control of which only the models that can be reached are asked for.
type here struct {
	control.Control
	found []control.Provider
}

func (h here) Providers(context.Context) []control.Provider { return h.found }

// command runs a command line in a directory.
func command(t *testing.T, dir string, found []control.Provider, input string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	s := Streams{In: strings.NewReader(input), Out: &out, Err: &err, InTerminal: input != "", ErrTerminal: input != "", Size: func() (int, int) { return 80, 24 }}
	open := func(string) (control.Control, func() error, error) {
		return here{found: found}, func() error { return nil }, nil
	}
	code = Main(append([]string{"-C", dir}, args...), s, "test", open)
	return code, out.String(), err.String()
}

// away keeps the user's own configuration out.
func away(t *testing.T) string {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	return t.TempDir()
}

func put(t *testing.T, path, src string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const brokenTeam = `agents:
  - id: a
    backend: {type: claude, model: m, temprature: 1, api_key: sk-hunter2hunter2}
orchestrator:
  skip_voting: maybe
`

func TestValidate(t *testing.T) {
	dir := away(t)
	p := put(t, filepath.Join(dir, "team.yaml"), brokenTeam)
	code, out, _ := command(t, dir, nil, "", "validate", p)
	want := p + `:5:16: error: skip_voting must be true or false, not "maybe"
    5 |   skip_voting: maybe
      |                ^

` + p + `:3:39: warning: unknown key "temprature"
    3 |     backend: {type: claude, model: m, temprature: …
      |                                       ^
        did you mean "temperature"?

` + p + `:3:54: warning: this key is written out: whoever reads the file has it
        put it into the environment and write ${NAME_OF_THE_VARIABLE}

` + p + `: not valid: 1 error, 2 warnings
`
	if code != 1 || out != want {
		t.Errorf("%d, got\n%s\nwant\n%s", code, out, want)
	}
}

func TestValidateJSON(t *testing.T) {
	dir := away(t)
	bad := put(t, filepath.Join(dir, "bad.yaml"), brokenTeam)
	good := put(t, filepath.Join(dir, "good.yaml"), "agents: [{id: a, backend: {type: claude, model: m}}]\norchestrator: {snapshot_storage: x}\n")
	doubtful := put(t, filepath.Join(dir, "doubtful.yaml"), "agents: [{id: a, backend: {type: claude, model: m}}]\nagnts: 1\n")
	for _, tt := range []struct {
		args []string
		code int
		want string // errors and warnings of each file
	}{
		{[]string{good}, 0, "0/0"},
		{[]string{good, bad}, 1, "0/0 1/2"},
		{[]string{doubtful}, 0, "0/1"},
		{[]string{"--strict", doubtful}, 1, "1/0"},
		{[]string{"--strict", good}, 0, "0/0"}, // a note is no warning
		{[]string{filepath.Join(dir, "none.yaml")}, 1, "1/0"},
	} {
		code, out, _ := command(t, dir, nil, "", append([]string{"validate", "--json"}, tt.args...)...)
		var r report
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatalf("%v: %v\n%s", tt.args, err, out)
		}
		var got []string
		for _, f := range r.Files {
			got = append(got, count(len(f.Errors), "")[:1]+"/"+count(len(f.Warnings), "")[:1])
		}
		if code != tt.code || strings.Join(got, " ") != tt.want || r.Valid != (code == 0) {
			t.Errorf("%v: exit %d, %v\n%s", tt.args, code, got, out)
		}
		if strings.Contains(out, "hunter2") {
			t.Errorf("a secret is shown: %s", out)
		}
	}
}

// Without a file it is what a run would read.
func TestValidateProject(t *testing.T) {
	dir := away(t)
	if code, _, err := command(t, dir, nil, "", "validate"); code != 1 || !strings.Contains(err, "conclave init") {
		t.Errorf("%d, %s", code, err)
	}
	put(t, filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "conclave", "config.yaml"), "orchestrator: {max_cost: 1}\n")
	put(t, filepath.Join(dir, ".conclave", "config.yaml"), "agents: [{id: a, backend: {type: claude, model: m}}]\n")
	if code, out, _ := command(t, dir, nil, "", "validate"); code != 0 || strings.Count(out, ": valid\n") != 2 {
		t.Errorf("%d, %s", code, out)
	}
}

func TestExplainKey(t *testing.T) {
	dir := away(t)
	put(t, filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "conclave", "config.yaml"), "orchestrator: {max_cost: 1}\n")
	p := put(t, filepath.Join(dir, ".conclave", "config.yaml"), "agents: [{id: a, backend: {type: claude, model: m, api_key: hunter2}}]\n")
	for _, tt := range []struct{ key, want string }{
		{"max_cost", "orchestrator.max_cost\n  How many dollars a run may spend.\n  value    an amount in dollars such as 2.50, with up to six decimals\n  default  no limit\n  set      1  (" + os.Getenv("XDG_CONFIG_HOME") + "/conclave/config.yaml:1, orchestrator.max_cost)\n"},
		{"backend.model", "set      m  (" + p + ":1, agents[0].backend.model)\n"},
		{"api_key", "set      (not shown)  ("},
		{"type", "words    demo, script, claude, openai, gemini"},
		{"voting_sensitivity", "not supported yet"},
	} {
		if code, out, err := command(t, dir, nil, "", "explain", tt.key); code != 0 || !strings.Contains(out, tt.want) || strings.Contains(out, "hunter2") {
			t.Errorf("%s: %d, %s%s", tt.key, code, out, err)
		}
	}
	if code, _, err := command(t, dir, nil, "", "explain", "temprature"); code != 1 || !strings.Contains(err, "did you mean temperature") {
		t.Errorf("%d, %s", code, err)
	}
	code, out, _ := command(t, dir, nil, "", "explain")
	if code != 0 || !strings.Contains(out, "* orchestrator.max_cost ") || !strings.Contains(out, "  agents[].backend.shell.sandbox ") || strings.Contains(out, "hunter2") {
		t.Errorf("%d, %s", code, out)
	}
}

func TestSchemaCommand(t *testing.T) {
	code, out, _ := command(t, away(t), nil, "", "schema")
	var v map[string]any
	if err := json.Unmarshal([]byte(out), &v); code != 0 || err != nil || v["$schema"] != "https://json-schema.org/draft/2020-12/schema" {
		t.Errorf("%d, %v", code, err)
	}
}

var reached = []control.Provider{
	{Type: "claude", Key: "ANTHROPIC_API_KEY", Model: "claude-opus-4-6"}, {Type: "ollama", Local: true, Model: "qwen3:8b"},
}

// What init writes passes the strictest check, however it was asked.
func TestInit(t *testing.T) {
	for _, tt := range []struct {
		name  string
		found []control.Provider
		input string
		args  []string
		want  string // type:model of each agent, then what else was set
	}{
		{"found", reached, "", nil, "claude:claude-opus-4-6 ollama:qwen3:8b"},
		{"nothing found", nil, "", []string{"--yes"}, "demo: demo: demo:"},
		{"one found", reached[:1], "", nil, "claude:claude-opus-4-6 claude:claude-opus-4-6"},
		{"flags", nil, "", []string{"--agents", "anthropic,groq", "--model", "groq=llama-3.3-70b", "--shell", "--max-cost", "2.50"}, "claude:claude-opus-4-6 groq:llama-3.3-70b shell $2.50"},
		{"models in order", nil, "", []string{"--agents", "openai,openai", "--model", "gpt-5", "--model", "gpt-5-mini"}, "openai:gpt-5 openai:gpt-5-mini"},
		{"asked, all by Enter", reached, "\n\n\n\n\n", nil, "claude:claude-opus-4-6 ollama:qwen3:8b"},
		{"asked", reached, "openai,claude\ngpt-5\n\ny\n3\n", nil, "openai:gpt-5 claude:claude-opus-4-6 shell $3.00"},
		{"asked for the rest", reached, "\n\n", []string{"--agents", "claude", "--model", "m"}, "claude:m"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := away(t)
			p := filepath.Join(dir, ".conclave", "config.yaml")
			code, out, stderr := command(t, dir, tt.found, tt.input, append([]string{"init"}, tt.args...)...)
			if code != 0 || out != p+"\n" {
				t.Fatalf("%d, %s%s", code, out, stderr)
			}
			f, err := config.Load(p)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, a := range f.Agents {
				got = append(got, a.Backend+":"+a.Model)
			}
			if f.Agents[0].Gear.Shell != nil {
				got = append(got, "shell")
			}
			if f.Settings.MaxCost != nil {
				got = append(got, "$"+f.Settings.MaxCost.String())
			}
			if s := strings.ReplaceAll(strings.Join(got, " "), "$$", "$"); s != tt.want {
				t.Errorf("got  %s\nwant %s", s, tt.want)
			}
			if code, out, _ := command(t, dir, nil, "", "validate", "--strict", p); code != 0 {
				t.Error(out)
			}
			if _, err := os.Stat(filepath.Join(dir, ".conclave", config.SchemaFile)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestInitRefuses(t *testing.T) {
	dir := away(t)
	p := put(t, filepath.Join(dir, "team.yaml"), "mine")
	for _, tt := range []struct {
		input string
		args  []string
		want  string
	}{
		{"", []string{"--output", p}, "--force writes over it"},
		{"", []string{"--agents", "clade"}, "did you mean claude?"},
		{"", []string{"--agents", "groq"}, "--model groq=…"},
		{"", []string{"--agents", "claude", "--model", "a", "--model", "b"}, "no agent is left for it"},
		{"", []string{"--max-cost", "much"}, "an amount in dollars"},
		{"claude\n", nil, "left unanswered"},
	} {
		if code, _, err := command(t, dir, nil, tt.input, append([]string{"init"}, tt.args...)...); code != 1 || !strings.Contains(err, tt.want) {
			t.Errorf("%v: %d, %s", tt.args, code, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, ".conclave")); err == nil {
		t.Error("something was written")
	}
	if code, _, err := command(t, dir, nil, "", "init", "--output", p, "--force"); code != 0 {
		t.Error(err)
	}
}
