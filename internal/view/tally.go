package view

import (
	"cmp"
	"slices"

	"conclave/internal/event"
)

// newest is the revision of everybody who has an answer.
func (b Ballot) newest() event.Seen {
	s := event.Seen{}
	for _, v := range b.Voters {
		if v.Revision > 0 {
			s[v.Agent] = v.Revision
		}
	}
	return s
}

// Counts reports whether the vote of a voter counts: it is fresh, or the run was
// stopped with no fresh vote and goes by those there are; and it is for somebody
// who has an answer.
func (b Ballot) Counts(v Voter) bool {
	if v.Vote == nil || !v.Vote.Fresh && (b.Fresh > 0 || b.Chosen == nil) {
		return false
	}
	c, ok := b.voter(v.Vote.For)
	return ok && c.Revision > 0
}

// counted derives freshness, tally and leaders anew.
func (b Ballot) counted() Ballot {
	newest := b.newest()
	b.Voters = slices.Clone(b.Voters)
	b.Fresh, b.Stale = 0, 0
	for i := range b.Voters {
		b.Voters[i].Busy = b.Turns.Busy(b.Voters[i].Agent)
		if b.Voters[i].Vote == nil {
			continue
		}
		p := *b.Voters[i].Vote
		p.ForLabel = b.label(p.For)
		p.Fresh = (p.Closing || b.Unseen || p.Seen.Covers(newest)) && b.Messages.heeded(b.Voters[i].Agent, p.Turn)
		b.Voters[i].Vote = &p
		if p.Fresh {
			b.Fresh++
		} else {
			b.Stale++
		}
	}
	b.Tally = b.tally()
	b.Leaders, b.Margin = leaders(b.Tally)
	return b
}

// tally scores every candidate that has an answer, best first.
func (b Ballot) tally() []Score {
	var candidates []event.AgentID
	var out []Score
	for _, v := range b.Voters {
		if v.Revision > 0 {
			candidates = append(candidates, v.Agent)
			out = append(out, Score{Agent: v.Agent, Label: v.Label})
		}
	}
	for _, v := range b.Voters {
		if !b.Counts(v) {
			continue
		}
		for a, n := range points(b.Rule, candidates, v.Vote) {
			out[slices.Index(candidates, a)].Points += n
		}
	}
	slices.SortStableFunc(out, func(x, y Score) int { return cmp.Compare(y.Points, x.Points) })
	return out
}

// points is what a vote gives to whom: one for its choice, or under Borda one
// less than there are candidates, and one less again for each place below.
func points(rule event.VotingRule, candidates []event.AgentID, p *Paper) map[event.AgentID]int {
	if rule != event.Borda {
		return map[event.AgentID]int{p.For: 1}
	}
	out := map[event.AgentID]int{}
	n := len(candidates) - 1
	for _, a := range append([]event.AgentID{p.For}, p.Ranking...) {
		if _, given := out[a]; given || !slices.Contains(candidates, a) {
			continue
		}
		out[a] = n
		n--
	}
	return out
}

// leaders are those level at the top with at least one point.
func leaders(tally []Score) (who []event.AgentID, margin int) {
	for _, s := range tally {
		if s.Points > 0 && s.Points == tally[0].Points {
			who = append(who, s.Agent)
		}
	}
	switch {
	case len(who) == 0:
	case len(tally) == 1:
		margin = tally[0].Points
	default:
		margin = tally[0].Points - tally[1].Points
	}
	return who, margin
}

// scores is a tally as a list, best first.
func scores(tally map[event.AgentID]int, label func(event.AgentID) event.Label) []Score {
	var out []Score
	for a, n := range tally {
		out = append(out, Score{Agent: a, Label: label(a), Points: n})
	}
	slices.SortFunc(out, func(x, y Score) int {
		return cmp.Or(cmp.Compare(y.Points, x.Points), cmp.Compare(x.Label, y.Label), cmp.Compare(x.Agent, y.Agent))
	})
	return out
}
