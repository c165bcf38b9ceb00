package vote_test

import (
	"reflect"
	"strings"
	"testing"

	"conclave/internal/coord/vote"
	"conclave/internal/event"
)

// agents reads "a b c".
func agents(s string) []event.AgentID {
	var out []event.AgentID
	for _, f := range strings.Fields(s) {
		out = append(out, event.AgentID(f))
	}
	return out
}

// ballots reads "a:b" as a's vote for b, and "a:b>c>a" as one with a ranking.
func ballots(s string) []vote.Ballot {
	var out []vote.Ballot
	for _, f := range strings.Fields(s) {
		voter, choice, _ := strings.Cut(f, ":")
		ranking := strings.Split(choice, ">")
		b := vote.Ballot{Voter: event.AgentID(voter), For: event.AgentID(ranking[0])}
		if len(ranking) > 1 {
			b.Ranking = agents(strings.Join(ranking, " "))
		}
		out = append(out, b)
	}
	return out
}

// TestCount is one row for each thing that can decide. The draw of seed 1 has the
// order c, b, a.
func TestCount(t *testing.T) {
	for _, test := range []struct {
		name       string
		rule       event.VotingRule
		candidates string
		ballots    string
		winner     event.AgentID
		how        string
		tally      map[event.AgentID]int
		margin     int
		order      string
	}{
		{"one candidate", event.Plurality, "a", "a:a", "a", "only", map[event.AgentID]int{"a": 1}, 1, "a"},
		{"one candidate, no ballot", event.Plurality, "a", "", "a", "only", map[event.AgentID]int{}, 0, "a"},
		{"majority", event.Plurality, "a b c", "a:a b:a c:b", "a", "votes", map[event.AgentID]int{"a": 2, "b": 1}, 1, "a b c"},
		{"unanimous", event.Plurality, "a b c", "a:c b:c c:c", "c", "votes", map[event.AgentID]int{"c": 3}, 3, "c b a"},
		{"everybody for itself", event.Plurality, "a b c", "a:a b:b c:c", "c", "draw", map[event.AgentID]int{"a": 1, "b": 1, "c": 1}, 0, "c b a"},
		{"rankings break a tie", event.Plurality, "a b c", "a:a b:b c:c>a>b", "a", "rankings", map[event.AgentID]int{"a": 1, "b": 1, "c": 1}, 0, "a c b"},
		{"a ranking without the first choice", event.Plurality, "a b c", "a:a b:b c:c>a", "a", "rankings", map[event.AgentID]int{"a": 1, "b": 1, "c": 1}, 0, "a c b"},
		{"rankings do not outweigh votes", event.Plurality, "a b c", "a:a b:a>b>c c:c>b>a", "a", "votes", map[event.AgentID]int{"a": 2, "c": 1}, 1, "a c b"},
		{"no ballot", event.Plurality, "a b c", "", "c", "draw", map[event.AgentID]int{}, 0, "c b a"},
		{"ballots for nobody", event.Plurality, "a b c", "x:y a:z", "c", "draw", map[event.AgentID]int{}, 0, "c b a"},
		{"not all who vote have an answer", event.Plurality, "b c", "a:c b:b c:c", "c", "votes", map[event.AgentID]int{"b": 1, "c": 2}, 1, "c b"},
		{"the compromise", event.Borda, "a b c", "a:a>b>c c:c>b>a b:b>c>a", "b", "votes", map[event.AgentID]int{"a": 2, "b": 4, "c": 3}, 1, "b c a"},
		{"no rankings: first choices alone", event.Borda, "a b c", "a:a b:a c:b", "a", "votes", map[event.AgentID]int{"a": 4, "b": 2}, 2, "a b c"},
		{"unranked gets nothing", event.Borda, "a b c", "a:a>b", "a", "votes", map[event.AgentID]int{"a": 2, "b": 1}, 1, "a b c"},
		{"ranked twice counts once", event.Borda, "a b c", "a:a>b>b>a>c", "a", "votes", map[event.AgentID]int{"a": 2, "b": 1}, 1, "a b c"},
		{"strangers in a ranking take no place", event.Borda, "a b", "a:b>x>y>a", "b", "votes", map[event.AgentID]int{"b": 1}, 1, "b a"},
		{"a circle", event.Borda, "a b c", "a:a>b>c b:b>c>a c:c>a>b", "c", "draw", map[event.AgentID]int{"a": 3, "b": 3, "c": 3}, 0, "c b a"},
		{"one candidate, no points to give", event.Borda, "a", "a:a b:a", "a", "only", map[event.AgentID]int{}, 0, "a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := vote.Count(test.rule, 1, agents(test.candidates), ballots(test.ballots))
			want := vote.Result{Winner: test.winner, How: test.how, Tally: test.tally, Margin: test.margin, Order: agents(test.order)}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

// TestCountFirstChoiceLeads: a ballot's first choice is its vote, whatever its
// ranking puts first.
func TestCountFirstChoiceLeads(t *testing.T) {
	b := []vote.Ballot{{Voter: "a", For: "a", Ranking: agents("c b a")}}
	for _, rule := range []event.VotingRule{event.Plurality, event.Borda} {
		got := vote.Count(rule, 1, agents("a b c"), b)
		if got.Winner != "a" || !reflect.DeepEqual(got.Order, agents("a c b")) {
			t.Errorf("%s: %+v", rule, got)
		}
	}
}

// TestCountDraw: another seed is another draw, and every candidate wins some.
func TestCountDraw(t *testing.T) {
	won := map[event.AgentID]int{}
	for seed := range uint64(600) {
		won[vote.Count(event.Plurality, seed, agents("a b c"), nil).Winner]++
	}
	for _, a := range agents("a b c") {
		if won[a] < 150 || won[a] > 250 {
			t.Errorf("%s has won %d draws of 600", a, won[a])
		}
	}
}

func TestCountNobody(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("somebody was elected among nobody")
		}
	}()
	vote.Count(event.Plurality, 1, nil, ballots("a:a"))
}
