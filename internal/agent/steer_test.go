package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/internal/agent/agenttest"
	"conclave/internal/backend"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/mem"
	"conclave/internal/flow"
	"conclave/internal/policy"
	"conclave/internal/tool"
)

// A person is somebody who says things to a run while it is played.
type person struct {
	t    *testing.T
	log  eventlog.Log
	said int
	done chan error
}

// played starts a run that a person then steers.
func played(t *testing.T, s *agenttest.Stage) *person {
	p := &person{t: t, log: mem.New(), done: make(chan error, 1)}
	go func() { p.done <- s.Start(context.Background(), t, p.log) }()
	return p
}

// says waits for a while, says something and returns its id once it is heard.
func (p *person) says(after time.Duration, b event.Body) string {
	p.t.Helper()
	<-time.After(after)
	p.said++
	id := fmt.Sprintf("said/%d", p.said)
	if err := p.log.Send(context.Background(), agenttest.Flow, event.Fact{ID: id, Body: b}); err != nil {
		p.t.Fatal(err)
	}
	synctest.Wait()
	return id
}

// ends waits for the end of the run and proves its log.
func (p *person) ends() []event.Event {
	p.t.Helper()
	if err := <-p.done; err != nil {
		p.t.Fatal(err)
	}
	return agenttest.Proved(p.t, p.log)
}

func note(text string, to ...event.AgentID) event.Messaged {
	return event.Messaged{Text: event.Inline(text), To: to, By: "ada"}
}

// An agent in the middle of its first answer hears what a person says before the
// next call of its model; one whose vote is in is set to work again and reads it
// with its prompt, where what was said before stands as well.
func TestMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := plays(calls("look", `{}`))
		quick := plays(answers("Quick."))
		p := played(t, agenttest.New(multi(), "Say it.", actor("busy", busy, takes("look", time.Hour/6)), actor("quick", quick)))
		first := p.says(time.Minute, note("Use metric units."))
		second := p.says(time.Minute, note("And be brief.", "quick"))
		events := p.ends()

		told := agenttest.Bodies[event.Told](events, "busy")
		if len(told) == 0 || told[0].Note != "message" || len(told[0].Messages) != 1 || told[0].Messages[0] != first {
			t.Fatalf("told: %+v", told)
		}
		said := words(busy.inputs()[1])
		mustContain(t, said, "The user, a person, says this to you while you work.", "<message from=\"user\" id=", "Use metric units.")
		if strings.Contains(whole(busy.inputs()[1]), "brief") {
			t.Error("what was said to one agent reached another")
		}
		assigned := agenttest.Bodies[event.Assigned](events, "quick")
		both := assigned[len(assigned)-1].Messages
		if len(both) != 2 || both[0] != first || both[1] != second {
			t.Errorf("the last turn began with %v", both)
		}
		in := quick.inputs()
		mustContain(t, words(in[len(in)-1]), "What the user, a person, has said to you", "Use metric units.", "And be brief.")
	})
}

// The presenter hears as well, and a backend with a loop of its own does with the
// result of a tool.
func TestMessageToPresenter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop := &speaker{traits: backend.Traits{OwnsLoop: true}}
		var heard string
		loop.speak = func(n int, in backend.Input) reply {
			if offers(in, event.ToolNewAnswer) || offers(in, event.ToolVote) {
				return reply{do: func(ctx context.Context, h backend.ToolHost) error {
					return proposed(ctx, h, sensible(in))
				}}
			}
			return reply{deltas: []backend.Delta{{Text: "Final."}}, do: func(ctx context.Context, h backend.ToolHost) error {
				heard = h.Call(ctx, event.ToolCall{ID: "x", Name: "look", Input: json.RawMessage(`{}`)}).Text
				return nil
			}}
		}
		rules := single()
		rules.Strategy = event.WinnerPresent
		p := played(t, agenttest.New(rules, "Say it.", actor("a", loop, takes("look", time.Minute))))
		id := p.says(30*time.Second, note("In one sentence."))
		events := p.ends()
		told := agenttest.Bodies[event.Told](events, "a")
		if len(told) != 1 || len(told[0].Messages) != 1 || told[0].Messages[0] != id {
			t.Fatalf("told: %+v", told)
		}
		mustContain(t, heard, "look done", "The user, a person, says this to you", "In one sentence.")
	})
}

func proposed(ctx context.Context, h backend.ToolHost, r reply) error {
	for _, d := range r.deltas {
		h.Call(ctx, *d.Call)
	}
	return nil
}

// What is taken back before an agent could hear it is not heard.
func TestMessageTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := plays(calls("look", `{}`))
		p := played(t, agenttest.New(single(), "Say it.", actor("a", sp, takes("look", time.Hour/6))))
		id := p.says(time.Minute, note("Do it in Rust."))
		p.says(time.Minute, event.Withdrawn{Message: id})
		events := p.ends()
		if told := agenttest.Bodies[event.Told](events, "a"); len(told) > 0 {
			t.Errorf("told: %+v", told)
		}
		for _, in := range sp.inputs() {
			if strings.Contains(whole(in), "Rust") {
				t.Error("the agent has read what was taken back")
			}
		}
	})
}

// crossing is a crew whose turns say that they have heard a message just when it
// is taken back.
type crossing struct {
	engine.Doer
	back func(message string)
}

func (d crossing) Do(ctx context.Context, c flow.Command, p engine.Port) []event.Fact {
	return d.Doer.Do(ctx, c, crossed{p, d.back})
}

type crossed struct {
	engine.Port
	back func(string)
}

func (p crossed) Submit(ctx context.Context, facts ...event.Fact) ([]event.Event, error) {
	for _, f := range facts {
		if told, ok := f.Body.(event.Told); ok && len(told.Messages) > 0 {
			p.back(told.Messages[0])
		}
	}
	return p.Port.Submit(ctx, facts...)
}

// A message and its withdrawal cross on the way: what the run has taken back the
// model does not see, and what the model has seen the run does not take back.
func TestMessageCrosses(t *testing.T) {
	for _, together := range []bool{false, true} {
		t.Run(fmt.Sprint("in one transaction: ", together), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sp := plays(calls("look", `{}`))
				s := agenttest.New(single(), "Say it.", actor("a", sp, takes("look", time.Minute)))
				var p *person
				s.Doer = func(d engine.Doer) engine.Doer {
					return crossing{d, func(id string) {
						err := p.log.Send(context.Background(), agenttest.Flow, event.Fact{ID: "back", Body: event.Withdrawn{Message: id}})
						if err != nil {
							t.Error(err)
						}
						if !together {
							<-time.After(time.Second)
						}
					}}
				}
				p = played(t, s)
				p.says(30*time.Second, note("Do it in Rust."))
				events := p.ends()
				// A run that is over before it looks says nothing to it.
				taken := slices.ContainsFunc(agenttest.Bodies[event.Admitted](events, ""), func(a event.Admitted) bool { return a.Ref == "back" })
				seen := false
				for _, in := range sp.inputs() {
					seen = seen || strings.Contains(whole(in), "Rust")
				}
				if taken == seen || !together && seen {
					t.Errorf("taken back: %t, seen by the model: %t", taken, seen)
				}
			})
		})
	}
}

// A paused run makes no call of a model: a tool that runs is let finish, and what
// was said meanwhile is heard when the run goes on. No deadline comes nearer.
func TestPause(t *testing.T) {
	for _, owns := range []bool{false, true} {
		t.Run(fmt.Sprint("owns its loop: ", owns), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var waited time.Duration
				sp := plays(calls("look", `{}`))
				if owns {
					sp = &speaker{traits: backend.Traits{OwnsLoop: true}}
					sp.speak = func(n int, in backend.Input) reply {
						return reply{do: func(ctx context.Context, h backend.ToolHost) error {
							if n == 1 {
								began := time.Now()
								h.Call(ctx, event.ToolCall{ID: "x", Name: "look", Input: json.RawMessage(`{}`)})
								waited = time.Since(began)
							}
							return proposed(ctx, h, sensible(in))
						}}
					}
				}
				rules := single()
				rules.FirstRound = event.Duration(10 * time.Minute)
				p := played(t, agenttest.New(rules, "Say it.", actor("a", sp, takes("look", 5*time.Minute))))
				p.says(time.Minute, event.PauseRequested{})
				p.says(100*time.Hour, note("Still there?"))
				returned := agenttest.Bodies[event.ToolReturned](agenttest.Events(t, p.log), "a")
				if len(returned) != 1 || len(sp.inputs()) != 1 {
					t.Errorf("%d tools returned, %d calls", len(returned), len(sp.inputs()))
				}
				p.says(0, event.ContinueRequested{})
				events := p.ends()
				if told := agenttest.Bodies[event.Told](events, "a"); len(told) != 1 || told[0].Note != "message" {
					t.Errorf("told: %+v", told)
				}
				if f := agenttest.Finished(t, events); f.Status != event.StatusSuccess {
					t.Errorf("ended as %+v", f)
				}
				if owns && waited < 100*time.Hour {
					t.Errorf("the result of the tool came after %s", waited)
				}
			})
		})
	}
}

// A paused run that is left and taken up again stays paused.
func TestPauseOutlivesTheProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := plays(calls("look", `{}`))
		s := agenttest.New(single(), "Say it.", actor("a", sp, takes("look", time.Hour)))
		p := &person{t: t, log: mem.New(), done: make(chan error, 1)}
		ctx, kill := context.WithCancel(context.Background())
		go func() { p.done <- s.Start(ctx, t, p.log) }()
		p.says(time.Minute, event.PauseRequested{})
		kill()
		<-p.done
		go func() { p.done <- s.Resume(context.Background(), t, p.log) }()
		<-time.After(100 * time.Hour)
		if n := len(sp.inputs()); n != 1 {
			t.Errorf("the model was called %d times", n)
		}
		p.says(0, event.ContinueRequested{})
		events := p.ends()
		if f := agenttest.Finished(t, events); f.Status != event.StatusSuccess {
			t.Errorf("ended as %+v", f)
		}
	})
}

// A paused run is cancelled at once: a turn that waits ends.
func TestPauseIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := played(t, agenttest.New(single(), "Say it.", actor("a", plays(calls("look", `{}`)), takes("look", time.Minute))))
		p.says(time.Second, event.PauseRequested{})
		began := time.Now()
		p.says(time.Hour, event.CancelRequested{})
		events := p.ends()
		if f := agenttest.Finished(t, events); f.Status != event.StatusCancelled || time.Since(began) != time.Hour {
			t.Errorf("ended as %+v after %s", f, time.Since(began))
		}
	})
}

// An agent that is stopped stops at once, and the others go on.
func TestStopAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := plays(answers("Mine."), calls("look", `{}`))
		p := played(t, agenttest.New(multi(), "Say it.", actor("stuck", stuck, takes("look", 29*time.Minute)), actor("b", plays())))
		began := time.Now()
		p.says(time.Minute, event.StopRequested{Target: "stuck", By: "ada"})
		events := p.ends()
		lost := agenttest.Bodies[event.Lost](events, "stuck")
		if len(lost) != 1 || lost[0].Code != "stopped" || lost[0].Message != "it was stopped by ada" || time.Since(began) > 2*time.Minute {
			t.Errorf("lost %+v after %s", lost, time.Since(began))
		}
		if f := agenttest.Finished(t, events); f.Status != event.StatusSuccess {
			t.Errorf("ended as %+v", f)
		}
	})
}

// A command in the background is ended while its turn waits for a tool, and the
// agent hears of it before the next call.
func TestStopJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := &gadget{name: "shell_start", tier: tool.World, run: func(context.Context, json.RawMessage) (tool.Result, error) {
			return tool.Result{Text: "Started as job1.", Job: &tool.Job{ID: "job1"}}, nil
		}}
		began := time.Now()
		var ended time.Duration
		k := &kit{verdict: policy.Verdict{Decision: policy.Allow}, tools: []tool.Tool{started, takes("look", 10*time.Minute)}, end: func(_ context.Context, id string) (string, error) {
			ended = time.Since(began)
			return "stopped by the user after 1m0s", nil
		}}
		sp := plays(calls("shell_start", `{"command":"sleep 1000"}`), calls("look", `{}`))
		p := played(t, agenttest.New(single(), "Do it.", equipped("a", sp, k)))
		p.says(time.Minute, event.StopRequested{Target: "a", Job: "job1"})
		if ended != time.Minute {
			t.Errorf("it was ended after %s", ended)
		}
		wrong := p.says(0, event.StopRequested{Target: "a", Job: "job2"})
		events := p.ends()
		told := agenttest.Bodies[event.Told](events, "a")
		if len(told) != 1 || told[0].Job == nil || *told[0].Job != (event.Job{ID: "job1", Ended: "stopped by the user after 1m0s"}) {
			t.Fatalf("told: %+v", told)
		}
		mustContain(t, words(sp.inputs()[2]), "The user has had your background job job1 ended: stopped by the user after 1m0s.")
		refused := agenttest.Bodies[event.Refused](events, "")
		if len(refused) != 1 || refused[0].Ref != wrong {
			t.Errorf("refused: %+v", refused)
		}
	})
}

// What a person wants the moment a turn ends harms nobody.
func TestStopJobAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := &gadget{name: "shell_start", tier: tool.World, run: func(context.Context, json.RawMessage) (tool.Result, error) {
			return tool.Result{Job: &tool.Job{ID: "job1"}}, nil
		}}
		k := &kit{verdict: policy.Verdict{Decision: policy.Allow}, tools: []tool.Tool{start}, end: func(ctx context.Context, _ string) (string, error) {
			<-ctx.Done() // it takes its time
			return "", ctx.Err()
		}}
		sp := plays(calls("shell_start", `{}`), answers("Done.").in(time.Minute))
		p := played(t, agenttest.New(single(), "Do it.", equipped("a", sp, k)))
		p.says(30*time.Second, event.StopRequested{Target: "a", Job: "job1"})
		if f := agenttest.Finished(t, p.ends()); f.Status != event.StatusSuccess {
			t.Errorf("ended as %+v", f)
		}
	})
}
