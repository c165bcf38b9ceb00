package coord

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"conclave/internal/coord/vote"
	"conclave/internal/event"
)

// choice names the winner from what there is, or ends a run that has no answer.
func (r *Run) choice() event.Fact {
	var candidates []event.AgentID
	for _, m := range r.s.Members {
		if len(m.Answers) > 0 {
			candidates = append(candidates, m.ID)
		}
	}
	if len(candidates) == 0 {
		return r.finish(event.Content{})
	}
	ballots := r.ballots()
	res := vote.Count(r.rules().VotingRule, r.s.Started.Seed, candidates, ballots)
	if len(ballots) == 0 && len(candidates) > 1 && !r.rules().SkipVoting {
		res.How, res.Order = "newest", r.newestFirst(candidates)
		res.Winner = res.Order[0]
	}
	return event.Fact{ID: "chosen", Body: event.Chosen{
		Winner: res.Winner, How: res.How, Tally: res.Tally, Margin: res.Margin, Order: res.Order,
	}}
}

// ballots are the votes that count. A run that ends early with no vote up to
// date goes by those that were cast.
func (r *Run) ballots() []vote.Ballot {
	var fresh, all []vote.Ballot
	for _, m := range r.s.Members {
		if m.Vote == nil {
			continue
		}
		b := vote.Ballot{Voter: m.ID, For: m.Vote.For, Ranking: m.Vote.Ranking}
		all = append(all, b)
		if r.fresh(m) {
			fresh = append(fresh, b)
		}
	}
	if len(fresh) == 0 {
		return all
	}
	return fresh
}

func (r *Run) newestFirst(of []event.AgentID) []event.AgentID {
	serial := func(a event.AgentID) int {
		as := r.member(a).Answers
		return as[len(as)-1].Serial
	}
	return slices.SortedFunc(slices.Values(of), func(a, b event.AgentID) int {
		return cmp.Compare(serial(b), serial(a))
	})
}

// conclude takes a run from its winner to its end.
func (r *Run) conclude() (event.Fact, bool) {
	switch {
	case r.s.Chosen == nil, r.owing():
		return event.Fact{}, false
	case r.s.Final != nil:
		return r.finish(*r.s.Final), true
	case r.working():
		return event.Fact{}, false
	case r.s.Ending != nil:
		if g := r.s.Gate; g != nil && g.Closed == nil {
			return closed(g, event.Closed{Choice: g.Default, How: "ending"}), true
		}
		return r.finish(r.draft()), true
	case r.paused():
		return event.Fact{}, false
	case r.wantsGate():
		return r.ask(), true
	case r.asking():
		return event.Fact{}, false
	case !r.presents():
		return r.finish(r.draft()), true
	}
	p := r.presenter()
	switch {
	case p == nil:
		return r.finish(r.draft()), true
	case r.resting(p):
		return event.Fact{}, false
	}
	return r.presentingBy(p), true
}

func (r *Run) wantsGate() bool {
	return r.rules().Override.On && r.s.Gate == nil && len(r.s.Chosen.Tally) > 0 && len(r.s.Chosen.Order) > 1
}

func (r *Run) ask() event.Fact {
	c := r.s.Chosen
	a := event.Asked{
		Gate: event.GateOverride, Kind: event.GateOverride, Revision: 1,
		Title:   fmt.Sprintf("%s has won the vote. Who presents?", r.member(c.Winner).Label),
		Default: string(c.Winner), Wait: r.rules().Override.Wait,
	}
	for _, id := range c.Order {
		a.Choices = append(a.Choices, event.Choice{ID: string(id), Text: string(r.member(id).Label)})
	}
	return event.Fact{ID: "asked/" + a.Gate, Body: a}
}

func closed(g *gate, c event.Closed) event.Fact {
	c.Gate = g.Gate
	return event.Fact{ID: "closed/" + g.Gate, Body: c}
}

// drafted is whose answer becomes the result: the winner's, unless a person
// chose another.
func (r *Run) drafted() *member {
	if g := r.s.Gate; g != nil && g.Closed != nil {
		return r.member(event.AgentID(g.Closed.Choice))
	}
	return r.member(r.s.Chosen.Winner)
}

func (r *Run) draft() event.Content {
	as := r.drafted().Answers
	return as[len(as)-1].Content
}

// presents reports whether somebody writes the final answer. Reuse becomes
// present where somebody must write: into context paths, or by executing the
// plan. A quick single agent has written all along.
func (r *Run) presents() bool {
	ru := r.rules()
	switch {
	case ru.Single && ru.Quick && !ru.Execute:
		return false
	case ru.Execute:
		return true
	case ru.Strategy == event.WinnerReuse:
		return r.s.Started.Spec.Writable() && !ru.Planning
	}
	return true
}

func (r *Run) strategy() event.Strategy {
	if s := r.rules().Strategy; s != event.WinnerReuse {
		return s
	}
	return event.WinnerPresent
}

// planStranded reports whether a plan was to be carried out and nobody is left
// who could.
func (r *Run) planStranded() bool {
	return r.rules().Execute && r.s.Chosen != nil && r.s.Final == nil && r.presenter() == nil
}

// presenter is whoever's answer it is, or the next by the tally that can.
func (r *Run) presenter() *member {
	for _, id := range append([]event.AgentID{r.drafted().ID}, r.s.Chosen.Order...) {
		if m := r.member(id); m.Lost == nil {
			return m
		}
	}
	return nil
}

func (r *Run) presentingBy(m *member) event.Fact {
	t := event.Turn{Round: m.Round.Round + 1, Take: 1}
	if m.Round.Open {
		t = event.Turn{Round: m.Round.Round, Take: m.Round.Take + 1}
	}
	d := r.drafted()
	return event.Fact{ID: "presenting/" + string(m.ID) + "/" + t.String(), Agent: m.ID, Body: event.Presenting{
		Turn: t, Strategy: r.strategy(), Draft: d.ID, Revision: len(d.Answers),
		Execute: r.rules().Execute, Write: r.s.Started.Spec.Writable() && (!r.rules().Planning || r.rules().Execute),
		Messages: r.addressed(m),
	}}
}

// finish closes the run with a text and an honest status.
func (r *Run) finish(text event.Content) event.Fact {
	f := event.Finished{Answer: text, StoppedBy: r.stoppedBy()}
	if r.s.Chosen != nil {
		f.Winner = r.drafted().ID
	}
	if r.s.Final != nil {
		f.Presenter = r.s.Present.By
	}
	switch f.StoppedBy {
	case event.StoppedByUser:
		f.Status, f.Error = event.StatusCancelled, r.s.Ending.Why
	case event.StoppedByDeadline:
		f.Status, f.Error = event.StatusTimeout, r.s.Ending.Why
	case event.StoppedByFailure:
		f.Status, f.Error = event.StatusError, r.s.Ending.Why
	default:
		f.Status = event.StatusSuccess
		if text.Empty() {
			f.Status, f.Error = event.StatusError, "stopped before there was an answer: "+r.s.Ending.Why
		}
	}
	return event.Fact{ID: "finished", Body: f}
}

func (r *Run) stoppedBy() event.StoppedBy {
	switch {
	case r.s.Ending != nil:
		return r.s.Ending.By
	case r.rules().SkipVoting, len(r.ballots()) == 0:
		return event.StoppedByAnswerLimit
	}
	return event.StoppedByVotes
}

// losses names the agents that are lost, and why.
func (r *Run) losses() string {
	var out []string
	for _, m := range r.s.Members {
		if m.Lost != nil {
			out = append(out, fmt.Sprintf("%s (%s) %s", m.Label, m.ID, m.Lost.Message))
		}
	}
	return strings.Join(out, "; ")
}
