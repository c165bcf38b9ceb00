package agent_test

import (
	"testing"
	"testing/synctest"
	"time"

	"conclave/internal/agent/agenttest"
	"conclave/internal/backend"
	"conclave/internal/event"
	"conclave/internal/eventlog/mem"
	"conclave/internal/view"
)

// spent is what counts against the ceiling at the end of a run, and the part of
// it that nobody knows of.
func spent(events []event.Event) (all, forfeited int64) {
	var c view.Cost
	for _, e := range events {
		c = c.Apply(e)
	}
	return c.Spent.Tokens, c.Forfeited.Tokens
}

// limited are the rules of a quick single agent with so many tokens.
func limited(tokens int64) event.Rules {
	rules := event.Defaults(event.Mode{Single: true, Quick: true})
	rules.Budget.Tokens = &tokens
	return rules
}

// A call that the provider turned away because it is too long has cost nothing,
// and what was reserved for it is free for the summary.
func TestTooLongCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := reader(6, 0, says("In short."))
		inner := sp.speak
		sp.speak = func(n int, in backend.Input) reply {
			if len(in.Messages) > 8 {
				return fails(backend.TooLong)
			}
			return inner(n, in)
		}
		events := agenttest.New(limited(1<<20), "Find it.", actor("a", sp, long())).Play(t, mem.New())
		if len(agenttest.Bodies[event.Compacted](events, "a")) == 0 {
			t.Fatal("nothing was compacted")
		}
		if _, lost := spent(events); lost > 0 {
			t.Errorf("%d tokens count as spent that nobody spent", lost)
		}
	})
}

// What a summary that broke off has cost nobody knows: all that was reserved for
// it counts. One that was turned away has cost nothing.
func TestBrokenSummaryCounts(t *testing.T) {
	for _, tt := range []struct {
		kind backend.ErrorKind
		cost bool
	}{{backend.Broken, true}, {backend.Overloaded, false}} {
		t.Run(string(tt.kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				events := agenttest.New(limited(1<<20), "Find it.", actor("a", reader(6, 1000, fails(tt.kind)), long())).Play(t, mem.New())
				if len(agenttest.Bodies[event.Compacted](events, "a")) == 0 {
					t.Fatal("nothing was compacted")
				}
				if _, lost := spent(events); (lost > 0) != tt.cost {
					t.Errorf("%d tokens count as forfeited", lost)
				}
			})
		})
	}
}

// Putting a conversation into fewer words without asking the model is no call of
// it: the last one is still there for the outcome.
func TestOutlineIsNoCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rules := event.Defaults(event.Mode{Single: true, Quick: true})
		rules.MaxCalls = 5
		sp := reader(4, 800, says("In short."))
		events := agenttest.New(rules, "Find it.", actor("a", sp, long())).Play(t, mem.New())
		if n := len(agenttest.Bodies[event.Compacted](events, "a")); n != 1 {
			t.Fatalf("compacted %d times", n)
		}
		if f := agenttest.Finished(t, events); f.Status != event.StatusSuccess {
			t.Errorf("ended as %+v", f)
		}
		var card view.Card
		for _, e := range events {
			card = card.Apply(e)
		}
		if l, _ := card.Agent("a"); l.Calls != len(sp.inputs()) {
			t.Errorf("%d calls are shown, %d were made", l.Calls, len(sp.inputs()))
		}
	})
}

// Two agents that hold what nobody knows the cost of, and need more, do not wait
// for each other: nothing of it comes back before their turns end.
func TestNobodyWaitsForTheWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		rules := multi()
		tokens := int64(46_000)
		rules.Budget.Tokens = &tokens
		a, b := reader(6, 1000, fails(backend.Broken)), reader(6, 1000, fails(backend.Broken))
		for _, sp := range []*speaker{a, b} { // in step
			inner := sp.speak
			sp.speak = func(n int, in backend.Input) reply { return inner(n, in).in(time.Second) }
		}
		events := agenttest.New(rules, "Find it.", actor("a", a, long()), actor("b", b, long())).Play(t, mem.New())
		if f := agenttest.Finished(t, events); f.StoppedBy != event.StoppedByBudget || time.Since(start) > time.Minute {
			t.Errorf("ended after %s as %+v", time.Since(start), f)
		}
		if _, lost := spent(events); lost < 30_000 {
			t.Errorf("%d tokens were held by both", lost)
		}
	})
}
