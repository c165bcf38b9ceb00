package team_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"conclave/internal/event"
	"conclave/internal/flow"
	"conclave/internal/team"
)

// Ten thousand messages to somebody at work are told in order, each once, and cost
// no more each than the first: what of a mailbox was told of is not gone through
// again.
//
// SR-11
func TestManyMessages(t *testing.T) {
	const n = 10_000
	var x team.Team
	var seq uint64
	stamp := func(f event.Fact) event.Event {
		seq++
		return event.Event{Flow: "team-1", Seq: seq, At: time.Unix(int64(seq), 0), Fact: f}
	}
	leader := event.TeamRole{Name: "leader", Seat: event.Seat{Agent: "leader"}}
	flow.Advance(&x, stamp, event.Fact{ID: "started", Body: event.TeamStarted{Task: event.Inline("Go."), Leader: leader}})
	var sent, noted []string
	for i := range n {
		id := fmt.Sprintf("message/%d", i)
		_, do := flow.Advance(&x, stamp, event.Fact{ID: id, Body: event.Messaged{Text: event.Inline("More."), By: "ann"}})
		sent = append(sent, id)
		for _, c := range do {
			noted = append(noted, c.(flow.Tell).Note.(team.Note).Mail.ID)
		}
	}
	if !slices.Equal(noted, sent) {
		t.Fatalf("%d messages were told of, not each of %d once and in order", len(noted), n)
	}
	for i, id := range sent[:n/2] { // one by one, as between two calls
		told := event.Told{Turn: event.Turn{Round: 1, Take: 1}, Note: team.NoteMail, Messages: []string{id}}
		flow.Advance(&x, stamp, event.Fact{ID: fmt.Sprintf("told/%d", i), Agent: "leader", Body: told})
	}
	events, _ := flow.Advance(&x, stamp, event.Fact{ID: "concluded", Agent: "leader", Body: event.Concluded{Turn: event.Turn{Round: 1, Take: 1}}})
	last, ok := events[len(events)-1].Body.(event.Assigned)
	if !ok || !slices.Equal(last.Messages, sent[n/2:]) || len(x.Queued("leader")) != 0 {
		t.Errorf("the next turn begins with %d of %d messages that were not told, %d are queued", len(last.Messages), n/2, len(x.Queued("leader")))
	}
}
