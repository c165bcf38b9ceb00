package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"conclave/internal/agent/agenttest"
	"conclave/internal/backend"
	"conclave/internal/event"
	"conclave/internal/eventlog/mem"
	"conclave/internal/tool"

	"github.com/google/go-cmp/cmp"
)

// A reply that calls tools is answered with their results, in order, and the
// model is called again with the whole conversation.
func TestToolLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		look := &gadget{name: "look", run: func(_ context.Context, in json.RawMessage) (tool.Result, error) {
			return tool.Result{Text: "saw " + string(in)}, nil
		}}
		sad := &gadget{name: "sad", run: func(context.Context, json.RawMessage) (tool.Result, error) {
			return tool.Result{Text: "it did not work", Error: true}, nil
		}}
		sp := plays(says("First I look.").and(calls("look", `{"at":1}`, "sad", `{}`)), calls("look", `{"at":2}`), answers("Done."))
		log := mem.New()
		events := agenttest.New(single(), "Do it.", actor("a", sp, look, sad)).Play(t, log)

		second, third := sp.inputs()[1], sp.inputs()[2]
		want := []backend.ToolResult{
			{Call: "c1", Name: "look", Text: `saw {"at":1}`},
			{Call: "c2", Name: "sad", Text: "it did not work", Error: true},
		}
		if diff := cmp.Diff(want, results(second)); diff != "" {
			t.Error(diff)
		}
		var speakers []backend.Speaker
		for _, m := range third.Messages {
			speakers = append(speakers, m.From)
		}
		if diff := cmp.Diff([]backend.Speaker{backend.User, backend.Assistant, backend.Tool, backend.Assistant, backend.Tool}, speakers); diff != "" {
			t.Error(diff)
		}
		if m := third.Messages[1]; m.Text != "First I look." || len(m.Calls) != 2 {
			t.Errorf("what the model said is repeated to it as %+v", m)
		}
		var recorded []string
		for _, r := range agenttest.Bodies[event.ToolReturned](events, "a") {
			recorded = append(recorded, r.Call+" "+r.Name+": "+r.Result.Text)
		}
		if diff := cmp.Diff([]string{`c1 look: saw {"at":1}`, "c2 sad: it did not work", `c1 look: saw {"at":2}`}, recorded); diff != "" {
			t.Error(diff)
		}
	})
}

// What cannot be run is explained to the model, which goes on.
func TestCallsThatCannotBeRun(t *testing.T) {
	for _, tt := range []struct {
		name, call, input string
		want              string
	}{
		{"unknown tool", "dance", `{}`, `There is no tool "dance" here. Offered are: look, new_answer.`},
		{"cut-off input", "look", `{"at": `, "The input of the call is not a JSON object."},
		{"input of another kind", "look", `[1]`, "The input of the call is not a JSON object."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				look, sp := &gadget{name: "look"}, plays(calls(tt.call, tt.input))
				agenttest.New(single(), "Do it.", actor("a", sp, look)).Play(t, mem.New())
				want := []backend.ToolResult{{Call: "c1", Name: tt.call, Text: tt.want, Error: true}}
				if diff := cmp.Diff(want, results(sp.inputs()[1])); diff != "" {
					t.Error(diff)
				}
				if n := len(look.inputs()); n > 0 {
					t.Errorf("the tool ran %d times", n)
				}
			})
		})
	}
}

// A tool that breaks ends the take, whether it says so or falls over; the agent
// is given another.
func TestBrokenTool(t *testing.T) {
	for name, run := range map[string]func(context.Context, json.RawMessage) (tool.Result, error){
		"error": func(context.Context, json.RawMessage) (tool.Result, error) {
			return tool.Result{}, errors.New("out of order")
		},
		"panic": func(context.Context, json.RawMessage) (tool.Result, error) { panic("out of order") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sp := plays(calls("look", `{}`))
				events := agenttest.New(single(), "Do it.", actor("a", sp, &gadget{name: "look", run: run})).Play(t, mem.New())
				failed := agenttest.Bodies[event.Failed](events, "a")
				if len(failed) != 1 || failed[0].Code != string(backend.Broken) || failed[0].Final {
					t.Fatalf("failed as %+v", failed)
				}
				mustContain(t, failed[0].Message, "out of order")
				if f := agenttest.Finished(t, events); f.Status != event.StatusSuccess {
					t.Errorf("ended as %+v", f)
				}
			})
		})
	}
}

// A call whose outcome nobody recorded is not made again by us: the agent is
// told of it and decides. It is the same for one that runs its own loop.
func TestOutcomeUnknown(t *testing.T) {
	install := call("c1", "shell", `{"run":"make  install"}`)
	for name, sp := range map[string]*speaker{
		"ordinary": plays(calls(install.Name, string(install.Input))),
		"own loop": {traits: backend.Traits{OwnsLoop: true}, speak: func(n int, in backend.Input) reply {
			switch {
			case n == 1:
				return loops(nil, install)
			case offers(in, event.ToolVote):
				return loops(nil, call("v", event.ToolVote, `{"agent_id":"agent1"}`))
			}
			return loops(nil, call("a", event.ToolNewAnswer, `{"content":"Mine."}`))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log, shell := mem.New(), takes("shell", time.Hour)
				s := agenttest.New(single(), "Do it.", actor("a", sp, shell))
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if err := s.Start(ctx, t, log); !errors.Is(err, context.DeadlineExceeded) {
					t.Fatal(err)
				}
				if err := s.Resume(t.Context(), t, log); err != nil {
					t.Fatal(err)
				}
				cut := agenttest.Bodies[event.Interrupted](agenttest.Proved(t, log), "a")
				if len(cut) != 1 || len(cut[0].Unknown) != 1 || cut[0].Unknown[0].Name != "shell" {
					t.Errorf("interrupted: %+v", cut)
				}
				mustContain(t, words(sp.inputs()[1]), "not known", `shell {"run":"make install"}`)
				if diff := cmp.Diff([]string{string(install.Input)}, shell.inputs()); diff != "" {
					t.Errorf("the tool was run with: %s", diff)
				}
			})
		})
	}
}

// An agent may use up its model calls without an outcome; then it is lost, and
// not called once more.
func TestCallsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rules := single()
		rules.MaxCalls = 3
		look := calls("look", `{}`)
		sp := plays(look, look, look, look, look)
		events := agenttest.New(rules, "Do it.", actor("a", sp, &gadget{name: "look"})).Play(t, mem.New())
		if n := len(sp.inputs()); n != 3 {
			t.Errorf("the model was called %d times", n)
		}
		lost := agenttest.Bodies[event.Lost](events, "a")
		if len(lost) != 1 || lost[0].Code != "attempts" {
			t.Errorf("lost: %+v", lost)
		}
		if f := agenttest.Finished(t, events); f.Status != event.StatusError || f.Error == "" {
			t.Errorf("ended as %+v", f)
		}
	})
}

// The presenter may use tools too; its last word is the reply that calls none.
func TestPresenterUsesTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		look := &gadget{name: "look"}
		sp := &speaker{speak: func(_ int, in backend.Input) reply {
			if offers(in, event.ToolNewAnswer) || offers(in, event.ToolVote) {
				return sensible(in)
			}
			if len(results(in)) == 0 {
				return says("Let me look.").and(calls("look", `{}`, "new_answer", `{"content":"no"}`))
			}
			return says("All is well.")
		}}
		events := agenttest.New(multi(), "Do it.", actor("a", sp, look)).Play(t, mem.New())
		if f := agenttest.Finished(t, events); f.Answer.Text != "All is well." || f.Presenter != "a" {
			t.Errorf("ended as %+v", f)
		}
		last := sp.inputs()[len(sp.inputs())-1]
		want := []backend.ToolResult{
			{Call: "c1", Name: "look", Text: "look done"},
			{Call: "c2", Name: "new_answer", Text: `There is no tool "new_answer" here. Offered are: look.`, Error: true},
		}
		if diff := cmp.Diff(want, results(last)); diff != "" {
			t.Error(diff)
		}
	})
}

// A presenter that says nothing is told so.
func TestEmptyPresentation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		presenting := 0
		sp := &speaker{speak: func(_ int, in backend.Input) reply {
			if len(in.Tools) == 0 {
				if presenting++; presenting == 1 {
					return says("")
				}
			}
			return sensible(in)
		}}
		events := agenttest.New(multi(), "Do it.", actor("a", sp)).Play(t, mem.New())
		if f := agenttest.Finished(t, events); f.Answer.Text != "The final answer." {
			t.Errorf("ended as %+v", f)
		}
		ins := sp.inputs()
		mustContain(t, words(ins[len(ins)-1]), "The final answer is empty.")
	})
}
