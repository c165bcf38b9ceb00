package config

import (
	"fmt"

	"conclave/internal/event"
)

// Settings are what a file says about how agents work together. A nil field was
// not said. Whoever has more to say, such as a command line, sets fields before
// asking for [Settings.Rules].
type Settings struct {
	Single     *bool // agent_mode: one agent alone
	Refinement *bool

	MaxAnswers       *int
	MaxAnswersGlobal *int
	MaxSimilarity    *float64 // answer_novelty_requirement
	Fairness         *bool
	FairnessLead     *int
	DisableInjection *bool
	DeferVoting      *bool

	SkipVoting       *bool
	VotingRule       *event.VotingRule
	Override         *event.Override
	Strategy         *event.Strategy
	SkipPresentation *bool

	MaxAttempts *int
	MaxCalls    *int
	MaxTokens   *int64
	MaxCost     *event.Money

	Planning *bool
	Execute  *bool

	RunLimit    *event.Duration
	FirstRound  *event.Duration
	LaterRounds *event.Duration
	RoundGrace  *event.Duration

	// What agents have at hand besides; [File.Agents] carry it.
	TaskPlan  *bool
	MaxTasks  *int
	Memory    *bool
	UseSkills *bool
	SkillsDir string

	// ContextPaths have absolute paths; what they protect is relative to them.
	ContextPaths []event.ContextPath
}

// Mode is the mode the file asks for: one agent works alone unless it says
// otherwise, and agents refine unless it says otherwise.
func (f *File) Mode() event.Mode {
	m := event.Mode{Single: len(f.Agents) == 1}
	if s := f.Settings.Single; s != nil {
		m.Single = *s
	}
	if s := f.Settings.Refinement; s != nil {
		m.Quick = !*s
	}
	return m
}

// Rules are the rules of a run in that mode: its defaults, and over them what
// was set. The mode comes from [File.Mode] or from whoever starts the run.
//
// A setting wins over a mode's default with these exceptions, which are what
// refinement off means:
//
//	several agents  max_new_answers_per_agent is 1, disable_injection and
//	                defer_voting_until_all_answered are on
//	one agent       max_new_answers_per_agent is 1, skip_voting is on and there
//	                is no presentation
//
// That several agents then synthesize is a default like any other, so a file
// that names a final_answer_strategy gets it.
func (s Settings) Rules(m event.Mode) (event.Rules, error) {
	r := event.Defaults(m)
	for _, t := range tables() {
		for _, k := range t.rows {
			if k.apply != nil && (k.fixed == nil || !k.fixed(m)) {
				k.apply(&s, &r)
			}
		}
	}
	// Agents are told to wrap up some time before the end; in a short run that
	// must not be its beginning.
	r.RunGrace = min(r.RunGrace, r.RunLimit/4)
	if err := r.Validate(1); err != nil {
		return event.Rules{}, fmt.Errorf("resolve settings: %w", err)
	}
	return r, nil
}

// A table is rows that fill settings, and where they stand in a file.
type table struct {
	path string
	rows []row[Settings]
}

func tables() []table {
	return []table{{"orchestrator", orchestrator()}, {"orchestrator.coordination", coordination()}, {"timeout_settings", timeouts()}}
}

func quick(m event.Mode) bool      { return m.Quick }
func quickTeam(m event.Mode) bool  { return m.Quick && !m.Single }
func quickAlone(m event.Mode) bool { return m.Quick && m.Single }

// fairness is two keys and one rule.
func fairness(s *Settings, r *event.Rules) {
	if s.FairnessLead != nil {
		r.FairnessLead = *s.FairnessLead
	}
	if s.Fairness != nil && !*s.Fairness {
		r.FairnessLead = 0
	}
}

// strategy is two keys and one rule.
func strategy(s *Settings, r *event.Rules) {
	switch {
	case s.Strategy != nil:
		r.Strategy = *s.Strategy
	case s.SkipPresentation != nil && *s.SkipPresentation:
		r.Strategy = event.WinnerReuse
	}
}

func budget(s *Settings, r *event.Rules) {
	r.Budget = event.Budget{Tokens: s.MaxTokens, Cost: s.MaxCost}
}
