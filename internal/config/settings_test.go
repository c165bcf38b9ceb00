package config_test

import (
	"strings"
	"testing"

	"conclave/internal/config"
	"conclave/internal/event"

	"github.com/google/go-cmp/cmp"
)

func TestMode(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		want      event.Mode
	}{
		{"several agents", twoAgents, event.Mode{}},
		{"one agent", team, event.Mode{Single: true}},
		{"one agent, as a team", team + "orchestrator: {agent_mode: multi}", event.Mode{}},
		{"one of several", twoAgents + "orchestrator: {agent_mode: single}", event.Mode{Single: true}},
		{"quick", twoAgents + "orchestrator: {refinement: false}", event.Mode{Quick: true}},
		{"quick and alone", team + "orchestrator: {refinement: false}", event.Mode{Single: true, Quick: true}},
	} {
		if got := mustParse(t, tt.src).Mode(); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// contrary is a file that says the opposite of every default.
func contrary() config.Settings {
	return config.Settings{
		MaxAnswers: new(3), DisableInjection: new(false), DeferVoting: new(false), SkipVoting: new(false),
		Strategy: new(event.WinnerPresent), VotingRule: new(event.Borda),
	}
}

// What was set wins over what a mode has by default, but for what the mode is.
func TestModesAndSettings(t *testing.T) {
	reuse := config.Settings{SkipPresentation: new(true)}
	for _, tt := range []struct {
		name     string
		mode     event.Mode
		settings config.Settings
		want     func(*event.Rules)
	}{
		{"full", event.Mode{}, contrary(), func(r *event.Rules) { r.MaxAnswers, r.VotingRule = 3, event.Borda }},
		{"alone", event.Mode{Single: true}, contrary(), func(r *event.Rules) {
			r.MaxAnswers, r.VotingRule, r.Strategy = 3, event.Borda, event.WinnerPresent
		}},
		{"quick", event.Mode{Quick: true}, contrary(), func(r *event.Rules) {
			r.VotingRule, r.Strategy = event.Borda, event.WinnerPresent
		}},
		{"quick and alone", event.Mode{Single: true, Quick: true}, contrary(), func(r *event.Rules) { r.VotingRule = event.Borda }},
		{"reuse", event.Mode{}, reuse, func(r *event.Rules) { r.Strategy = event.WinnerReuse }},
		{"quick reuse", event.Mode{Quick: true}, reuse, func(r *event.Rules) { r.Strategy = event.WinnerReuse }},
		{"quick without a vote", event.Mode{Quick: true}, config.Settings{SkipVoting: new(true)}, func(r *event.Rules) { r.SkipVoting = true }},
		{"no fairness, whatever the lead", event.Mode{}, config.Settings{Fairness: new(false), FairnessLead: new(7)},
			func(r *event.Rules) { r.FairnessLead = 0 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.settings.Rules(tt.mode)
			if err != nil {
				t.Fatal(err)
			}
			want := event.Defaults(tt.mode)
			tt.want(&want)
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestRulesOfNothing(t *testing.T) {
	for _, m := range []event.Mode{{}, {Single: true}, {Quick: true}, {Single: true, Quick: true}} {
		got, err := config.Settings{}.Rules(m)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(event.Defaults(m), got); d != "" {
			t.Errorf("%+v: %s", m, d)
		}
	}
}

// Settings that did not come from a file are checked as well.
func TestRulesRefuse(t *testing.T) {
	for _, s := range []config.Settings{
		{MaxAnswers: new(0)}, {Execute: new(true)}, {VotingRule: new(event.VotingRule("coin"))}, {RunLimit: new(event.Duration(0))},
	} {
		if _, err := s.Rules(event.Mode{}); err == nil || !strings.HasPrefix(err.Error(), "resolve settings: ") {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
