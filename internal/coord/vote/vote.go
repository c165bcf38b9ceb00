// Package vote turns ballots into a winner.
//
// [Count] is a pure function of the rule, the seed, the candidates and the
// ballots; it does not depend on the order of either list. Ties are broken by
// the rankings voters gave along with their vote, and what is still tied by a
// draw from the seed.
package vote

import (
	"cmp"
	"slices"

	"conclave/internal/event"
)

// A Ballot is one agent's vote: its first choice and, if it gave one, its order
// of all candidates, best first.
type Ballot struct {
	Voter   event.AgentID
	For     event.AgentID
	Ranking []event.AgentID
}

// A Result is a winner and how far ahead it was.
type Result struct {
	Winner event.AgentID
	// How says what decided: "only" (one candidate), "votes", "rankings", "draw".
	How    string
	Tally  map[event.AgentID]int
	Margin int             // points ahead of the second
	Order  []event.AgentID // all candidates, best first
}

// Count elects one of the candidates. Ballots for anybody else do not count. It
// panics if there is no candidate: whoever asks has an answer in hand.
func Count(rule event.VotingRule, seed uint64, candidates []event.AgentID, ballots []Ballot) Result {
	if len(candidates) == 0 {
		panic("vote: no candidates")
	}
	order := slices.Clone(candidates)
	tally := map[event.AgentID]int{}
	rank := map[event.AgentID]int{}
	for _, b := range ballots {
		if !slices.Contains(candidates, b.For) {
			continue
		}
		points(rank, candidates, b)
		if rule == event.Borda {
			points(tally, candidates, b)
		} else {
			tally[b.For]++
		}
	}
	draw := event.ByDraw(seed, "tie")
	slices.SortFunc(order, func(a, b event.AgentID) int {
		return cmp.Or(cmp.Compare(tally[b], tally[a]), cmp.Compare(rank[b], rank[a]), draw(a, b))
	})
	return Result{Winner: order[0], How: how(order, tally, rank), Tally: tally, Margin: margin(order, tally), Order: order}
}

// points gives a ballot's Borda points: n-1 for its first choice, one less for
// each place after it, none for those it does not rank.
func points(sum map[event.AgentID]int, candidates []event.AgentID, b Ballot) {
	n := len(candidates) - 1
	given := map[event.AgentID]bool{}
	for _, a := range append([]event.AgentID{b.For}, b.Ranking...) {
		if given[a] || !slices.Contains(candidates, a) {
			continue
		}
		given[a] = true
		if n > 0 {
			sum[a] += n
		}
		n--
	}
}

func how(order []event.AgentID, tally, rank map[event.AgentID]int) string {
	switch {
	case len(order) == 1:
		return "only"
	case tally[order[0]] > tally[order[1]]:
		return "votes"
	case rank[order[0]] > rank[order[1]]:
		return "rankings"
	}
	return "draw"
}

func margin(order []event.AgentID, tally map[event.AgentID]int) int {
	if len(order) == 1 {
		return tally[order[0]]
	}
	return tally[order[0]] - tally[order[1]]
}
