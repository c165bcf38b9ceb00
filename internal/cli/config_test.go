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
	code = Main(append([]string{"-C", dir}, args...), s, "test", open, nil, nil, nil)
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
		{"asked again", reached, "clade\n,\nollama, claude\n\n\nmaybe\nYES\n5,00\n-3\n5\n", nil, "ollama:qwen3:8b claude:claude-opus-4-6 shell $5.00"},
		{"asked for a model that must be named", nil, "ollama,groq\n\nqwen3\n\nllama\n\n$1.5\n", nil, "ollama:qwen3 groq:llama $1.50"},
		{"asked for a model with a strange name", nil, "openai,openai\nopenai=x\nclaude=y\n\n\n", nil, "openai:openai=x openai:claude=y"},
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

// What cannot be taken is said at once, with what was probably meant.
func TestInitAsksAgain(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	dir := away(t)
	models := []control.Provider{{Type: "ollama", Local: true, Model: "qwen3:8b", Models: []string{"qwen3:8b", "gemma3"}}}
	input := "opena,ollama\nazure\nopenai,ollama,ollama,groq\n\n\nphi4\n\nllama\nperhaps\nno\n5 dollars\n5\n"
	code, _, stderr := command(t, dir, models, input, "init")
	if code != 0 {
		t.Fatal(stderr)
	}
	rest := stderr
	for _, want := range []string{
		"Types: demo, claude, openai,", "Agents, by type",
		`there is no agent of type "opena"; did you mean openai?`, "Agents, by type",
		"AZURE_OPENAI_ENDPOINT", "Agents, by type",
		"Model of openai [gpt-", "ollama has: qwen3:8b, gemma3.", "Model of ollama [qwen3:8b]: ",
		"ollama does not have phi4 yet",
		"Model of groq (there is no usual one, so type a name): ", "a model must be named", "Model of groq",
		"May agents run commands", "answer y or n", "May agents run commands",
		"The most a run may cost", "did you mean 5.00?", "The most a run may cost",
		"config.yaml with 4 agents, and ", "conclave.schema.json for editors",
		"Still missing: the key of openai; set OPENAI_API_KEY in the environment.",
		"Start with: conclave -C " + dir + ` run "your task"`,
	} {
		_, after, ok := strings.Cut(strings.Join(strings.Fields(rest), " "), strings.TrimSpace(want))
		if !ok {
			t.Fatalf("no %q in %q of\n%s", want, rest, stderr)
		}
		rest = after
	}
	for line := range strings.Lines(stderr) {
		if n := len([]rune(line)); n > 81 && !strings.Contains(line, dir) && !strings.Contains(line, "]: ") && !strings.Contains(line, "): ") {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// The project's own file that starts programs is not taken before it is trusted,
// and whoever has it written learns that here and not from the first run.
func TestInitPrograms(t *testing.T) {
	t.Chdir(away(t))
	const trust = "said: conclave trust\nStart with: conclave run \"your task\"\n"
	if code, _, stderr := command(t, ".", nil, "", "init", "--yes", "--agents", "claude_code,codex"); code != 0 || !strings.HasSuffix(stderr, trust) {
		t.Errorf("%d\n%s", code, stderr)
	}
	if code, _, stderr := command(t, ".", nil, "", "init", "--yes", "--agents", "codex", "--output", "team.yaml"); code != 0 || strings.Contains(stderr, "trust") {
		t.Errorf("%d\n%s", code, stderr)
	}
}

// A file of another name is said with how to use it, and so is what is missing.
func TestInitElsewhere(t *testing.T) {
	t.Setenv("GROQ_API_KEY", "")
	t.Setenv("OPENAI_API_KEY", "sk-fake")
	dir := away(t)
	t.Chdir(dir)
	args := []string{"init", "--yes", "--agents", "groq,groq,openai,ollama", "--model", "groq=m", "--model", "ollama=m", "--output"}
	code, out, stderr := command(t, ".", nil, "", append(args, "our team.yaml")...)
	want := `Wrote our team.yaml with 4 agents, and conclave.schema.json for editors.
Still missing: the key of groq; set GROQ_API_KEY in the environment.
Still missing: ollama does not answer on this machine; start it before a run.
Start with: conclave run --config 'our team.yaml' "your task"
`
	if code != 0 || out != "our team.yaml\n" || stderr != want {
		t.Errorf("%d, %s\n%s", code, out, stderr)
	}
	if err := os.Remove(config.SchemaFile); err != nil {
		t.Error(err)
	}

	code, out, stderr = command(t, ".", nil, "", append(args, "-")...)
	if f, err := config.Parse("it", []byte(out)); code != 0 || err != nil || len(f.Agents) != 4 || strings.Contains(out, "$schema") || strings.Contains(stderr, "Wrote") {
		t.Errorf("%d, %v, %s\n%s", code, err, out, stderr)
	}
	if _, err := os.Stat(config.SchemaFile); err == nil {
		t.Error("a schema was written")
	}

	// What cannot be written is not lost.
	code, out, stderr = command(t, ".", nil, "", append(args, "/proc/none/team.yaml")...)
	if code != 1 || !strings.Contains(out, "agents:\n") || !strings.Contains(stderr, "it was printed instead") {
		t.Errorf("%d, %s\n%s", code, out, stderr)
	}
}

func TestFolded(t *testing.T) {
	for _, tt := range []struct {
		text    string
		columns int
		want    string
	}{
		{"one two three", 0, "one two three"},
		{"one two three", 8, "one two|three"},
		{"  one two\nthree  four", 7, "  one|  two|three |four"},
		{"a /very/long/path b", 6, "a|/very/long/path|b"},
	} {
		if got := strings.Join(folded(tt.text, tt.columns), "|"); got != tt.want {
			t.Errorf("%q in %d columns: %q, want %q", tt.text, tt.columns, got, tt.want)
		}
	}
}
