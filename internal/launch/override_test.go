package launch_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"conclave/internal/config"
	"conclave/internal/event"
	"conclave/internal/launch"

	"github.com/google/go-cmp/cmp"
)

// samples are values of every setting a call may change.
var samples = map[string][]string{
	"max_new_answers_per_agent": {"1", "3"}, "max_new_answers_global": {"7"},
	"answer_novelty_requirement": {`"lenient"`, `"balanced"`, `"strict"`},
	"fairness_enabled":           {"true", "false"}, "fairness_lead_cap_answers": {"1", "4"},
	"disable_injection": {"true", "false"}, "defer_voting_until_all_answered": {"true"},
	"skip_voting": {"true", "false"}, "voting_rule": {`"plurality"`, `"borda"`},
	"skip_final_presentation": {"true", "false"}, "final_answer_strategy": {`"winner_reuse"`, `"winner_present"`, `"synthesize"`},
	"max_attempts_per_round": {"2"}, "max_calls_per_round": {"40"},
	"max_tokens": {"0", "50000"}, "max_cost": {"0", "2.50", "0.000001"},
	"orchestrator_timeout_seconds": {"120", "0.5"}, "initial_round_timeout_seconds": {"60"},
	"subsequent_round_timeout_seconds": {"30"}, "round_timeout_grace_seconds": {"0", "15"},
}

// notOverridden are keys of the configuration that change the rules of a run and
// that a call cannot set, with why.
var notOverridden = map[string]string{
	"agent_mode": "a parameter of its own", "refinement": "a parameter of its own",
	"enable_planning_mode": "planning_mode", "execute_after_planning": "a parameter of its own",
	"override": "whether a person may choose the winner is theirs to say",
}

// documented are the properties of coordination_overrides in the schema.
func documented(t *testing.T) map[string]any {
	t.Helper()
	var s struct {
		Properties map[string]struct{ Properties map[string]any }
	}
	if err := json.Unmarshal(launch.Schema(three), &s); err != nil {
		t.Fatal(err)
	}
	out := s.Properties["coordination_overrides"].Properties
	delete(out, "require_approval")
	return out
}

// A setting has the name it has in a configuration, and does what it does there.
func TestOverridesMeanWhatTheyMeanInAConfiguration(t *testing.T) {
	section := map[string]string{}
	for _, top := range config.Keys() {
		if top.Name == "orchestrator" || top.Name == "timeout_settings" {
			for _, k := range top.Keys {
				section[k.Name] = top.Name
			}
		}
	}
	for name := range documented(t) {
		values := samples[name]
		if section[name] == "" || len(values) == 0 {
			t.Errorf("%s: in the configuration under %q, %d samples here", name, section[name], len(values))
		}
		for _, v := range values {
			src := fmt.Sprintf("agents:\n- {id: ada, backend: {type: demo, persona: theorist}}\n- {id: bob, backend: {type: demo, persona: sceptic}}\n%s: {%s: %s}\n", section[name], name, v)
			f, err := config.Parse("c.yaml", []byte(src))
			if err != nil {
				t.Fatal(err)
			}
			want, err := f.Settings.Rules(event.Mode{})
			if err != nil {
				t.Fatal(err)
			}
			l := read(t, three, fmt.Sprintf(`{"task":"x","coordination_overrides":{%q:%s}}`, name, v))
			if diff := cmp.Diff(want, launch.Rules(l, event.Defaults(event.Mode{}))); diff != "" {
				t.Errorf("%s: %s: a configuration and a call differ: %s", name, v, diff)
			}
		}
	}
}

// A key of the configuration that changes the rules of a run is one a call can
// set, or there is a reason why not.
func TestEveryRuleCanBeOverridden(t *testing.T) {
	known := documented(t)
	for _, top := range config.Keys() {
		if top.Name != "orchestrator" && top.Name != "timeout_settings" {
			continue
		}
		for _, k := range top.Keys {
			_, here := known[k.Name]
			scalar := k.Kind != config.Map && k.Kind != config.List && k.Default != "not needed"
			if _, reason := notOverridden[k.Name]; !k.Later && scalar && here == reason {
				t.Errorf("%s: a call can set it: %t, and there is a reason why not: %t", k.Name, here, reason)
			}
		}
	}
}

// The launch decides on planning, and no call makes a run cost more than its user
// allows.
//
// IM-02.8 DZ-05
func TestRules(t *testing.T) {
	configured := event.Defaults(event.Mode{})
	configured.Planning, configured.Execute = true, true
	configured.Budget = event.Budget{Tokens: new(int64(1000)), Cost: new(event.Dollar)}
	configured.FairnessLead = 0

	got := launch.Rules(read(t, three, `{"task":"x","coordination_overrides":{"max_cost":5,"max_tokens":10,"fairness_enabled":true,"orchestrator_timeout_seconds":40}}`), configured)
	if got.Planning || got.Execute {
		t.Error("a run that is not to plan plans")
	}
	if *got.Budget.Cost != event.Dollar || *got.Budget.Tokens != 10 {
		t.Errorf("budget %v %v", *got.Budget.Cost, *got.Budget.Tokens)
	}
	if got.FairnessLead != 2 {
		t.Errorf("fairness back on leaves a lead of %d", got.FairnessLead)
	}
	if got.RunGrace >= got.RunLimit {
		t.Errorf("told to wrap up %s before the end of %s", got.RunGrace, got.RunLimit)
	}
	if got := launch.Rules(read(t, three, `{"task":"x","planning_mode":true,"execute_after_planning":true}`), event.Defaults(event.Mode{})); !got.Planning || !got.Execute {
		t.Error("a run that is to plan and execute does not")
	}
}

// The way back leads to the same launch, whatever was said.
func TestOfIsTheWayBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		l, ok := random(r)
		if !ok {
			continue
		}
		p := launch.Of(l, l.Task.Text, l.Context.Text)
		wire, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		again := read(t, three, string(wire))
		if diff := cmp.Diff(l, again); diff != "" {
			t.Fatalf("%s: %s", wire, diff)
		}
	}
}

// random is some launch; not ok if what was drawn contradicts itself.
func random(r *rand.Rand) (event.Launch, bool) {
	maybe := func() *bool { return []*bool{nil, new(true), new(false)}[r.IntN(3)] }
	names := []string{"ada", "bob", "cyd"}
	r.Shuffle(3, func(i, j int) { names[i], names[j] = names[j], names[i] })
	p := launch.Params{
		Task: "do \"it\"\n<now>", Context: []string{"", "because"}[r.IntN(2)], AgentMode: []string{"", "single", "multi"}[r.IntN(3)],
		Agents: names[:r.IntN(4)], Refinement: maybe(), PlanningMode: maybe(), Execute: maybe(),
	}
	for i := range r.IntN(3) {
		p.ContextPaths = append(p.ContextPaths, launch.Path{Path: fmt.Sprintf("/p/%d", i), Permission: []string{"", "read", "write"}[r.IntN(3)]})
	}
	if r.IntN(2) == 0 && len(p.Agents) > 0 {
		p.Prompts = map[string]string{p.Agents[0]: "be <brief>"}
	}
	var settings []string
	for name, values := range samples {
		if r.IntN(6) == 0 {
			settings = append(settings, fmt.Sprintf("%q: %s", name, values[r.IntN(len(values))]))
		}
	}
	slices.Sort(settings)
	if r.IntN(3) == 0 {
		settings = append(settings, `"require_approval": true`)
	}
	p.Overrides = json.RawMessage("{" + strings.Join(settings, ", ") + "}")
	l, err := p.Launch(three)
	return l, err == nil
}

// The entry of a launch counts over an inherited one of the same path; what the
// user protects stays protected by whichever way.
//
// IM-11.2 IM-11.3
func TestPaths(t *testing.T) {
	inherited := []event.ContextPath{
		{Path: "/src", Write: true, Protected: []string{"go.mod", "/src/secret"}},
		{Path: "/doc"},
		{Path: "/other"},
	}
	l := event.Launch{Paths: []event.ContextPath{
		{Path: "/src", Write: true}, {Path: "/doc", Write: true}, {Path: "/src/secret/keys", Write: true}, {Path: "/src/secret", Write: true}, {Path: "/", Write: true}, {Path: "/srcs", Write: true},
	}}
	want := []event.ContextPath{
		{Path: "/other"},
		{Path: "/src", Write: true, Protected: []string{"go.mod", "secret"}},
		{Path: "/doc", Write: true},
		{Path: "/src/secret/keys"},
		{Path: "/src/secret"},
		{Path: "/", Write: true, Protected: []string{"src/go.mod", "src/secret"}},
		{Path: "/srcs", Write: true},
	}
	if diff := cmp.Diff(want, launch.Paths(l, inherited)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(inherited, launch.Paths(event.Launch{}, inherited)); diff != "" {
		t.Error(diff)
	}
}
