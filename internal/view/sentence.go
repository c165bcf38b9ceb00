package view

import (
	"fmt"
	"strings"

	"conclave/internal/event"
)

// Sentence is the state of agreement in plain words, agents by their labels:
// "Two answers in, comparing; agent2 leads 2–1 (one vote is out of date)."
func (b Ballot) Sentence() string { return b.sentence() + "." }

func (b Ballot) sentence() string {
	switch {
	case len(b.Voters) == 0:
		return "The run has not started"
	case b.Winner != "" && b.Gate != "":
		return b.verdict() + "; a person may pick another"
	case b.Winner != "":
		return b.verdict()
	case b.Status != "" && b.answers() == 0:
		return fmt.Sprintf("The run ended without an answer (%s)", b.Status)
	case b.Status != "":
		return fmt.Sprintf("The run ended without a choice (%s)", b.Status)
	case b.Single && len(b.Voters) == 1:
		return b.alone(b.Voters[0])
	}
	return b.progress()
}

func (b Ballot) answers() int {
	return len(b.where(func(v Voter) bool { return v.Revision > 0 }))
}

// where names the voters that ok holds for.
func (b Ballot) where(ok func(Voter) bool) []string {
	var out []string
	for _, v := range b.Voters {
		if ok(v) {
			out = append(out, b.name(v.Agent))
		}
	}
	return out
}

func (b Ballot) name(a event.AgentID) string { return OneLine(string(b.label(a))) }

// alone is the sentence of a run with one agent.
func (b Ballot) alone(v Voter) string {
	who := b.name(v.Agent)
	switch {
	case v.Stopped:
		return fmt.Sprintf("%s was stopped", who)
	case v.Lost:
		return fmt.Sprintf("%s is lost", who)
	case v.Vote != nil && v.Vote.Fresh:
		return fmt.Sprintf("%s is done after %s", who, count(v.Revision, "answer"))
	case v.Revision == 0 && v.Busy:
		return fmt.Sprintf("No answer yet; %s is working", who)
	case v.Revision == 0:
		return fmt.Sprintf("No answer yet; %s has not begun", who)
	case v.Busy:
		return fmt.Sprintf("%s in; %s is refining", capital(count(v.Revision, "answer")), who)
	}
	return capital(count(v.Revision, "answer")) + " in"
}

// capital is for a word of ours at the head of a sentence; labels stay as they
// are.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func (b Ballot) progress() string {
	clauses := []string{b.opening()}
	busy := b.where(func(v Voter) bool { return v.Busy })
	switch {
	case b.Fresh > 0 && len(b.Leaders) > 0:
		clauses = append(clauses, b.standing())
	case len(busy) > 0:
		clauses = append(clauses, b.are(busy, "working"))
	default:
		clauses = append(clauses, "nobody is working")
	}
	if b.Stale > 0 {
		clauses[len(clauses)-1] += " (" + outOfDate(b.Stale) + ")"
	}
	if lost := b.where(func(v Voter) bool { return v.Lost && !v.Stopped }); len(lost) > 0 {
		clauses = append(clauses, b.are(lost, "lost"))
	}
	switch ended := b.where(func(v Voter) bool { return v.Stopped }); len(ended) {
	case 0:
	case 1:
		clauses = append(clauses, ended[0]+" was stopped")
	default:
		clauses = append(clauses, count(len(ended), "agent")+" were stopped")
	}
	return strings.Join(clauses, "; ")
}

// opening says how many answers there are and what is being done with them.
func (b Ballot) opening() string {
	n := b.answers()
	if n == 0 {
		return "No answers yet"
	}
	s := capital(count(n, "answer")) + " in"
	undecided := b.where(func(v Voter) bool { return !v.Lost && (v.Vote == nil || !v.Vote.Fresh) })
	switch {
	case b.NoVoting:
	case len(undecided) == 0:
		s += ", all have voted"
	case b.Fresh+b.Stale > 0:
		s += ", comparing"
	}
	return s
}

// are is "agent2 is working" or "three agents are working".
func (b Ballot) are(who []string, what string) string {
	if len(who) == 1 {
		return who[0] + " is " + what
	}
	return count(len(who), "agent") + " are " + what
}

func outOfDate(n int) string {
	if n == 1 {
		return "one vote is out of date"
	}
	return number(n) + " votes are out of date"
}

// standing is "agent2 leads 2–1".
func (b Ballot) standing() string {
	var who []string
	for _, a := range b.Leaders {
		who = append(who, b.name(a))
	}
	score := b.score(b.Tally)
	if len(who) > 1 {
		return fmt.Sprintf("%s are level %s", and(who), score)
	}
	return fmt.Sprintf("%s leads %s", who[0], score)
}

// score is "2–1", or "with two votes" if only one candidate has any.
func (b Ballot) score(tally []Score) string {
	var parts []string
	for _, s := range tally {
		if s.Points > 0 {
			parts = append(parts, fmt.Sprint(s.Points))
		}
	}
	switch {
	case len(parts) == 0:
		return "without a vote"
	case len(parts) > 1:
		return strings.Join(parts, "–")
	case b.Rule == event.Borda:
		return "with " + count(tally[0].Points, "point")
	}
	return "with " + count(tally[0].Points, "vote")
}

// and is "a", "a and b", "a, b and c".
func and(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// verdict says who won and by what.
func (b Ballot) verdict() string {
	who := b.name(b.Winner)
	switch {
	case b.Chosen == nil:
		return who + " was chosen"
	case b.Winner != b.Chosen.Winner:
		return fmt.Sprintf("%s was picked by a person instead of %s", who, b.name(b.Chosen.Winner))
	case b.Single:
		return fmt.Sprintf("The answer of %s stands", who)
	}
	score := b.score(scores(b.Chosen.Tally, b.label))
	switch b.Chosen.How {
	case "votes":
		return fmt.Sprintf("%s won the vote %s", who, score)
	case "rankings":
		return fmt.Sprintf("%s won on the rankings after a tie %s", who, score)
	case "draw":
		return fmt.Sprintf("%s was drawn by lot, %s", who, score)
	case "only":
		return fmt.Sprintf("%s was chosen with the only answer", who)
	case "newest":
		return fmt.Sprintf("%s was chosen for the newest answer", who)
	}
	return fmt.Sprintf("%s was chosen (%s)", who, OneLine(b.Chosen.How))
}
