package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/config"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Files as MassGen's users have them load, or say precisely what they lack.
func TestMassGen(t *testing.T) {
	t.Setenv("CHAT_TOKEN", canary)
	files, err := filepath.Glob("testdata/massgen/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, p := range files {
		src, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(strings.TrimSuffix(p, "yaml") + "want")
		if err != nil {
			t.Fatal(err)
		}
		f, err := config.Parse(filepath.Base(p), src)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = lines(f.Warnings)
		}
		if d := cmp.Diff(strings.TrimSpace(string(want)), got); d != "" {
			t.Errorf("%s: %s", p, d)
		}
	}
}

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("conclave.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("conclave.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// asJSON is a configuration as a schema sees it.
func asJSON(t *testing.T, src []byte) any {
	t.Helper()
	text, err := yaml.YAMLToJSON(src)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// What loads without a doubt is valid by the schema: every example, every key in
// the tests, every sketch.
func TestSchemaTakesWhatLoads(t *testing.T) {
	t.Setenv("MY_KEY", "x")
	t.Setenv("CHAT_TOKEN", "x")
	s := schema(t)
	check := func(name string, src []byte) {
		if err := s.Validate(asJSON(t, src)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, pattern := range []string{"../../examples/*.yaml", "testdata/massgen/[dl]*.yaml"} {
		files, _ := filepath.Glob(pattern)
		if len(files) == 0 {
			t.Errorf("%s: nothing there", pattern)
		}
		for _, p := range files {
			src, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			check(p, src)
		}
	}
	for path, trials := range ofBackends {
		for _, tt := range trials {
			check(path+" "+tt.yaml, []byte(inBackend(tt.yaml)))
		}
	}
	for path, cases := range settings {
		for _, tt := range cases {
			if strings.ContainsAny(tt.value, "+") || tt.value == "1e2" || tt.value == "yes" || tt.value == "no" || tt.value == "on" || tt.value == "off" && !strings.HasSuffix(path, "override") {
				continue // older YAML, which editors do not read so
			}
			check(path+" "+tt.value, []byte(twoAgents+nest(path, tt.value)))
		}
	}
}

// What is refused for its type or its limits the schema refuses, too.
func TestSchemaRefuses(t *testing.T) {
	s := schema(t)
	for _, src := range []string{
		"agnts: []", "agents: {}", "agents: [{id: a}]", "agents: [{id: a, backend: {type: crystalball}}]", "agents: [{id: a, backend: {type: claude, temperature: 3}}]",
		team + "orchestrator: {max_tokens: lots}", team + "orchestrator: {override: maybe}", team + "orchestrator: {skip_voting: 3}",
		"agents: [{id: a, backend: {type: claude, shell: 3}}]", "agents: [{id: a, backend: {type: claude, mcp_servers: [{name: s, comand: x}]}}]",
	} {
		if s.Validate(asJSON(t, []byte(src))) == nil {
			t.Errorf("taken: %s", src)
		}
	}
}

func TestSketch(t *testing.T) {
	for name, s := range map[string]config.Sketch{
		"demo": {Agents: []config.SketchAgent{{Type: "demo", Model: "sceptic"}, {Type: "demo", Model: "theorist"}}},
		"two of one": {Agents: []config.SketchAgent{{Type: "claude", Model: "claude-opus-4-6"}, {Type: "claude", Model: "claude-opus-4-6"}},
			Shell: true, MaxCost: "$2.50"},
		"odd model": {Agents: []config.SketchAgent{{Type: "ollama", Model: "llama3:8b"}, {Type: "groq", Model: "4.1"}}},
	} {
		src, err := s.YAML()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		f := mustParse(t, string(src))
		if len(f.Warnings)+len(f.Notes) > 0 || len(f.Agents) != len(s.Agents) {
			t.Errorf("%s: %v %v", name, f.Agents, f.Warnings)
		}
		if !bytes.HasPrefix(src, []byte("# yaml-language-server: $schema=")) || bytes.Count(src, []byte("#")) < 8 {
			t.Errorf("%s is not explained:\n%s", name, src)
		}
		if s.Shell && (f.Agents[0].Gear.Shell == nil || *f.Settings.MaxCost != 2_500_000 || f.Agents[1].ID != "claude2") {
			t.Errorf("%s: %+v", name, f)
		}
	}
	for _, s := range []config.Sketch{{}, {Agents: []config.SketchAgent{{Type: "claude", Model: "m"}}, MaxCost: "much"}, {Agents: []config.SketchAgent{{Type: "nobody", Model: "m"}}}} {
		if src, err := s.YAML(); err == nil {
			t.Errorf("written: %s", src)
		}
	}
}

func TestExplain(t *testing.T) {
	for query, want := range map[string]string{
		"orchestrator.max_cost":         "orchestrator.max_cost",
		"max_cost":                      "orchestrator.max_cost orchestrator.interactive_mode.max_cost planning.max_cost limits.max_cost",
		"max-cost":                      "orchestrator.max_cost orchestrator.interactive_mode.max_cost planning.max_cost limits.max_cost",
		"interactive_mode.backend":      "orchestrator.interactive_mode.backend",
		"agents[0].backend.temperature": "agents[].backend.temperature",
		"agent.backend.temperature":     "agents[].backend.temperature",
		"mcp_servers.discord.headers":   "agents[].backend.mcp_servers[].headers",
		"shell.sandbox":                 "agents[].backend.shell.sandbox",
		"image_generation_model":        "agents[].backend.image_generation_* orchestrator.image_generation_*",
		"novelty_requirement":           "orchestrator.answer_novelty_requirement",
		"max_tokens":                    "agents[].backend.max_tokens agents[].backend.reasoning.max_tokens orchestrator.max_tokens orchestrator.interactive_mode.max_tokens planning.max_tokens limits.max_tokens",
		"orchestrator":                  "orchestrator",
		"limits":                        "limits",
		"roles[0].prompt":               "roles[].prompt",
		"zebra":                         "",
	} {
		found, _ := config.Explain(query)
		var got []string
		for _, p := range found {
			got = append(got, p.Path)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s is %s", query, got)
		}
	}
	if _, near := config.Explain("temprature"); len(near) == 0 || near[0] != "temperature" {
		t.Errorf("near temprature are %v", near)
	}
}

// long is a configuration of a thousand lines.
func long() []byte {
	var b bytes.Buffer
	b.WriteString("agents:\n")
	for i := range 125 {
		fmt.Fprintf(&b, "  - id: agent%d\n    backend:\n      type: openai\n      model: gpt-5\n      temperature: 0.%d\n      reasoning: {effort: low}\n      enable_web_search: true\n    system_message: be %d\n", i, i, i)
	}
	return b.Bytes()
}

func BenchmarkValidate1000(b *testing.B) {
	src := long()
	if n := bytes.Count(src, []byte("\n")); n < 1000 {
		b.Fatalf("%d lines", n)
	}
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if _, err := config.Parse("team.yaml", src); err != nil {
			b.Fatal(err)
		}
	}
}

func TestLongConfiguration(t *testing.T) {
	f := mustParse(t, string(long()))
	if len(f.Agents) != 125 || len(f.Warnings) > 0 {
		t.Errorf("%d agents, %v", len(f.Agents), f.Warnings)
	}
	if _, err := json.Marshal(f); err != nil {
		t.Error(err)
	}
}
