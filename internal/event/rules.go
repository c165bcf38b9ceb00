package event

import (
	"fmt"
	"time"
)

// RulesVersion is the version of the decision rules a new run is given. A
// change of what coord decides is a new version, and old logs keep theirs.
//
//	1  a request that does not fit below the ceiling ends the run
//	2  it waits while other calls hold what would let it fit; a provider that asks
//	   for a rest of ten seconds or more takes no attempt, and gets it where nobody
//	   votes as well
//
// What people may say to a run while it goes on (Messaged and its like) is no
// version of its own: a log without it decides nothing by it.
const RulesVersion = 2

// Rules are the coordination settings a run was started with, already resolved:
// nothing is looked up elsewhere while the run goes on.
type Rules struct {
	Version int `json:"version"`

	// Single: one agent; a vote means "I am done refining".
	Single bool `json:"single,omitempty"`
	// Quick is refinement switched off.
	Quick bool `json:"quick,omitempty"`
	// Planning binds only read-only tools; the plan is the result.
	Planning bool `json:"planning,omitempty"`
	// Execute has the winner of a planning run carry out its plan.
	Execute bool `json:"execute,omitempty"`

	SkipVoting       bool `json:"skip_voting,omitempty"`
	DisableInjection bool `json:"disable_injection,omitempty"`
	DeferVoting      bool `json:"defer_voting,omitempty"`

	MaxAnswers       int `json:"max_answers"`                  // per agent
	MaxAnswersGlobal int `json:"max_answers_global,omitempty"` // zero: none
	// FairnessLead is how many revisions an agent may be ahead of the slowest
	// active one; zero switches the check off.
	FairnessLead int `json:"fairness_lead,omitempty"`
	// MaxSimilarity refuses answers more alike than this to a known one; zero
	// switches the check off.
	MaxSimilarity float64 `json:"max_similarity,omitempty"`
	// MaxAttempts bounds refused and failed outcomes in a round, MaxCalls all
	// model calls in it. An agent that uses them up is lost.
	MaxAttempts int `json:"max_attempts"`
	MaxCalls    int `json:"max_calls"`

	VotingRule VotingRule `json:"voting_rule"`
	Strategy   Strategy   `json:"strategy"`
	Override   Override   `json:"override,omitzero"`
	// Permission says whether a person can be asked before a tool is used; off,
	// what would have to be asked is denied.
	Permission Override `json:"permission,omitzero"`

	// FirstRound and LaterRounds are soft limits; zero is none. RoundGrace
	// follows twice: until the turn is cut, and until the agent is lost.
	FirstRound  Duration `json:"first_round,omitempty"`
	LaterRounds Duration `json:"later_rounds,omitempty"`
	RoundGrace  Duration `json:"round_grace,omitempty"`
	// RunLimit ends the run; RunGrace before it everybody is told to wrap up.
	RunLimit Duration `json:"run_limit"`
	RunGrace Duration `json:"run_grace,omitempty"`
	// StopGrace is how long a stopped turn may take to end.
	StopGrace Duration `json:"stop_grace"`

	Budget Budget `json:"budget,omitzero"`
}

// A VotingRule turns ballots into a winner.
type VotingRule string

const (
	Plurality VotingRule = "plurality"
	Borda     VotingRule = "borda"
)

// A Strategy says how the final answer is made from the winner's.
type Strategy string

const (
	WinnerReuse   Strategy = "winner_reuse"
	WinnerPresent Strategy = "winner_present"
	Synthesize    Strategy = "synthesize"
)

// An Override says whether a person is asked: to change the winner before it
// presents, or for a permission. The zero value is off.
type Override struct {
	On bool `json:"on,omitempty"`
	// Wait is how long to wait for the person; zero is for ever.
	Wait Duration `json:"wait,omitempty"`
}

// A Mode is the part of the rules a user switches as one: how many agents, and
// whether they refine.
type Mode struct {
	Single bool
	Quick  bool
}

// Defaults are the rules of a mode when nothing else is said.
//
//	              refinement on              refinement off (quick)
//	single        vote means "done",         no vote, the first answer is the
//	              the last answer stands     result, no presentation
//	multi         the full thing             one answer each, unseen by the
//	                                         others, then a vote for who
//	                                         synthesizes
func Defaults(m Mode) Rules {
	r := Rules{
		Version:      RulesVersion,
		Single:       m.Single,
		Quick:        m.Quick,
		MaxAnswers:   5,
		FairnessLead: 2,
		MaxAttempts:  3,
		MaxCalls:     100,
		VotingRule:   Plurality,
		Strategy:     WinnerPresent,
		RoundGrace:   Duration(2 * time.Minute),
		RunLimit:     Duration(30 * time.Minute),
		RunGrace:     Duration(2 * time.Minute),
		StopGrace:    Duration(10 * time.Second),
	}
	switch {
	case m.Single && m.Quick:
		r.MaxAnswers, r.SkipVoting, r.Strategy = 1, true, WinnerReuse
	case m.Single:
		r.Strategy = WinnerReuse
	case m.Quick:
		r.MaxAnswers, r.DisableInjection, r.DeferVoting, r.Strategy = 1, true, true, Synthesize
	}
	return r
}

// Validate reports the first setting that no run could follow.
func (r Rules) Validate(seats int) error {
	switch {
	case r.Version < 1 || r.Version > RulesVersion:
		return fmt.Errorf("rules version %d is not known here (newest: %d)", r.Version, RulesVersion)
	case seats < 1:
		return fmt.Errorf("a run needs at least one agent")
	case r.Single && seats != 1:
		return fmt.Errorf("single-agent mode takes one agent, not %d", seats)
	case r.MaxAnswers < 1:
		return fmt.Errorf("max_new_answers_per_agent must be at least 1, not %d", r.MaxAnswers)
	case r.MaxAnswersGlobal < 0:
		return fmt.Errorf("max_new_answers_global must not be negative")
	case r.FairnessLead < 0:
		return fmt.Errorf("fairness_lead_cap_answers must not be negative")
	case r.MaxSimilarity < 0 || r.MaxSimilarity > 1:
		return fmt.Errorf("the highest allowed similarity must be between 0 and 1")
	case r.MaxAttempts < 1 || r.MaxCalls < 1:
		return fmt.Errorf("attempts and calls per round must be at least 1")
	case r.VotingRule != Plurality && r.VotingRule != Borda:
		return fmt.Errorf("voting_rule %q is neither %q nor %q", r.VotingRule, Plurality, Borda)
	case r.Strategy != WinnerReuse && r.Strategy != WinnerPresent && r.Strategy != Synthesize:
		return fmt.Errorf("final_answer_strategy %q is none of %q, %q, %q", r.Strategy, WinnerReuse, WinnerPresent, Synthesize)
	case r.RunLimit <= 0:
		return fmt.Errorf("a run needs a time limit above zero")
	case r.RunGrace < 0 || r.RoundGrace < 0 || r.FirstRound < 0 || r.LaterRounds < 0 || r.StopGrace < 0 || r.Override.Wait < 0 || r.Permission.Wait < 0:
		return fmt.Errorf("time limits must not be negative")
	case r.Execute && !r.Planning:
		return fmt.Errorf("execute_after_planning needs planning_mode")
	case r.Budget.Tokens != nil && *r.Budget.Tokens < 0, r.Budget.Cost != nil && *r.Budget.Cost < 0:
		return fmt.Errorf("a budget must not be negative")
	}
	return nil
}
