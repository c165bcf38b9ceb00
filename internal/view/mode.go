package view

import "conclave/internal/event"

// Overrides are what modes set in a run, whatever else is configured. A zero
// field leaves the configuration as it is.
type Overrides struct {
	// Mode is how many agents, and whether they refine.
	event.Mode
	// Agent is the one that works, if one alone does and it was named.
	Agent event.AgentID
	// Planning: tools only look, and the result is a plan.
	Planning bool

	SkipVoting       bool
	MaxAnswers       int
	DisableInjection bool
	DeferVoting      bool
	// Strategy is how the final answer is made unless the configuration names
	// another way.
	Strategy event.Strategy
}

// Mode is what modes mean for the rules of a run:
//
//	              refinement on          refinement off (quick)
//	single        its last answer        no vote, one answer, which is the
//	              stands                 result
//	multi         as configured          one answer each, unseen by the others,
//	                                     the vote after all have answered, and
//	                                     the winner synthesizes
//
// With a plan first, the run that makes it looks and changes nothing.
func Mode(m event.Modes) Overrides {
	o := Overrides{Mode: event.Mode{Single: m.Single, Quick: m.Quick}, Planning: m.Plan, Strategy: event.WinnerPresent}
	if m.Single {
		o.Agent, o.Strategy = m.Agent, event.WinnerReuse
	}
	switch {
	case m.Single && m.Quick:
		o.SkipVoting, o.MaxAnswers = true, 1
	case m.Quick:
		o.MaxAnswers, o.DisableInjection, o.DeferVoting, o.Strategy = 1, true, true, event.Synthesize
	}
	return o
}

// Apply puts the overrides over rules that were configured. The strategy is a
// default, so it is not among them.
func (o Overrides) Apply(r event.Rules) event.Rules {
	r.Single, r.Quick = o.Single, o.Quick
	// The plan is reviewed by a person and carried out by another run.
	r.Planning, r.Execute = o.Planning, false
	r.SkipVoting = r.SkipVoting || o.SkipVoting
	r.DisableInjection = r.DisableInjection || o.DisableInjection
	r.DeferVoting = r.DeferVoting || o.DeferVoting
	if o.MaxAnswers > 0 {
		r.MaxAnswers = o.MaxAnswers
	}
	return r
}
