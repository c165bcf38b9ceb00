package event_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"conclave/internal/event"
)

// TestDefaults is the mode matrix.
//
//	DZ-01    quick single, single + refine, multi no-refine, multi + refine;
//	         planning and execution are switched on top of any of them
//	TM-05.1  refinement off, single: voting is skipped
//	TM-05.2  refinement off, multi: one answer each, no injection, deferred
//	         voting, synthesize
//	TM-06.4  refinement off, multi: synthesize, not the winner's answer verbatim
//	TM-08.2  refinement on, single: the vote stays
func TestDefaults(t *testing.T) {
	base := event.Rules{
		Version: event.RulesVersion, MaxAnswers: 5, FairnessLead: 2, MaxAttempts: 3, MaxCalls: 100,
		VotingRule: event.Plurality, Strategy: event.WinnerPresent,
		RoundGrace: event.Duration(2 * time.Minute),
		RunLimit:   event.Duration(30 * time.Minute), RunGrace: event.Duration(2 * time.Minute),
		StopGrace: event.Duration(10 * time.Second),
	}
	for _, test := range []struct {
		name string
		mode event.Mode
		want func(*event.Rules)
	}{
		{"quick single", event.Mode{Single: true, Quick: true}, func(r *event.Rules) {
			r.Single, r.Quick = true, true
			r.MaxAnswers, r.SkipVoting, r.Strategy = 1, true, event.WinnerReuse
		}},
		{"single + refine", event.Mode{Single: true}, func(r *event.Rules) {
			r.Single, r.Strategy = true, event.WinnerReuse
		}},
		{"multi no-refine", event.Mode{Quick: true}, func(r *event.Rules) {
			r.Quick = true
			r.MaxAnswers, r.DisableInjection, r.DeferVoting, r.Strategy = 1, true, true, event.Synthesize
		}},
		{"multi + refine", event.Mode{}, func(*event.Rules) {}},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := base
			test.want(&want)
			got := event.Defaults(test.mode)
			if got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			if got.Override.On {
				t.Error("a person is asked where nobody said that one is there")
			}
			seats := 3
			if test.mode.Single {
				seats = 1
			}
			if err := got.Validate(seats); err != nil {
				t.Errorf("no run could follow it: %v", err)
			}
			got.Planning, got.Execute = true, true
			if err := got.Validate(seats); err != nil {
				t.Errorf("planning: %v", err)
			}
		})
	}
}

// TestValidate lists every refusal, each with what the user is told.
func TestValidate(t *testing.T) {
	tokens, cost := int64(-1), event.Money(-1)
	for _, test := range []struct {
		name  string
		seats int
		spoil func(*event.Rules)
		want  string
	}{
		{"older version", 2, func(r *event.Rules) { r.Version = 0 }, "rules version 0"},
		{"newer version", 2, func(r *event.Rules) { r.Version = event.RulesVersion + 1 }, fmt.Sprintf("rules version %d", event.RulesVersion+1)},
		{"no agents", 0, func(*event.Rules) {}, "at least one agent"},
		{"single with two", 2, func(r *event.Rules) { r.Single = true }, "takes one agent, not 2"},
		{"no answers", 2, func(r *event.Rules) { r.MaxAnswers = 0 }, "max_new_answers_per_agent"},
		{"global below zero", 2, func(r *event.Rules) { r.MaxAnswersGlobal = -1 }, "max_new_answers_global"},
		{"lead below zero", 2, func(r *event.Rules) { r.FairnessLead = -1 }, "fairness_lead_cap_answers"},
		{"similarity below zero", 2, func(r *event.Rules) { r.MaxSimilarity = -0.1 }, "similarity"},
		{"similarity above one", 2, func(r *event.Rules) { r.MaxSimilarity = 1.1 }, "similarity"},
		{"no attempts", 2, func(r *event.Rules) { r.MaxAttempts = 0 }, "attempts and calls"},
		{"no calls", 2, func(r *event.Rules) { r.MaxCalls = 0 }, "attempts and calls"},
		{"no voting rule", 2, func(r *event.Rules) { r.VotingRule = "" }, `voting_rule ""`},
		{"voting rule", 2, func(r *event.Rules) { r.VotingRule = "condorcet" }, `voting_rule "condorcet"`},
		{"strategy", 2, func(r *event.Rules) { r.Strategy = "winner" }, `final_answer_strategy "winner"`},
		{"no time", 2, func(r *event.Rules) { r.RunLimit = 0 }, "time limit above zero"},
		{"time below zero", 2, func(r *event.Rules) { r.RunLimit = -1 }, "time limit above zero"},
		{"run grace", 2, func(r *event.Rules) { r.RunGrace = -1 }, "must not be negative"},
		{"round grace", 2, func(r *event.Rules) { r.RoundGrace = -1 }, "must not be negative"},
		{"first round", 2, func(r *event.Rules) { r.FirstRound = -1 }, "must not be negative"},
		{"later rounds", 2, func(r *event.Rules) { r.LaterRounds = -1 }, "must not be negative"},
		{"stop grace", 2, func(r *event.Rules) { r.StopGrace = -1 }, "must not be negative"},
		{"override wait", 2, func(r *event.Rules) { r.Override = event.Override{On: true, Wait: -1} }, "must not be negative"},
		{"execute without planning", 2, func(r *event.Rules) { r.Execute = true }, "execute_after_planning needs planning_mode"},
		{"tokens", 2, func(r *event.Rules) { r.Budget.Tokens = &tokens }, "budget"},
		{"cost", 2, func(r *event.Rules) { r.Budget.Cost = &cost }, "budget"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := event.Defaults(event.Mode{})
			test.spoil(&r)
			if err := r.Validate(test.seats); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}

// TestValidateAccepts the edges of what is allowed.
func TestValidateAccepts(t *testing.T) {
	tokens, cost := int64(0), event.Money(0)
	r := event.Rules{
		Version: event.RulesVersion, MaxAnswers: 1, MaxAttempts: 1, MaxCalls: 1, MaxSimilarity: 1,
		VotingRule: event.Borda, Strategy: event.Synthesize, RunLimit: 1,
		Budget: event.Budget{Tokens: &tokens, Cost: &cost}, Override: event.Override{On: true},
	}
	for _, seats := range []int{1, 2, math.MaxInt} {
		if err := r.Validate(seats); err != nil {
			t.Errorf("%d seats: %v", seats, err)
		}
	}
}
