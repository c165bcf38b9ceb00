package config_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/internal/config"
	"conclave/internal/event"

	"github.com/google/go-cmp/cmp"
)

// A file that says nothing of jobs says nothing.
func TestWithoutPlanning(t *testing.T) {
	for _, src := range []string{"", "planning: null\n"} {
		if f := mustParse(t, twoAgents+src); f.Planning != nil {
			t.Errorf("%q is %+v", src, f.Planning)
		}
	}
}

// Everything that can be said of jobs.
//
// IP-02 IP-03 IP-11
func TestPlanning(t *testing.T) {
	f := mustParse(t, team+`planning:
  interactive: true
  execute_with: run
  backend: {type: claude, model: claude-x}
  system_message: Be brief.
  companion: {backend: {type: demo, persona: sceptic}, system_message: Be kind.}
  max_phases: 4
  max_todos: 7
  max_review_rounds: 0
  max_cost: 2.5
  max_tokens: 1000
  timeout_seconds: 60
  embedder: {type: openai, base_url: "http://127.0.0.1:9/v1", model: small, api_key_env: SOME_KEY}
`)
	p := f.Planning
	if p.Agent.ID != config.WorkerID || p.Agent.Backend != "claude" || p.Agent.Prompt != "Be brief." ||
		p.Companion.ID != config.CompanionID || p.Companion.Persona != "sceptic" || p.Companion.Prompt != "Be kind." {
		t.Errorf("agents %+v, %+v", p.Agent, p.Companion)
	}
	if all := f.Everybody(); len(all) != 3 || len(f.Agents) != 1 {
		t.Errorf("everybody is %+v", all)
	}
	got := *p
	got.Agent, got.Companion = config.Agent{}, config.Agent{}
	cost, tokens, none := event.Money(2_500_000), int64(1000), 0
	want := config.Planning{
		Review: event.ReviewFirst, Execute: event.ExecuteRun, MaxPhases: 4, MaxTodos: 7, SoftRounds: &none,
		Budget: event.Budget{Cost: &cost, Tokens: &tokens}, Time: event.Duration(time.Minute),
		Embedder: config.Embedder{Type: "openai", BaseURL: "http://127.0.0.1:9/v1", Model: "small", Key: "SOME_KEY"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// When a person looks at plans.
//
// IP-02 IP-03
func TestPlanningReview(t *testing.T) {
	for src, want := range map[string]string{
		"{}":                                   "",
		"{interactive: auto}":                  event.ReviewAuto,
		"{interactive: true}":                  event.ReviewFirst,
		"{interactive: yes}":                   event.ReviewFirst,
		"{interactive: false}":                 event.ReviewNever,
		"{interactive: false, review: plans}":  event.ReviewNever,
		"{interactive: auto, review: plans}":   event.ReviewPlans,
		"{review: plans}":                      event.ReviewPlans,
		"{review: first}":                      event.ReviewFirst,
		"{interactive: auto, review: first}":   event.ReviewAuto,
		"{interactive: true, max_phases: 100}": event.ReviewFirst,
	} {
		if got := mustParse(t, twoAgents+"planning: "+src+"\n").Planning.Review; got != want {
			t.Errorf("%s is %q, not %q", src, got, want)
		}
	}
}

// What is wrong with it is said where it stands.
func TestPlanningProblems(t *testing.T) {
	for src, want := range map[string]string{
		"{interactive: sometimes}":                        "interactive must be auto, true or false",
		"{interactive: \"true\"}":                         "leave the quotation marks out",
		"{execute_with: everybody}":                       "execute_with must be single or run",
		"{max_phases: 0}":                                 "max_phases must be",
		"{backend: {type: nobody}}":                       "nobody",
		"{embedder: {type: magic}}":                       "type must be builtin, openai, ollama or none",
		"{embedder: {type: openai, api_key_env: sk-abc}}": "api_key_env must be the name of a variable",
	} {
		_, err := config.Parse("team.yaml", []byte(twoAgents+"planning: "+src+"\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", src, err)
		}
	}
	f := mustParse(t, twoAgents+"planning: {embedder: {type: none, model: small}}\n")
	if len(f.Warnings) != 1 || !strings.Contains(f.Warnings[0].String(), "model has no effect") {
		t.Errorf("warnings %v", f.Warnings)
	}
}

// A key that is written out is read back from the file, by whoever speaks.
func TestPlanningSecret(t *testing.T) {
	file := write(t, filepath.Join(t.TempDir(), "team.yaml"), team+`planning:
  backend: {type: claude, model: claude-x, api_key: secret-of-the-worker}
  companion: {backend: {type: claude, model: claude-x, api_key: secret-of-the-companion}}
`)
	f, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []config.Agent{f.Planning.Agent, f.Planning.Companion} {
		key, err := config.Secret(a.API.Key.File, event.AgentID(a.API.Key.Agent))
		if err != nil || key != "secret-of-the-"+string(a.ID) {
			t.Errorf("%s: %q, %v", a.ID, key, err)
		}
	}
}
