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
	"conclave/internal/prompt"
)

// An agent that has an answer hears of a new one between its tool calls and goes
// on; what it then votes counts, and it need not be asked again.
func TestNewsInMidTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := plays(answers("The first."), calls("look", `{}`))
		late := plays(answers("The second.").in(time.Minute))
		s := agenttest.New(multi(), "Say it.", actor("busy", busy, takes("look", 2*time.Minute)), actor("late", late))
		events := s.Play(t, mem.New())

		told := agenttest.Bodies[event.Told](events, "busy")
		if len(told) != 1 || told[0].Note != "news" || told[0].Seen["late"] != 1 || told[0].Turn != (event.Turn{Round: 2, Take: 1}) {
			t.Fatalf("told: %+v", told)
		}
		in := busy.inputs()[2]
		mustContain(t, words(in), "New answers have come in", "The second.", string(s.Label("late"))+".1")
		for _, spec := range in.Tools {
			if spec.Name == event.ToolVote {
				mustContain(t, string(spec.Schema), string(s.Label("late")), string(s.Label("busy")))
			}
		}
		voted := agenttest.Bodies[event.Voted](events, "busy")
		if len(voted) != 1 || voted[0].Turn != told[0].Turn || voted[0].Seen["late"] != 1 {
			t.Errorf("voted: %+v", voted)
		}
		if n := len(agenttest.Bodies[event.Assigned](events, "busy")); n != 2 {
			t.Errorf("was set to work %d times", n)
		}
	})
}

// An agent without an answer is not disturbed.
func TestNoNewsBeforeTheFirstAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := plays(calls("look", `{}`), answers("At last."))
		s := agenttest.New(multi(), "Say it.", actor("slow", slow, takes("look", time.Minute)), actor("fast", plays(answers("Quick."))))
		events := s.Play(t, mem.New())
		if told := agenttest.Bodies[event.Told](events, "slow"); len(told) > 0 {
			t.Errorf("told: %+v", told)
		}
		if in := slow.inputs()[1]; strings.Contains(whole(in), "Quick.") {
			t.Errorf("an agent at work on its first answer was sent another's")
		}
	})
}

// Where agents work independently nobody hears anything in mid-turn.
func TestNoNewsWithoutInjection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rules := multi()
		rules.DisableInjection = true
		busy := plays(answers("The first."), calls("look", `{}`))
		late := plays(answers("The second.").in(time.Minute), answers("The third.").in(time.Minute))
		events := agenttest.New(rules, "Say it.", actor("busy", busy, takes("look", time.Hour/6)), actor("late", late)).Play(t, mem.New())
		if told := agenttest.Bodies[event.Told](events, "busy"); len(told) > 0 {
			t.Errorf("told: %+v", told)
		}
	})
}

// When a round's time runs out its agent is told once, as soon as it can hear.
func TestWrapUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rules := single()
		rules.FirstRound = event.Duration(time.Minute)
		sp := plays(calls("look", `{}`), calls("look", `{}`))
		events := agenttest.New(rules, "Do it.", actor("a", sp, takes("look", 70*time.Second))).Play(t, mem.New())
		told := agenttest.Bodies[event.Told](events, "a")
		if len(told) != 1 || told[0].Note != "wrap_up" {
			t.Errorf("told: %+v", told)
		}
		if n := strings.Count(whole(sp.inputs()[2]), "Your time for this round is nearly over."); n != 1 {
			t.Errorf("the agent was told %d times", n)
		}
		if last := sp.inputs()[1].Messages; last[len(last)-1].From != backend.User || last[len(last)-1].Text != prompt.WrapUp {
			t.Errorf("the agent was told as %+v", last[len(last)-1])
		}
	})
}
