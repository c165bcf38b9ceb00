package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/config"
	"conclave/internal/event"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// inInteractive puts lines under orchestrator.interactive_mode; the first is line
// 6 of the file.
func inInteractive(lines ...string) string {
	return team + "orchestrator:\n  interactive_mode:\n    " + strings.Join(lines, "\n    ") + "\n"
}

// A file without the section says nothing of interactive mode, and nothing else
// of it changes.
//
// DZ-06
func TestWithoutInteractiveMode(t *testing.T) {
	plain := mustParse(t, twoAgents)
	if plain.Interactive != nil {
		t.Errorf("interactive mode out of nothing: %+v", plain.Interactive)
	}
	with := mustParse(t, twoAgents+"orchestrator: {interactive_mode: {max_cost: 1, max_tokens: 5}}\n")
	if d := cmp.Diff([]any{plain.Agents, plain.Settings, plain.Mode()}, []any{with.Agents, with.Settings, with.Mode()}); d != "" {
		t.Errorf("interactive mode changes runs: %s", d)
	}
	if d := cmp.Diff(plain.Agents, plain.Everybody()); d != "" {
		t.Error(d)
	}
}

// The section is there and says nothing: it is on, asks, holds, and speaks by the
// first agent's backend.
//
// IM-07.1 IM-07.2
func TestInteractiveDefaults(t *testing.T) {
	want := &config.Interactive{
		Enabled: true, Approve: true,
		Agent: config.Agent{ID: config.InteractiveID, Backend: "demo", Persona: "sceptic"},
	}
	for _, src := range []string{"true", "{}", "", "~", "{backend: null}", "{enabled: true, require_approval: true, input_during_run: hold}", "{max_cost: null, workspace: null}"} {
		f := mustParse(t, team+"    system_message: You are one of many.\n"+"orchestrator: {interactive_mode: "+src+"}\n")
		if d := cmp.Diff(want, f.Interactive); d != "" {
			t.Errorf("%q: %s", src, d)
		}
	}
	f := mustParse(t, team+"orchestrator: {interactive_mode: false}\n")
	if f.Interactive == nil || f.Interactive.Enabled {
		t.Errorf("off is %+v", f.Interactive)
	}
}

// Everything the section can say arrives.
//
// IM-07.1
func TestInteractiveSettings(t *testing.T) {
	t.Setenv("SOME_KEY", "x")
	f := mustParse(t, inInteractive(
		"enabled: false", "require_approval: false", "input_during_run: disabled", "workspace: /projects", "max_cost: 2.50", "max_tokens: 1_000",
		"max_calls_per_turn: 7", "system_message: Be kind.", "backend: {type: claude, model: claude-x, api_key: \"${SOME_KEY}\", context_paths: [/src]}"))
	want := &config.Interactive{
		Disabled: true, Workspace: "/projects", MaxCalls: 7, Own: true,
		Budget: event.Budget{Tokens: new(int64(1000)), Cost: new(event.Money(2_500_000))},
	}
	got := *f.Interactive
	a := got.Agent
	got.Agent = config.Agent{}
	if d := cmp.Diff(want, &got); d != "" {
		t.Error(d)
	}
	if a.ID != config.InteractiveID || a.Backend != "claude" || a.Model != "claude-x" || a.Prompt != "Be kind." || !a.Gear.Files ||
		!cmp.Equal(a.API.Key.Env, []string{"SOME_KEY"}) || !cmp.Equal(a.ContextPaths, []event.ContextPath{{Path: "/src"}}) {
		t.Errorf("the agent is %+v", a)
	}
	if all := f.Everybody(); len(all) != 2 || all[1].ID != config.InteractiveID || len(f.Agents) != 1 {
		t.Errorf("everybody is %v", all)
	}
}

// What agents have at hand by the settings of all, this one has too.
func TestInteractiveIsEquipped(t *testing.T) {
	f := mustParse(t, team+"orchestrator:\n  interactive_mode: {backend: {type: demo, persona: theorist}}\n  coordination: {enable_memory_filesystem_mode: true, use_skills: true}\n")
	if g := f.Interactive.Agent.Gear; !g.Memory || len(g.Skills) == 0 {
		t.Errorf("equipped with %+v", g)
	}
}

// What is wrong is said with its place and what was probably meant.
//
// IM-07.3
func TestInteractiveRefusals(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"a word", team + "orchestrator: {interactive_mode: sometimes}\n", `team.yaml:4:34: interactive_mode must be a mapping, true or false, not "sometimes"`},
		{"a list", team + "orchestrator: {interactive_mode: [true]}\n", `team.yaml:4:34: interactive_mode must be a mapping, not a list`},
		{"misspelt", inInteractive("requre_approval: false"), `team.yaml:6:5: unknown key "requre_approval"; did you mean "require_approval"?`},
		{"not a truth value", inInteractive(`enabled: "true"`), `team.yaml:6:14: enabled must be true or false, not "true"; leave the quotation marks out`},
		{"negative money", inInteractive("max_cost: -1"), `team.yaml:6:15: max_cost must be an amount in dollars such as 2.50, with up to six decimals, not -1`},
		{"negative tokens", inInteractive("max_tokens: -1"), `team.yaml:6:17: max_tokens must be a whole number from 0 up, not -1`},
		{"no calls", inInteractive("max_calls_per_turn: 0"), `team.yaml:6:25: max_calls_per_turn must be a whole number from 1 up, not 0`},
		{"unknown input", inInteractive("input_during_run: holds"), `team.yaml:6:23: input_during_run must be hold or disabled, not "holds"; did you mean "hold"?`},
		{"unknown backend", inInteractive("backend: {type: claud}"), `team.yaml:6:21: unknown backend "claud"; did you mean "claude"?`},
		{"no backend type", inInteractive("backend: {pace: 1}"), `team.yaml:6:14: type is missing; it is claude, openai, gemini or another that conclave explain type lists`},
		{"negative timeout", inInteractive("backend: {type: claude, model: m, timeouts: {total_seconds: -4}}"),
			`team.yaml:6:65: total_seconds must be a number of seconds above 0, not -4`},
		{"not supported", inInteractive("backend: {type: gemini_cli}"),
			`team.yaml:6:21: this agent cannot run: the backend "gemini_cli" is not supported by this version; type: gemini asks the same models by their API; shell: true lets the agent run commands`},
		{"misplaced", inOrchestrator("require_approval: true"), `team.yaml:5:3: unknown key "require_approval"; it belongs under orchestrator.interactive_mode`},
	} {
		if got := said(t, tt.src); got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
	f := mustParse(t, inInteractive("context_compaction: {enabled: true}"))
	if len(f.Warnings) > 0 || len(f.Notes) != 1 || !strings.Contains(f.Notes[0].String(), "is not a key") {
		t.Errorf("of compaction: %v, %v", f.Warnings, f.Notes)
	}
}

// A key that is written out is found again by the name it is kept under, and by
// no agent's.
func TestInteractiveSecret(t *testing.T) {
	file := filepath.Join(t.TempDir(), "team.yaml")
	src := "agents:\n  - {id: conclave, backend: {type: openai, model: m, api_key: theirs}}\norchestrator:\n  interactive_mode: {backend: {type: claude, model: m, api_key: ours}}\n"
	if err := os.WriteFile(file, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	for want, k := range map[string]backend.Key{"theirs": f.Agents[0].API.Key, "ours": f.Interactive.Agent.API.Key} {
		if got, err := config.Secret(k.File, event.AgentID(k.Agent)); err != nil || got != want {
			t.Errorf("%v leads to %q, %v; want %q", k, got, err, want)
		}
	}
	p, err := json.Marshal(f)
	if err != nil || strings.Contains(string(p), "ours") {
		t.Errorf("the key is in the file's value: %v", err)
	}
}

// A project's section changes what it names of the user's; its backend replaces
// the user's as a whole.
func TestInteractiveLayers(t *testing.T) {
	dir := t.TempDir()
	write := func(name, src string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	base := write("base.yaml", "orchestrator:\n  interactive_mode: {max_cost: 3, require_approval: false, backend: {type: openai, model: m, temperature: 0.5}}\n")
	over := write("over.yaml", team+"orchestrator:\n  interactive_mode: {require_approval: true, backend: {type: demo, persona: theorist}}\n")
	alone, err := config.LoadOver(base, "")
	if err != nil || alone.Interactive.Agent.Backend != "openai" || alone.Interactive.Approve {
		t.Fatalf("%+v, %v", alone, err)
	}
	f, err := config.LoadOver(base, over)
	if err != nil {
		t.Fatal(err)
	}
	i := f.Interactive
	if !i.Approve || *i.Budget.Cost != 3*event.Dollar || i.Agent.Backend != "demo" || i.Agent.API.Temperature != nil {
		t.Errorf("%+v", i)
	}
	for _, o := range f.Origins {
		if strings.HasSuffix(o.Path, "temperature") {
			t.Errorf("a key that counts no more is shown: %v", o)
		}
	}
	f, err = config.LoadOver(base, write("off.yaml", team+"orchestrator: {interactive_mode: false}\n"))
	if err != nil || f.Interactive.Enabled || *f.Interactive.Budget.Cost != 3*event.Dollar {
		t.Errorf("%+v, %v", f.Interactive, err)
	}
}

// Editors take what the program takes.
func TestInteractiveSchema(t *testing.T) {
	src, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(src)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("conclave.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("conclave.json")
	if err != nil {
		t.Fatal(err)
	}
	for src, fine := range map[string]bool{
		`true`: true, `{}`: true, `null`: true, `{"backend": {"type": "claude", "model": "m"}}`: true, `{"backend": null, "max_cost": 2.5}`: true,
		`"x"`: false, `{"backend": {"typ": "claude"}}`: false, `{"require_aproval": true}`: false, `{"max_cost": -1}`: false, `{"input_during_run": "x"}`: false,
	} {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(`{"agents": [{"id": "a", "backend": {"type": "demo", "persona": "sceptic"}}], "orchestrator": {"interactive_mode": ` + src + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); (err == nil) != fine {
			t.Errorf("%s: %v", src, err)
		}
	}
}
