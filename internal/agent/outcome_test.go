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

// refusals are the codes of what was refused to an agent.
func refusals(events []event.Event, a event.AgentID) string {
	var out []string
	for _, r := range agenttest.Bodies[event.Refused](events, a) {
		out = append(out, r.Code)
	}
	return strings.Join(out, " ")
}

// What is refused is explained to the model, in the words of the refusal and as
// the result of the call it made, and the model corrects itself.
func TestRefusals(t *testing.T) {
	spare := multi()
	spare.MaxSimilarity = 0.7
	for _, tt := range []struct {
		name  string
		rules event.Rules
		// wrong is the second call of an agent that has answered "Mine." and
		// sees the answer "Theirs is a different one." of a peer.
		wrong reply
		code  string
		why   string
		said  bool // as a message, since no call is there to answer
	}{
		{"vote for nobody", multi(), votes("agent9"), "unknown_agent", `There is no agent "agent9". Vote for one of:`, false},
		{"vote for a person", multi(), votes("b"), "unknown_agent", `There is no agent "b".`, false},
		{"vote that makes no sense", multi(), calls("vote", `[]`), "unknown_agent", `There is no agent "".`, false},
		{"empty answer", multi(), answers(" \n\t"), "empty", "The answer is empty.", false},
		{"answer that makes no sense", multi(), calls("new_answer", `{"content": `), "empty", "The answer is empty.", false},
		{"duplicate", multi(), answers("  Theirs is a\tdifferent one."), "duplicate", "word for word", false},
		{"own duplicate", multi(), answers("Mine."), "duplicate", "word for word", false},
		{"too much alike", spare, answers("Theirs is a different one. Really."), "novelty", "% like one that is already there", false},
		{"two answers", multi(), calls("new_answer", `{"content":"x"}`, "new_answer", `{"content":"y"}`), "two_outcomes", "exactly one outcome", false},
		{"answer and vote", multi(), calls("new_answer", `{"content":"x"}`, "vote", `{"agent_id":"agent1"}`), "two_outcomes", "exactly one outcome", false},
		{"only words", multi(), says("I vote for agent1."), "no_outcome", "The turn needs an outcome.", true},
		{"nothing at all", multi(), reply{}, "no_outcome", "The turn needs an outcome.", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sp := plays(answers("Mine.").in(time.Minute), tt.wrong)
				s := agenttest.New(tt.rules, "Say it.", actor("a", sp), actor("b", plays(answers("Theirs is a different one."))))
				events := s.Play(t, mem.New())
				if got := refusals(events, "a"); got != tt.code {
					t.Errorf("refused: %q, want %q", got, tt.code)
				}
				in := sp.inputs()[2]
				if tt.said {
					mustContain(t, words(in), tt.why)
				} else {
					res := results(in)
					if len(res) != len(tt.wrong.deltas) {
						t.Fatalf("%d calls were answered with %+v", len(tt.wrong.deltas), res)
					}
					for _, r := range res {
						mustContain(t, r.Text, tt.why)
						if !r.Error {
							t.Error("the refusal is not marked as an error")
						}
					}
				}
				if f := agenttest.Finished(t, events); f.Status != event.StatusSuccess {
					t.Errorf("ended as %+v", f)
				}
			})
		})
	}
}

// An agent that never brings an outcome is lost after as many attempts as the
// rules allow; the others go on.
func TestAttemptsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stubborn := &speaker{speak: func(int, backend.Input) reply { return says("No.") }}
		s := agenttest.New(multi(), "Say it.", actor("a", stubborn), actor("b", plays()))
		events := s.Play(t, mem.New())
		if n, want := len(stubborn.inputs()), multi().MaxAttempts; n != want {
			t.Errorf("called %d times, want %d", n, want)
		}
		if lost := agenttest.Bodies[event.Lost](events, "a"); len(lost) != 1 || lost[0].Code != "attempts" {
			t.Errorf("lost: %+v", lost)
		}
		if f := agenttest.Finished(t, events); f.Status != event.StatusSuccess || f.Winner != "b" {
			t.Errorf("ended as %+v", f)
		}
	})
}

// Tools called along with an outcome are run first; the outcome counts.
func TestToolsAndOutcomeInOneReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		look := &gadget{name: "look"}
		sp := plays(answers("Looked.").and(calls("look", `{}`)))
		events := agenttest.New(single(), "Do it.", actor("a", sp, look)).Play(t, mem.New())
		if a := agenttest.Bodies[event.Answered](events, "a"); len(a) != 1 || a[0].Content.Text != "Looked." || len(look.inputs()) != 1 {
			t.Errorf("answered %+v after %d looks", a, len(look.inputs()))
		}
	})
}

// A vote may name a revision, as models do, and give an order; labels become
// agents in the log.
func TestVoteIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := agenttest.New(multi(), "Say it.", actor("a", plays()), actor("b", plays()))
		b, a := string(s.Label("b")), string(s.Label("a"))
		ballot := `{"agent_id":" ` + b + `.1 ","reason":"It is short.","ranking":["` + b + `","` + a + `","agent7"]}`
		s.Actors[0].Backend = plays(answers("Mine.").in(time.Minute), calls("vote", ballot))
		voted := agenttest.Bodies[event.Voted](s.Play(t, mem.New()), "a")
		if len(voted) != 1 || voted[0].For != "b" || voted[0].Reason != "It is short." || len(voted[0].Ranking) != 2 || voted[0].Ranking[1] != "a" {
			t.Errorf("voted: %+v", voted)
		}
	})
}

// TM-10.1 Where voting is skipped nobody is offered the vote tool or asked for a
// vote: from the answers it goes straight to the presentation.
func TestSkippedVoting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rules := multi()
		rules.SkipVoting, rules.MaxAnswers = true, 1
		a, b := plays(), plays()
		events := agenttest.New(rules, "Do it.", actor("a", a), actor("b", b)).Play(t, mem.New())
		for _, in := range append(a.inputs(), b.inputs()...) {
			if offers(in, event.ToolVote) || strings.Contains(whole(in), "`vote`") {
				t.Errorf("the vote tool is offered: %s", whole(in))
			}
		}
		if n := len(a.inputs()) + len(b.inputs()); n != 3 {
			t.Errorf("%d calls for two answers and a presentation", n)
		}
		if f := agenttest.Finished(t, events); f.Status != event.StatusSuccess || f.Answer.Text != "The final answer." {
			t.Errorf("ended as %+v", f)
		}
	})
}
