package cli

import (
	"testing"

	"conclave/internal/event"
	"conclave/internal/view"
)

func TestVerdictLine(t *testing.T) {
	votes := []view.CastVote{{Voter: "ada", For: "bob", Counted: true}, {Voter: "bob", For: "bob", Counted: true}, {Voter: "cy", For: "ada", Counted: true}}
	result := func(status event.Status, how string, change func(*view.RunResult)) view.RunResult {
		r := view.RunResult{
			Status: status, Answers: []view.AnswerText{{Agent: "bob", Label: "agent2"}},
			Coordination: view.Coordination{How: how, Winner: "bob", Votes: votes, Tally: map[event.AgentID]int{"bob": 2, "ada": 1}},
		}
		if change != nil {
			change(&r)
		}
		return r
	}
	for _, tt := range []struct {
		r    view.RunResult
		want string
	}{
		{result("success", "votes", nil), "agent2 (bob) won the vote, 2 of 3."},
		{result("success", "votes", func(r *view.RunResult) { r.Coordination.Tally["bob"] = 5 }), "agent2 (bob) won the vote with 5 points."},
		{result("success", "votes", func(r *view.RunResult) { r.Coordination.Votes = nil }), "agent2 (bob) won the vote."},
		{result("success", "rankings", nil), "agent2 (bob) won a tied vote by the rankings."},
		{result("success", "draw", nil), "agent2 (bob) won a tied vote by lot."},
		{result("success", "draw", func(r *view.RunResult) { r.Coordination.Votes = nil }), "agent2 (bob) was drawn to present."},
		{result("success", "only", nil), "agent2 (bob) gave the answer."},
		{result("success", "override", nil), "agent2 (bob) was picked by you."},
		{result("success", "votes", func(r *view.RunResult) { r.StoppedBy = event.StoppedByBudget }), "The budget is used up. The best answer so far is by agent2 (bob)."},
		{result("timeout", "newest", func(r *view.RunResult) { r.Error = "the time is over" }), "Out of time: the time is over. The best answer so far is by agent2 (bob)."},
		{result("cancelled", "", func(r *view.RunResult) { r.Error, r.Coordination.Winner = "by Ctrl-C", "" }), "Cancelled: by Ctrl-C."},
		{result("cancelled", "", func(r *view.RunResult) { r.Error, r.Coordination.Winner = "cancelled by Ctrl-C", "" }), "Cancelled by Ctrl-C."},
		{result("error", "", func(r *view.RunResult) { r.Error, r.Coordination.Winner = "no agent is left", "" }), "Failed: no agent is left."},
	} {
		if got := verdictLine(tt.r); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}
