package config_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/internal/config"
	"conclave/internal/event"

	"github.com/google/go-cmp/cmp"
)

// settings is every key that changes a rule, with values and what becomes of the
// default rules of several agents that refine.
var settings = map[string][]struct {
	value string
	want  func(*event.Rules)
}{
	"orchestrator.agent_mode": {
		{"multi", func(r *event.Rules) {}},
		{"single", func(r *event.Rules) { r.Single, r.Strategy = true, event.WinnerReuse }},
	},
	"orchestrator.refinement": {
		{"true", func(r *event.Rules) {}},
		{"off", func(r *event.Rules) {
			r.Quick, r.MaxAnswers, r.DisableInjection, r.DeferVoting, r.Strategy = true, 1, true, true, event.Synthesize
		}},
	},
	"orchestrator.max_new_answers_per_agent": {
		{"1", func(r *event.Rules) { r.MaxAnswers = 1 }},
		{"+7", func(r *event.Rules) { r.MaxAnswers = 7 }},
		{"null", func(r *event.Rules) {}},
	},
	"orchestrator.max_new_answers_global": {
		{"12", func(r *event.Rules) { r.MaxAnswersGlobal = 12 }},
		{"~", func(r *event.Rules) {}},
	},
	"orchestrator.answer_novelty_requirement": {
		{"lenient", func(r *event.Rules) { r.MaxSimilarity = 0 }},
		{"balanced", func(r *event.Rules) { r.MaxSimilarity = 0.70 }},
		{`"strict"`, func(r *event.Rules) { r.MaxSimilarity = 0.50 }},
	},
	"orchestrator.fairness_enabled": {
		{"false", func(r *event.Rules) { r.FairnessLead = 0 }},
		{"true", func(r *event.Rules) { r.FairnessLead = 2 }},
	},
	"orchestrator.fairness_lead_cap_answers": {
		{"4", func(r *event.Rules) { r.FairnessLead = 4 }},
	},
	"orchestrator.disable_injection": {
		{"yes", func(r *event.Rules) { r.DisableInjection = true }},
		{"no", func(r *event.Rules) {}},
	},
	"orchestrator.defer_voting_until_all_answered": {{"True", func(r *event.Rules) { r.DeferVoting = true }}},
	"orchestrator.skip_voting":                     {{"on", func(r *event.Rules) { r.SkipVoting = true }}},
	"orchestrator.voting_rule": {
		{"borda", func(r *event.Rules) { r.VotingRule = event.Borda }},
		{"plurality", func(r *event.Rules) {}},
	},
	"orchestrator.override": {
		{"off", func(r *event.Rules) {}},
		{"false", func(r *event.Rules) {}},
		{"wait", func(r *event.Rules) { r.Override = event.Override{On: true} }},
		{"1.5", func(r *event.Rules) {
			r.Override = event.Override{On: true, Wait: event.Duration(1500 * time.Millisecond)}
		}},
	},
	"orchestrator.final_answer_strategy": {
		{"winner_reuse", func(r *event.Rules) { r.Strategy = event.WinnerReuse }},
		{"winner_present", func(r *event.Rules) { r.Strategy = event.WinnerPresent }},
		{"synthesize", func(r *event.Rules) { r.Strategy = event.Synthesize }},
		{"null", func(r *event.Rules) {}},
	},
	"orchestrator.skip_final_presentation": {
		{"true", func(r *event.Rules) { r.Strategy = event.WinnerReuse }},
		{"false", func(r *event.Rules) {}},
	},
	"orchestrator.max_attempts_per_round": {{"9", func(r *event.Rules) { r.MaxAttempts = 9 }}},
	"orchestrator.max_calls_per_round":    {{"9", func(r *event.Rules) { r.MaxCalls = 9 }}},
	"orchestrator.max_tokens": {
		{"1_000_000", func(r *event.Rules) { r.Budget.Tokens = new(int64(1_000_000)) }},
		{"0", func(r *event.Rules) { r.Budget.Tokens = new(int64(0)) }},
		{"null", func(r *event.Rules) {}},
	},
	"orchestrator.max_cost": {
		{"2.50", func(r *event.Rules) { r.Budget.Cost = new(event.Money(2_500_000)) }},
		{"0.000001", func(r *event.Rules) { r.Budget.Cost = new(event.Money(1)) }},
		{"0.29", func(r *event.Rules) { r.Budget.Cost = new(event.Money(290_000)) }},
		{"3", func(r *event.Rules) { r.Budget.Cost = new(3 * event.Dollar) }},
		{"0", func(r *event.Rules) { r.Budget.Cost = new(event.Money(0)) }},
		{"1.10000000", func(r *event.Rules) { r.Budget.Cost = new(event.Money(1_100_000)) }},
	},
	"orchestrator.coordination.enable_planning_mode": {{"true", func(r *event.Rules) { r.Planning = true }}},
	"orchestrator.coordination.execute_after_planning": {
		{"false", func(r *event.Rules) {}},
		{"true, enable_planning_mode: true", func(r *event.Rules) { r.Planning, r.Execute = true, true }},
	},
	"timeout_settings.orchestrator_timeout_seconds": {
		{"3600", func(r *event.Rules) { r.RunLimit = event.Duration(time.Hour) }},
		{"60", func(r *event.Rules) {
			r.RunLimit, r.RunGrace = event.Duration(time.Minute), event.Duration(15*time.Second)
		}},
	},
	"timeout_settings.initial_round_timeout_seconds": {
		{"0.25", func(r *event.Rules) { r.FirstRound = event.Duration(250 * time.Millisecond) }},
		{"null", func(r *event.Rules) {}},
	},
	"timeout_settings.subsequent_round_timeout_seconds": {{"1e2", func(r *event.Rules) { r.LaterRounds = event.Duration(100 * time.Second) }}},
	"timeout_settings.round_timeout_grace_seconds":      {{"0", func(r *event.Rules) { r.RoundGrace = 0 }}},
}

// others are the keys that change no rule; tests beside this one are about them.
// What agents[] has agent has, too.
func others() []string {
	backend := []string{"script", "persona", "pace"}
	for key := range ofBackends {
		if key != "shell" { // the keys in it are listed
			backend = append(backend, key)
		}
	}
	var out []string
	for _, agent := range []string{"agents[].", "agent."} {
		out = append(out, agent+"id", agent+"system_message")
		for _, key := range backend {
			out = append(out, agent+"backend."+key)
		}
	}
	return append(out,
		"orchestrator.context_paths[].path", "orchestrator.context_paths[].permission", "orchestrator.context_paths[].protected_paths",
		"orchestrator.snapshot_storage", "orchestrator.agent_temporary_workspace", "orchestrator.coordination.task_planning_filesystem_mode",
		"orchestrator.coordination.enable_agent_task_planning", "orchestrator.coordination.max_tasks_per_plan",
		"orchestrator.coordination.enable_memory_filesystem_mode", "orchestrator.coordination.use_skills", "orchestrator.coordination.skills_directory",
		"orchestrator.interactive_mode.enabled", "orchestrator.interactive_mode.require_approval", "orchestrator.interactive_mode.backend",
		"orchestrator.interactive_mode.system_message", "orchestrator.interactive_mode.input_during_run", "orchestrator.interactive_mode.workspace",
		"orchestrator.interactive_mode.max_cost", "orchestrator.interactive_mode.max_tokens", "orchestrator.interactive_mode.max_calls_per_turn",
		"orchestrator.interactive_mode.context_compaction",
		"planning.interactive", "planning.review", "planning.execute_with", "planning.backend", "planning.system_message",
		"planning.companion.backend", "planning.companion.system_message", "planning.max_phases", "planning.max_todos",
		"planning.max_review_rounds", "planning.max_cost", "planning.max_tokens", "planning.timeout_seconds",
		"planning.embedder.type", "planning.embedder.base_url", "planning.embedder.model", "planning.embedder.api_key_env",
		"prompt", "ui.display_type", "ui.theme", "ui.keys", "ui.mouse", "ui.notifications", "ui.plain", "ui.logging_enabled")
}

func TestEverySetting(t *testing.T) {
	t.Setenv("VALUE", "")
	for path, cases := range settings {
		for _, tt := range cases {
			t.Run(path+" "+tt.value, func(t *testing.T) {
				f := mustParse(t, twoAgents+nest(path, tt.value))
				got, err := f.Settings.Rules(f.Mode())
				if err != nil {
					t.Fatal(err)
				}
				want := event.Defaults(event.Mode{})
				tt.want(&want)
				if d := cmp.Diff(want, got); d != "" {
					t.Error(d)
				}
				variable(t, path, tt.value, got)
			})
		}
	}
}

// variable sets the same value by way of the environment, which must come to the
// same.
func variable(t *testing.T, path, value string, want event.Rules) {
	t.Helper()
	if strings.Contains(value, ",") || value == "null" || value == "~" {
		return
	}
	if err := os.Setenv("VALUE", strings.Trim(value, `"`)); err != nil {
		t.Fatal(err)
	}
	f := mustParse(t, twoAgents+nest(path, `"${VALUE}"`))
	if got, err := f.Settings.Rules(f.Mode()); err != nil || !cmp.Equal(want, got) {
		t.Errorf("by way of a variable: %v %s", err, cmp.Diff(want, got))
	}
}

const twoAgents = team + "  - {id: b, backend: {type: demo, persona: theorist}}\n"

// nest writes a.b.c as nested mappings.
func nest(path, value string) string {
	keys := strings.Split(path, ".")
	last := len(keys) - 1
	return strings.Join(keys[:last], ": {") + ": {" + keys[last] + ": " + value + strings.Repeat("}", last) + "\n"
}

// The table is complete: each key says what it is, and is tried above.
func TestTable(t *testing.T) {
	var seen []string
	others := others()
	var walk func(string, []config.Key)
	walk = func(path string, keys []config.Key) {
		names := map[string]bool{}
		for _, k := range keys {
			at := strings.TrimPrefix(path+"."+k.Name, ".")
			if names[k.Name] {
				t.Errorf("%s is in its table twice", at)
			}
			names[k.Name] = true
			if k.Later {
				if k.Doc != "" || k.What != "" || k.Keys != nil {
					t.Errorf("%s is not supported, yet described", at)
				}
				continue
			}
			if k.Doc == "" || !strings.HasSuffix(k.Doc, ".") || k.What == "" {
				t.Errorf("%s is not explained: %q, %q", at, k.Doc, k.What)
			}
			if k.Kind == config.List && k.Keys != nil {
				at += "[]"
			}
			if k.Keys != nil {
				walk(at, k.Keys)
				continue
			}
			seen = append(seen, at)
			if _, ok := settings[at]; !ok && !slices.Contains(others, at) {
				t.Errorf("no test tries %s", at)
			}
			if strings.HasPrefix(at, "orchestrator.") && !strings.Contains(at, "[]") && k.Default == "" {
				t.Errorf("%s has no default", at)
			}
		}
	}
	walk("", config.Keys())
	if want := len(settings) + len(others); len(seen) != want {
		t.Errorf("%d keys in the table, %d in the tests", len(seen), want)
	}
}

func TestDefaultsInTable(t *testing.T) {
	want := map[string]string{
		"max_new_answers_per_agent": "5", "max_new_answers_global": "no limit", "answer_novelty_requirement": "lenient",
		"fairness_lead_cap_answers": fmt.Sprint(event.Defaults(event.Mode{}).FairnessLead), "skip_voting": "false",
		"voting_rule": "plurality", "override": "off", "final_answer_strategy": "winner_present", "max_attempts_per_round": "3",
	}
	got := map[string]string{}
	for _, k := range config.Keys() {
		if k.Name != "orchestrator" {
			continue
		}
		for _, c := range k.Keys {
			if _, ok := want[c.Name]; ok {
				got[c.Name] = c.Default
			}
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
