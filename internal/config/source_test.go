package config_test

import (
	"fmt"
	"strings"
	"testing"

	"conclave/internal/config"

	"github.com/google/go-cmp/cmp"
)

// However a file was saved, it says the same, and in the same places.
func TestEncodings(t *testing.T) {
	src := "# müßig\n" + team + "orchestrator:\n  skip_voting: maybe\n"
	const want = `team.yaml:6:16: skip_voting must be true or false, not "maybe"`
	for name, s := range map[string]string{
		"plain":         src,
		"mark":          "\ufeff" + src,
		"windows":       strings.ReplaceAll(src, "\n", "\r\n"),
		"mark, windows": "\ufeff" + strings.ReplaceAll(src, "\n", "\r\n"),
		"old mac":       strings.ReplaceAll(src, "\n", "\r"),
		"no last line":  strings.TrimSuffix(src, "\n"),
		"directive":     "---" + strings.TrimPrefix(src, "# müßig"),
	} {
		if got := said(t, s); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
}

func TestMarkBeforeFirstKey(t *testing.T) {
	if got := said(t, "\ufeffagnt: {}\n"+team); got != `team.yaml:1:1: unknown key "agnt"; did you mean "agent"?` {
		t.Error(got)
	}
}

func TestJSON(t *testing.T) {
	f := mustParse(t, `{"agents": [{"id": "a", "backend": {"type": "demo", "persona": "sceptic", "pace": 2}}]}`)
	if len(f.Agents) != 1 || *f.Agents[0].Pace != 2 {
		t.Errorf("%+v", f.Agents)
	}
}

func TestColumnsCountCharacters(t *testing.T) {
	if got := said(t, team+"orchestrator: {x-ünïcödé: ☃, skip_voting: 3}\n"); got != `team.yaml:4:43: skip_voting must be true or false, not 3` {
		t.Error(got)
	}
}

func TestUnreadable(t *testing.T) {
	deep := strings.Repeat("[", 65)
	many := strings.Repeat("a: 1\n", 7000)
	for _, tt := range []struct{ name, src, want string }{
		{"not UTF-8", "agents:\n  - id: \xff\n", "team.yaml:2:9: this is not UTF-8 text"},
		{"UTF-16", "\xff\xfea\x00", "team.yaml:1:1: the file is in UTF-16; save it as UTF-8"},
		{"control character", "agents:\n  - id: ü\x00\n", "team.yaml:2:10: the control character U+0000 cannot stand in a configuration"},
		{"tab", "agents:\n\t- id: a\n", "team.yaml:2:1: not valid YAML: a tab cannot indent a line; use spaces"},
		{"indentation", "a:\n  b: 1\n c: 2\n", "team.yaml:3:2: not valid YAML: value is not allowed in this context"},
		{"open bracket", "agents: [a\norchestrator: b\n", "team.yaml:2:1: not valid YAML: ',' or ']' must be specified"},
		{"deep", deep, "team.yaml:1:65: nested more than 64 deep"},
		{"deep dashes", strings.Repeat("- ", 70), "team.yaml:1:129: nested more than 64 deep"},
		{"long", many, "team.yaml:6667:4: the configuration is too long: it may have 20000 pieces, of which a line such as key: value has three"},
		{"large", strings.Repeat("#", 10<<20), "team.yaml:1:1: the configuration is larger than 1048576 bytes"},
	} {
		if got := said(t, tt.src); got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

func TestMerge(t *testing.T) {
	f := mustParse(t, `
x-slow: &slow {type: demo, pace: 2}
x-person: &person {<<: *slow, persona: theorist}
agents:
  - id: a
    backend: {<<: *person}
  - id: b
    backend: {persona: sceptic, <<: [*person, {pace: 3, model: m}]}
`)
	want := []config.Agent{
		{ID: "a", Backend: "demo", Persona: "theorist", Pace: new(2.0)},
		{ID: "b", Backend: "demo", Persona: "sceptic", Pace: new(2.0), Model: "m"},
	}
	if d := cmp.Diff(want, f.Agents); d != "" {
		t.Error(d)
	}
}

// An alias means the anchor before it, not the one after.
func TestAnchorTwice(t *testing.T) {
	f := mustParse(t, `
x-a: &b {type: demo, persona: theorist}
agents:
  - {id: a, backend: *b}
  - {id: b, backend: &b {type: demo, persona: sceptic}}
  - {id: c, backend: *b}
`)
	got := []string{f.Agents[0].Persona, f.Agents[1].Persona, f.Agents[2].Persona}
	if d := cmp.Diff([]string{"theorist", "sceptic", "sceptic"}, got); d != "" {
		t.Error(d)
	}
}

// Thirty mappings of which each merges the one before twice are a thousand
// million, on thirty lines.
func TestMergesGrow(t *testing.T) {
	var b strings.Builder
	b.WriteString("x-0: &m0 {a: 1}\n")
	for i := range 30 {
		fmt.Fprintf(&b, "x-%d: &m%d {<<: *m%d, <<: *m%d}\n", i+1, i+1, i, i)
	}
	b.WriteString("orchestrator: {<<: *m30}\n" + team)
	if got := said(t, b.String()); !strings.Contains(got, "more than 1000 keys are merged in") {
		t.Error(got)
	}
}

func TestVariables(t *testing.T) {
	t.Setenv("WHO", "b: [*x] # not YAML")
	t.Setenv("NONE", "")
	f := mustParse(t, `
agents:
  - id: a
    system_message: "${NONE}I am ${WHO}, not $${WHO} or $WHO ${WHO}."
    backend: {type: demo, persona: sceptic}
`)
	const want = "I am b: [*x] # not YAML, not ${WHO} or $WHO b: [*x] # not YAML."
	if got := f.Agents[0].Prompt; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
