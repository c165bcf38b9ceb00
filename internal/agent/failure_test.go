package agent_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"conclave/internal/agent/agenttest"
	"conclave/internal/backend"
	"conclave/internal/event"
	"conclave/internal/eventlog/mem"
	"conclave/internal/live"
	"conclave/internal/talk"
)

// What went wrong is recorded by its kind. Where trying again can help it is
// tried again; where it cannot, the agent is lost at once.
func TestBackendErrors(t *testing.T) {
	for kind, final := range map[backend.ErrorKind]bool{
		backend.Auth: true, backend.Invalid: true, backend.Declined: true,
		backend.RateLimited: false, backend.Overloaded: false, backend.Unreachable: false,
		backend.TimedOut: false, backend.Garbled: false, backend.Broken: false,
	} {
		t.Run(string(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sp := plays(fails(kind))
				s := agenttest.New(multi(), "Say it.", actor("a", sp), actor("b", plays()))
				events := s.Play(t, mem.New())
				failed := agenttest.Bodies[event.Failed](events, "a")
				if len(failed) != 1 || failed[0].Code != string(kind) || failed[0].Final != final {
					t.Fatalf("failed: %+v", failed)
				}
				mustContain(t, failed[0].Message, "as the test says")
				answered, lost := agenttest.Bodies[event.Answered](events, "a"), agenttest.Bodies[event.Lost](events, "a")
				if final != (len(lost) == 1) || final == (len(answered) == 1) {
					t.Errorf("answered %+v, lost %+v", answered, lost)
				}
				if f := agenttest.Finished(t, events); f.Status != event.StatusSuccess {
					t.Errorf("ended as %+v", f)
				}
			})
		})
	}
}

// What an agent had said when its stream broke off is kept, and is nobody's
// answer.
func TestTruncatedReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cut := reply{deltas: []backend.Delta{{Text: "Half of "}, {Text: "an answ"}}, open: true}
		cutCall := answers("A call that came, in a reply that did not end.")
		cutCall.open = true
		sp := plays(cut, cutCall)
		events := agenttest.New(single(), "Say it.", actor("a", sp)).Play(t, mem.New())
		failed := agenttest.Bodies[event.Failed](events, "a")
		if len(failed) != 2 || failed[0].Code != string(backend.Truncated) || failed[0].Partial.Text != "Half of an answ" {
			t.Fatalf("failed: %+v", failed)
		}
		for _, a := range agenttest.Bodies[event.Answered](events, "a") {
			if a.Content.Text != "An answer after 0 others." {
				t.Errorf("answered %q", a.Content.Text)
			}
		}
	})
}

// What a turn had used when it failed is recorded, where the backend knows it.
func TestSpentAndFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		used := event.Usage{Input: 70, Output: 7}
		sp := plays(reply{err: &backend.Spent{Usage: used, Err: &backend.Error{Kind: backend.TimedOut, Message: "as the test says"}}})
		failed := agenttest.Bodies[event.Failed](agenttest.New(single(), "Say it.", actor("a", sp)).Play(t, mem.New()), "a")
		if len(failed) != 1 || failed[0].Code != string(backend.TimedOut) || failed[0].Usage != used {
			t.Errorf("failed: %+v", failed)
		}
	})
}

// So is what one had used that a person stopped.
func TestSpentAndStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		used := event.Usage{Input: 70, Output: 7}
		p := parlours(t, actor("", reacts(func(string, int, []backend.ToolResult) reply {
			return reply{do: func(ctx context.Context, _ backend.ToolHost) error {
				<-ctx.Done()
				return &backend.Spent{Usage: used, Err: ctx.Err()}
			}}
		})))
		p.open()
		p.say("Count.")
		p.tell(event.CancelRequested{By: "ann"})
		if f := agenttest.Bodies[event.Failed](p.sound(), agenttest.Host); len(f) != 1 || f[0].Code != talk.CodeStopped || f[0].Usage != used {
			t.Errorf("failed: %+v", f)
		}
	})
}

// A backend that falls over takes its turn with it and nothing else.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := plays(reply{do: func(context.Context, backend.ToolHost) error { panic("a bug") }})
		events := agenttest.New(multi(), "Say it.", actor("a", sp), actor("b", plays())).Play(t, mem.New())
		failed := agenttest.Bodies[event.Failed](events, "a")
		if len(failed) != 1 || failed[0].Code != string(backend.Broken) {
			t.Fatalf("failed: %+v", failed)
		}
		mustContain(t, failed[0].Message, "panic: a bug")
		if f := agenttest.Finished(t, events); f.Status != event.StatusSuccess || len(agenttest.Bodies[event.Answered](events, "a")) != 1 {
			t.Errorf("ended as %+v", f)
		}
	})
}

// A seat for which this program has no agent is lost, and the run goes on.
func TestMissingAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := agenttest.New(multi(), "Say it.", actor("a", plays()), actor("b", plays()))
		s.Actors = s.Actors[1:]
		events := s.Play(t, mem.New())
		if lost := agenttest.Bodies[event.Lost](events, "a"); len(lost) != 1 || lost[0].Code != string(backend.Invalid) {
			t.Errorf("lost: %+v", lost)
		}
		if f := agenttest.Finished(t, events); f.Status != event.StatusSuccess || f.Winner != "b" {
			t.Errorf("ended as %+v", f)
		}
	})
}

// A turn that does not stop when told to, and the take that replaces it, never
// run side by side: the backend is one conversation.
func TestTakesDoNotOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rules := single()
		rules.FirstRound, rules.RoundGrace = event.Duration(time.Minute), event.Duration(10*time.Minute)
		var busy atomic.Int32
		deaf := reply{do: func(ctx context.Context, _ backend.ToolHost) error {
			busy.Add(1)
			defer busy.Add(-1)
			<-ctx.Done()
			<-time.After(5 * time.Minute)
			return ctx.Err()
		}}
		sp := &speaker{speak: func(n int, in backend.Input) reply {
			if n == 1 {
				return deaf
			}
			if busy.Load() > 0 {
				t.Errorf("call %d while another was going on", n)
			}
			return sensible(in)
		}}
		events := agenttest.New(rules, "Say it.", actor("a", sp)).Play(t, mem.New())
		if f := agenttest.Finished(t, events); f.Status != event.StatusSuccess {
			t.Errorf("ended as %+v", f)
		}
	})
}

// metered are rules with a ceiling of tokens.
func metered(tokens int64) event.Rules {
	r := multi()
	r.Budget.Tokens = &tokens
	return r
}

// Where there is a budget every call is asked for before it is made, and settles
// what it was granted.
func TestEveryCallIsAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := plays(calls("look", `{}`), fails(backend.Overloaded))
		events := agenttest.New(metered(1_000_000), "Say it.", actor("a", sp, &gadget{name: "look"})).Play(t, mem.New())
		granted, settled := map[string]bool{}, 0
		for _, e := range events {
			request := ""
			switch b := e.Body.(type) {
			case event.Granted:
				granted[b.Request] = true
				continue
			case event.Called:
				request = b.Request
			case event.Failed:
				request = b.Request
			default:
				continue
			}
			if !granted[request] {
				t.Errorf("%s settles %q, which was not granted before", e.ID, request)
			}
			delete(granted, request)
			settled++
		}
		if n := len(sp.inputs()); settled != n || len(granted) > 0 {
			t.Errorf("%d calls, %d settled, left %v", n, settled, granted)
		}
	})
}

// A request that is refused ends the turn without a call, and the run with what
// there is once what was already paid for has come.
func TestRefusedRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := answers("All there is.").in(time.Second) // b has asked by then
		first.input = 20_000
		a, b := plays(first), plays(answers("Paid for.").in(time.Minute))
		events := agenttest.New(metered(35_000), "Say it.", actor("a", a), actor("b", b)).Play(t, mem.New())
		if len(a.inputs()) != 1 || len(b.inputs()) != 1 {
			t.Errorf("the models were called %d and %d times", len(a.inputs()), len(b.inputs()))
		}
		if got := refusals(events, "a"); got != "budget" {
			t.Errorf("refused: %q", got)
		}
		if failed := agenttest.Bodies[event.Failed](events, "a"); len(failed) > 0 {
			t.Errorf("a turn that is not wanted any more is no failure: %+v", failed)
		}
		if f := agenttest.Finished(t, events); f.StoppedBy != event.StoppedByBudget || f.Answer.Text != "Paid for." {
			t.Errorf("ended as %+v", f)
		}
	})
}

// A request that does not fit beside those of the others waits for them: what
// they reserved is more than they will spend.
func TestRequestWaitsForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := plays(answers("One.").in(time.Minute)), plays(answers("Two.").in(time.Minute))
		events := agenttest.New(metered(20_000), "Say it.", actor("a", a), actor("b", b)).Play(t, mem.New())
		if f := agenttest.Finished(t, events); f.StoppedBy != event.StoppedByVotes {
			t.Errorf("ended as %+v", f)
		}
		if got := refusals(events, "a") + refusals(events, "b"); !strings.Contains(got, event.RefusedWait) {
			t.Errorf("nobody waited: %q", got)
		}
	})
}

// A call that broke off after the model had begun to speak has cost something
// nobody knows: what was reserved for it counts as spent.
func TestBrokenOffCallIsNotFree(t *testing.T) {
	for _, tt := range []struct {
		name  string
		first reply
		free  bool
	}{
		{"refused by the provider", fails(backend.RateLimited), true},
		{"cut in the middle", reply{deltas: []backend.Delta{{Text: "Half"}}, open: true}, false},
		{"failed in the middle", reply{deltas: []backend.Delta{{Thinking: "Hm"}}, err: &backend.Error{Kind: backend.Overloaded}}, false},
		{"timed out", fails(backend.TimedOut), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				// Enough for one reservation and a little more.
				sp := plays(tt.first)
				events := agenttest.New(metered(18_000), "Say it.", actor("a", sp)).Play(t, mem.New())
				if called := len(agenttest.Bodies[event.Called](events, "a")) > 0; called != tt.free {
					t.Errorf("a second call was made: %v\n%s", called, agenttest.Transcript(events))
				}
			})
		})
	}
}

// However a call ends, whoever begins to listen afterwards hears nothing of it.
func TestLiveEnds(t *testing.T) {
	for name, r := range map[string]reply{
		"an answer": answers("x"),
		"a failure": {deltas: []backend.Delta{{Text: "Well, "}}, err: &backend.Error{Kind: backend.Overloaded, Message: "busy"}},
		"a panic":   {deltas: []backend.Delta{{Text: "Well, "}}, do: func(context.Context, backend.ToolHost) error { panic("fell over") }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := agenttest.New(single(), "Say it.", actor("a", plays(r)))
				d := s.Driver(t, mem.New())
				d.Hub = &live.Hub{}
				if err := d.Start(t.Context(), event.Fact{ID: "started", Body: s.Started}); err != nil {
					t.Fatal(err)
				}
				deltas, stop := d.Hub.Listen()
				stop()
				for x := range deltas {
					t.Errorf("still heard: %+v", x)
				}
			})
		})
	}
}

// The text of a turn is live while it is being said.
func TestLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := mem.New()
		s := agenttest.New(single(), "Say it.", actor("a", plays(reply{deltas: []backend.Delta{
			{Thinking: "Hm."}, {Text: "Well, "}, {Text: "then."}, answers("x").deltas[0],
		}})))
		hub := &live.Hub{}
		d := s.Driver(t, log)
		d.Hub = hub
		deltas, stop := hub.Listen()
		if err := d.Start(t.Context(), event.Fact{ID: "started", Body: s.Started}); err != nil {
			t.Fatal(err)
		}
		stop()
		var got []string
		for x := range deltas {
			got = append(got, fmt.Sprint(x.Flow, " ", x.Agent, " ", x.Turn, " ", x.Kind, " ", x.Text))
		}
		want := []string{"run-test a 1.1 thinking Hm.", "run-test a 1.1 text Well, ", "run-test a 1.1 text then.", "run-test a 1.1 tool new_answer", "run-test a 1.1 end ",
			"run-test a 2.1 tool vote", "run-test a 2.1 end "}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("heard %q", got)
		}
	})
}
