package vote_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"conclave/internal/coord/vote"
	"conclave/internal/event"
)

// election is a random case: candidates, and ballots of which some are for
// strangers, some are incomplete and some rank the same agent twice.
type election struct {
	rule       event.VotingRule
	seed       uint64
	candidates []event.AgentID
	ballots    []vote.Ballot
}

func random(rng *rand.Rand) election {
	e := election{rule: event.Plurality, seed: rng.Uint64()}
	if rng.IntN(2) == 0 {
		e.rule = event.Borda
	}
	all := agents("a b c d e f g")
	e.candidates = slices.Clone(all[:1+rng.IntN(6)])
	anybody := func() event.AgentID { return all[rng.IntN(len(all))] }
	for i := range rng.IntN(len(all) + 1) {
		b := vote.Ballot{Voter: all[i], For: anybody()}
		for range rng.IntN(5) {
			b.Ranking = append(b.Ranking, anybody())
		}
		e.ballots = append(e.ballots, b)
	}
	return e
}

func (e election) count() vote.Result {
	return vote.Count(e.rule, e.seed, e.candidates, e.ballots)
}

func forAll(t *testing.T, n int, f func(rng *rand.Rand, e election) error) {
	t.Helper()
	if raceEnabled || testing.Short() {
		n /= 10
	}
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(seed, 11))
		e := random(rng)
		if err := f(rng, e); err != nil {
			t.Fatalf("seed %d: %+v: %v", seed, e, err)
		}
	}
}

// twin counts the same votes again, without an idea in its head: no sums shared,
// no sort, one question at a time.
func twin(e election) vote.Result {
	points := func(b vote.Ballot, c event.AgentID) int {
		var places []event.AgentID
		for _, a := range append([]event.AgentID{b.For}, b.Ranking...) {
			if slices.Contains(e.candidates, a) && !slices.Contains(places, a) {
				places = append(places, a)
			}
		}
		if i := slices.Index(places, c); i >= 0 {
			return len(e.candidates) - 1 - i
		}
		return 0
	}
	tally := func(c event.AgentID) int {
		n := 0
		for _, b := range e.ballots {
			switch {
			case !slices.Contains(e.candidates, b.For):
			case e.rule == event.Borda:
				n += points(b, c)
			case b.For == c:
				n++
			}
		}
		return n
	}
	ranks := func(c event.AgentID) int {
		n := 0
		for _, b := range e.ballots {
			if slices.Contains(e.candidates, b.For) {
				n += points(b, c)
			}
		}
		return n
	}
	lot := func(c event.AgentID) uint64 { return event.Draw(e.seed, "tie", string(c)) }
	beats := func(a, b event.AgentID) bool {
		if tally(a) != tally(b) {
			return tally(a) > tally(b)
		}
		if ranks(a) != ranks(b) {
			return ranks(a) > ranks(b)
		}
		return lot(a) < lot(b)
	}
	r := vote.Result{Tally: map[event.AgentID]int{}, Order: make([]event.AgentID, len(e.candidates))}
	for _, c := range e.candidates {
		better := 0
		for _, o := range e.candidates {
			if o != c && beats(o, c) {
				better++
			}
		}
		r.Order[better] = c
		if n := tally(c); n > 0 {
			r.Tally[c] = n
		}
	}
	r.Winner, r.Margin, r.How = r.Order[0], tally(r.Order[0]), "only"
	if len(r.Order) > 1 {
		second := r.Order[1]
		r.Margin -= tally(second)
		switch {
		case tally(r.Winner) > tally(second):
			r.How = "votes"
		case ranks(r.Winner) > ranks(second):
			r.How = "rankings"
		default:
			r.How = "draw"
		}
	}
	return r
}

func TestTwin(t *testing.T) {
	hows := map[string]int{}
	forAll(t, 50_000, func(_ *rand.Rand, e election) error {
		got, want := e.count(), twin(e)
		hows[got.How]++
		if !reflect.DeepEqual(got, want) {
			return fmt.Errorf("got %+v, the twin says %+v", got, want)
		}
		return nil
	})
	for _, how := range []string{"only", "votes", "rankings", "draw"} {
		if hows[how] == 0 {
			t.Errorf("no case was decided by %s", how)
		}
	}
	t.Log(hows)
}

// TestOrderOfLists: neither the order of registration nor that of voting counts.
func TestOrderOfLists(t *testing.T) {
	forAll(t, 10_000, func(rng *rand.Rand, e election) error {
		want := e.count()
		p := e
		p.candidates, p.ballots = slices.Clone(e.candidates), slices.Clone(e.ballots)
		rng.Shuffle(len(p.candidates), func(i, j int) {
			p.candidates[i], p.candidates[j] = p.candidates[j], p.candidates[i]
		})
		rng.Shuffle(len(p.ballots), func(i, j int) { p.ballots[i], p.ballots[j] = p.ballots[j], p.ballots[i] })
		before := slices.Clone(p.candidates)
		if got := p.count(); !reflect.DeepEqual(got, want) {
			return fmt.Errorf("%+v, in another order %+v", want, got)
		}
		if !slices.Equal(before, p.candidates) {
			return fmt.Errorf("the caller's list was sorted")
		}
		return nil
	})
}

// TestNames: names decide nothing but draws.
func TestNames(t *testing.T) {
	forAll(t, 10_000, func(rng *rand.Rand, e election) error {
		to := map[event.AgentID]event.AgentID{}
		perm := rng.Perm(7)
		for i, a := range agents("a b c d e f g") {
			to[a] = agents("t u v w x y z")[perm[i]]
		}
		rename := func(in []event.AgentID) []event.AgentID {
			var out []event.AgentID
			for _, a := range in {
				out = append(out, to[a])
			}
			return out
		}
		p := e
		p.candidates, p.ballots = rename(e.candidates), nil
		for _, b := range e.ballots {
			p.ballots = append(p.ballots, vote.Ballot{Voter: to[b.Voter], For: to[b.For], Ranking: rename(b.Ranking)})
		}
		was, is := e.count(), p.count()
		for a, n := range was.Tally {
			if is.Tally[to[a]] != n {
				return fmt.Errorf("%s had %d, as %s it has %d", a, n, to[a], is.Tally[to[a]])
			}
		}
		if was.How != is.How || was.Margin != is.Margin {
			return fmt.Errorf("decided by %s (%d), renamed by %s (%d)", was.How, was.Margin, is.How, is.Margin)
		}
		if was.How != "draw" && is.Winner != to[was.Winner] {
			return fmt.Errorf("%s has won, renamed %s instead of %s", was.Winner, is.Winner, to[was.Winner])
		}
		return nil
	})
}

// TestSelfVoter: an agent that always votes for itself cannot win against two
// who agree on another, unless they help it. With Borda a second place helps.
func TestSelfVoter(t *testing.T) {
	forAll(t, 10_000, func(rng *rand.Rand, e election) error {
		for len(e.candidates) < 3 {
			e.candidates = agents("a b c")
		}
		self, best := e.candidates[0], e.candidates[1]
		attack := vote.Ballot{Voter: self, For: self}
		for _, i := range rng.Perm(len(e.candidates)) { // best comes last in it
			if a := e.candidates[i]; a != best {
				attack.Ranking = append(attack.Ranking, a)
			}
		}
		honest := []event.AgentID{best}
		for _, a := range e.candidates[2:] {
			if rng.IntN(2) == 0 {
				honest = append(honest, a)
			}
		}
		e.ballots = []vote.Ballot{attack, {Voter: "x", For: best, Ranking: honest}, {Voter: "y", For: best, Ranking: honest}}
		if e.rule == event.Plurality { // even if they rank it second
			e.ballots[1].Ranking = []event.AgentID{best, self}
			e.ballots[2].Ranking = []event.AgentID{best, self}
		}
		if got := e.count(); got.Winner == self {
			return fmt.Errorf("won: %+v", got)
		}
		return nil
	})
}

// TestMonotone: one more ballot for the winner, or one changed in its favour,
// never makes it lose.
func TestMonotone(t *testing.T) {
	forAll(t, 10_000, func(rng *rand.Rand, e election) error {
		winner := e.count().Winner
		more := e
		more.ballots = append(slices.Clone(e.ballots), vote.Ballot{Voter: "new", For: winner})
		if got := more.count(); got.Winner != winner {
			return fmt.Errorf("%s loses to %s by one more vote", winner, got.Winner)
		}
		if len(e.ballots) == 0 {
			return nil
		}
		i := rng.IntN(len(e.ballots))
		moved := e
		moved.ballots = slices.Clone(e.ballots)
		b := moved.ballots[i]
		if !slices.Contains(e.candidates, b.For) {
			return nil // would bring in a ranking that did not count before
		}
		// The winner goes to the top; the others keep their order.
		rest := append([]event.AgentID{b.For}, b.Ranking...)
		moved.ballots[i] = vote.Ballot{Voter: b.Voter, For: winner, Ranking: rest}
		if got := moved.count(); got.Winner != winner {
			return fmt.Errorf("%s loses to %s when %s moves it to the top", winner, got.Winner, b.Voter)
		}
		return nil
	})
}

// TestNeutral: ballots for anybody who does not stand change nothing, and nor do
// strangers in a ranking. Late ballots are of that kind: the caller leaves out
// what is stale.
func TestNeutral(t *testing.T) {
	forAll(t, 10_000, func(rng *rand.Rand, e election) error {
		want := e.count()
		p := e
		p.ballots = nil
		for _, b := range e.ballots {
			var with []event.AgentID
			for _, a := range b.Ranking {
				if rng.IntN(2) == 0 {
					with = append(with, "stranger")
				}
				with = append(with, a)
			}
			p.ballots = append(p.ballots, vote.Ballot{Voter: b.Voter, For: b.For, Ranking: with})
		}
		for range rng.IntN(4) {
			foreign := vote.Ballot{Voter: "late", For: "stranger", Ranking: e.candidates}
			p.ballots = slices.Insert(p.ballots, rng.IntN(len(p.ballots)+1), foreign)
		}
		if got := p.count(); !reflect.DeepEqual(got, want) {
			return fmt.Errorf("%+v, with strangers %+v", want, got)
		}
		return nil
	})
}

// TestWhole: every candidate has one place in the order, and the margin is never
// below zero.
func TestWhole(t *testing.T) {
	forAll(t, 10_000, func(_ *rand.Rand, e election) error {
		got := e.count()
		order := slices.Sorted(slices.Values(got.Order))
		if !slices.Equal(order, e.candidates) || got.Order[0] != got.Winner || got.Margin < 0 {
			return fmt.Errorf("%+v", got)
		}
		if one := len(e.candidates) == 1; one != (got.How == "only") {
			return fmt.Errorf("decided by %q", got.How)
		}
		return nil
	})
}
