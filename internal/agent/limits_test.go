package agent_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/internal/agent/agenttest"
	"conclave/internal/backend"
	"conclave/internal/event"
	"conclave/internal/eventlog/mem"
)

// A ceiling on money holds before the call, and zero is zero.
func TestMoneyIsReserved(t *testing.T) {
	const dear = `
name: dear
steps:
  - do: [{answer: an answer}, {usage: {input: 10, output: 10, cost: 5}}]
`
	for ceiling, calls := range map[event.Money]int{0: 0, event.Dollar: 0, 5 * event.Dollar: 1} {
		synctest.Test(t, func(t *testing.T) {
			rules := single()
			rules.MaxAnswers, rules.Budget.Cost = 1, &ceiling
			events := agenttest.New(rules, "Say it.", agenttest.Scripted(t, "a", dear)).Play(t, mem.New())
			var spent event.Money
			for _, c := range agenttest.Bodies[event.Called](events, "a") {
				spent += c.Usage.Cost
			}
			if n := len(agenttest.Bodies[event.Called](events, "a")); n != calls || spent > ceiling {
				t.Errorf("with %s: %d calls, %s spent", ceiling, n, spent)
			}
		})
	}
}

// An agent whose provider asks to be left alone is left alone for that long,
// while the others go on.
func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := reply{err: &backend.Error{Kind: backend.RateLimited, Message: "too fast", RetryAfter: time.Minute}}
		sp := plays(busy, busy)
		rules := multi()
		events := agenttest.New(rules, "Say it.", actor("a", sp), actor("b", plays())).Play(t, mem.New())
		var takes []time.Time
		for _, e := range events {
			if b, ok := e.Body.(event.Assigned); ok && e.Agent == "a" && b.Round == 1 {
				takes = append(takes, e.At)
			}
		}
		if len(takes) != 3 || takes[1].Sub(takes[0]) < time.Minute || takes[2].Sub(takes[1]) < time.Minute {
			t.Errorf("taken at %v", takes)
		}
		if f := agenttest.Finished(t, events); f.Status != event.StatusSuccess || len(agenttest.Bodies[event.Lost](events, "a")) > 0 {
			t.Errorf("ended as %+v", f)
		}
	})
}

// So is a presenter.
func TestPresenterRetriesAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := reply{err: &backend.Error{Kind: backend.RateLimited, Message: "too fast", RetryAfter: time.Minute}}
		rules := single()
		rules.MaxAnswers, rules.Strategy = 1, event.WinnerPresent
		events := agenttest.New(rules, "Say it.", actor("a", plays(answers("The answer."), busy, busy, says("The whole answer.")))).Play(t, mem.New())
		var takes []time.Time
		for _, e := range events {
			if _, ok := e.Body.(event.Presenting); ok {
				takes = append(takes, e.At)
			}
		}
		if len(takes) != 3 || takes[1].Sub(takes[0]) < time.Minute || takes[2].Sub(takes[1]) < time.Minute {
			t.Errorf("taken at %v", takes)
		}
		if f := agenttest.Finished(t, events); f.Answer.Text != "The whole answer." {
			t.Errorf("ended as %+v", f)
		}
	})
}

// A final answer of white space is none, one that was cut off at its longest is
// half of one, and one the model would not give is nobody's.
func TestUnusablePresentations(t *testing.T) {
	for name, bad := range map[string]reply{
		"blank":   says("  \n\t "),
		"cut off": {deltas: []backend.Delta{{Text: "The first half of the"}}, stop: "length"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rules := single()
				rules.MaxAnswers, rules.Strategy = 1, event.WinnerPresent
				sp := plays(answers("The answer."), bad, says("The whole answer."))
				f := agenttest.Finished(t, agenttest.New(rules, "Say it.", actor("a", sp)).Play(t, mem.New()))
				if f.Answer.Text != "The whole answer." || f.Status != event.StatusSuccess {
					t.Errorf("ended as %+v", f)
				}
			})
		})
	}
	t.Run("refused", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			rules := single()
			rules.MaxAnswers, rules.Strategy = 1, event.WinnerPresent
			sp := plays(answers("The answer."), reply{deltas: []backend.Delta{{Text: "I will not."}}, stop: "refusal"})
			f := agenttest.Finished(t, agenttest.New(rules, "Say it.", actor("a", sp)).Play(t, mem.New()))
			if f.Answer.Text != "The answer." {
				t.Errorf("ended as %+v", f)
			}
		})
	})
}

// A large answer is kept once, outside its events.
func TestLargeAnswerIsKeptOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("Much to say. ", 2000)
		vote := calls(event.ToolVote, quote("agent_id", "agent1", "reason", long))
		events := agenttest.New(single(), "Say it.", actor("a", plays(answers(long), vote))).Play(t, mem.New())
		for _, e := range events {
			if p, err := event.EncodeBody(e.Body); err != nil || len(p) > 3*event.InlineMax {
				t.Errorf("%s has %d bytes (%v)", e.ID, len(p), err)
			}
		}
	})
}
