package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
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

// loops is what a backend does that runs its own loop: it makes its calls through
// the host and, if told is not nil, keeps what it was told.
func loops(told *[]backend.ToolResult, made ...event.ToolCall) reply {
	return reply{do: func(ctx context.Context, host backend.ToolHost) error {
		for _, c := range made {
			res := host.Call(ctx, c)
			if told != nil {
				*told = append(*told, res)
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		return nil
	}}
}

func call(id, name, input string) event.ToolCall {
	return event.ToolCall{ID: id, Name: name, Input: json.RawMessage(input)}
}

// kinds is the order of what was recorded about an agent.
func kinds(events []event.Event, a event.AgentID) []string {
	var out []string
	for _, e := range events {
		if e.Agent == a {
			out = append(out, event.Kind(e.Body))
		}
	}
	return out
}

// A backend that runs its own loop has its tools run and its outcome judged by
// the host: each call is recorded before it is made, a refusal comes back as the
// result, and what is accepted ends the turn.
func TestOwnLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		look := &gadget{name: "look"}
		var told []backend.ToolResult
		sp := &speaker{traits: backend.Traits{OwnsLoop: true}}
		sp.speak = func(n int, in backend.Input) reply {
			switch {
			case n == 1:
				return loops(&told, call("1", "look", `{"at":1}`), call("2", "dance", `{}`), call("3", "vote", `{"agent_id":"agent1"}`),
					call("4", "new_answer", `{"content":""}`), call("5", "new_answer", `{"content":"Mine."}`), call("6", "look", `{"at":2}`))
			default:
				return loops(&told, call("7", "vote", `{"agent_id":"agent1","reason":"Done."}`))
			}
		}
		events := agenttest.New(single(), "Do it.", actor("a", sp, look)).Play(t, mem.New())
		want := []backend.ToolResult{
			{Call: "1", Name: "look", Text: "look done"},
			{Call: "2", Name: "dance", Text: `There is no tool "dance" here. Offered are: look, read_result, new_answer.`, Error: true},
			{Call: "3", Name: "vote", Text: `There is no tool "vote" here. Offered are: look, read_result, new_answer.`, Error: true},
			{Call: "4", Name: "new_answer", Text: "The answer is empty. Call new_answer with your answer.", Error: true},
			{Call: "5", Name: "new_answer", Text: "Taken.", End: true},
			{Call: "6", Name: "look", Text: "The turn is over.", Error: true, End: true},
			{Call: "7", Name: "vote", Text: "Taken.", End: true},
		}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{`{"at":1}`}, look.inputs()); diff != "" {
			t.Errorf("the tool was run with: %s", diff)
		}
		if diff := cmp.Diff([]string{
			"assigned", "tool_called", "tool_returned", "tool_called", "tool_returned", "tool_called", "tool_returned",
			"proposed", "refused", "proposed", "answered", "assigned", "called", "proposed", "voted", "called",
		}, kinds(events, "a")); diff != "" {
			t.Error(diff)
		}
	})
}

// An own loop is offered its tools once, so the one that reads on in a long
// result is among them from the start.
func TestOwnLoopReadsOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		look := &gadget{name: "look", run: func(context.Context, json.RawMessage) (tool.Result, error) {
			return tool.Result{Text: strings.Repeat("hay\n", 20_000) + "needle"}, nil
		}}
		var told []backend.ToolResult
		sp := &speaker{traits: backend.Traits{OwnsLoop: true}}
		sp.speak = func(int, backend.Input) reply {
			return loops(&told, call("1", "look", `{}`), call("2", "read_result", `{"call":"1","offset":79996}`), call("3", "new_answer", `{"content":"Mine."}`))
		}
		agenttest.New(event.Defaults(event.Mode{Single: true, Quick: true}), "Do it.", actor("a", sp, look)).Play(t, mem.New())
		if !offers(sp.inputs()[0], "read_result") {
			t.Error("it is told of a tool that it is not offered")
		}
		mustContain(t, told[0].Text, "read_result")
		mustContain(t, told[1].Text, "hay\nneedle\n\n[the end]")
	})
}

// The same from a script.
func TestOwnLoopScript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		look := &gadget{name: "look"}
		a := agenttest.Scripted(t, "a", `
owns_loop: true
steps:
  - when: {presenting: true}
    do: [{say: "The end."}]
  - when: {own: 0, call: 1}
    do: [{tool: {name: look, input: {at: here}}}]
  - when: {own: 0, refused: true}
    do: [{answer: "Better, after {{.Result}}"}]
  - when: {own: 0}
    do: [{answer: ""}]
  - do: [{vote: {for: self, reason: Done.}}]
`)
		a.Tools = []tool.Tool{look}
		events := agenttest.New(multi(), "Do it.", a).Play(t, mem.New())
		f := agenttest.Finished(t, events)
		if f.Status != event.StatusSuccess || f.Answer.Text != "The end." || len(look.inputs()) != 1 {
			t.Errorf("ended as %+v after %d looks", f, len(look.inputs()))
		}
		answered := agenttest.Bodies[event.Answered](events, "a")
		if len(answered) != 1 {
			t.Fatalf("answered: %+v", answered)
		}
		mustContain(t, answered[0].Content.Text, "Better, after The answer is empty.")
		if got := refusals(events, "a"); got != "empty" {
			t.Errorf("refused: %q", got)
		}
	})
}

// A turn of an own loop that ends without an outcome is told so and goes on.
func TestOwnLoopWithoutOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []backend.ToolResult
		sp := &speaker{traits: backend.Traits{OwnsLoop: true}}
		sp.speak = func(n int, in backend.Input) reply {
			switch n {
			case 1:
				return says("I am done.")
			case 2:
				mustContain(t, words(in), "The turn needs an outcome.")
				return loops(&told, call("1", "new_answer", `{"content":"Mine."}`))
			}
			return loops(&told, call("2", "vote", `{"agent_id":"agent1"}`))
		}
		events := agenttest.New(single(), "Do it.", actor("a", sp)).Play(t, mem.New())
		if got := refusals(events, "a"); got != "no_outcome" {
			t.Errorf("refused: %q", got)
		}
	})
}

// What goes wrong in an own loop after its outcome was accepted does not matter.
func TestOwnLoopFailsAfterItsOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []backend.ToolResult
		sp := &speaker{traits: backend.Traits{OwnsLoop: true}}
		sp.speak = func(n int, in backend.Input) reply {
			r := loops(&told, call("1", "new_answer", fmt.Sprintf(`{"content":"Take %d."}`, n)))
			if offers(in, "vote") {
				r = loops(&told, call("1", "vote", `{"agent_id":"agent1"}`))
			}
			r.err = errors.New("the process died")
			return r
		}
		events := agenttest.New(single(), "Do it.", actor("a", sp)).Play(t, mem.New())
		if failed := agenttest.Bodies[event.Failed](events, "a"); len(failed) > 0 {
			t.Errorf("failed: %+v", failed)
		}
		if f := agenttest.Finished(t, events); f.Answer.Text != "Take 1." {
			t.Errorf("ended as %+v", f)
		}
	})
}

// News reaches an own loop with the result of its next tool call.
func TestOwnLoopHearsNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []backend.ToolResult
		busy := &speaker{traits: backend.Traits{OwnsLoop: true}}
		busy.speak = func(n int, in backend.Input) reply {
			switch {
			case n == 1:
				return loops(&told, call("1", "new_answer", `{"content":"The first."}`))
			case offers(in, "vote"):
				return loops(&told, call("2", "look", `{}`), call("3", "vote", `{"agent_id":"agent1"}`))
			}
			return says("The end.")
		}
		late := plays(answers("The second.").in(time.Minute))
		s := agenttest.New(multi(), "Say it.", actor("busy", busy, takes("look", 2*time.Minute)), actor("late", late))
		events := s.Play(t, mem.New())
		seen := agenttest.Bodies[event.Told](events, "busy")
		if len(seen) != 1 || seen[0].Note != "news" || seen[0].Seen["late"] != 1 {
			t.Fatalf("told: %+v", seen)
		}
		mustContain(t, told[1].Text, "look done", "New answers have come in", "The second.")
		if r := agenttest.Bodies[event.ToolReturned](events, "busy"); r[0].Result.Text != "look done" {
			t.Errorf("recorded as the result: %q", r[0].Result.Text)
		}
		if n := len(agenttest.Bodies[event.Assigned](events, "busy")); n != 2 {
			t.Errorf("was set to work %d times", n)
		}
	})
}

// Calls that come side by side are carried out one after another.
func TestOwnLoopCallsAreSerial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := 0
		look := &gadget{name: "look", run: func(context.Context, json.RawMessage) (tool.Result, error) {
			busy++
			defer func() { busy-- }()
			if busy > 1 {
				t.Error("two at once")
			}
			return tool.Result{Text: "seen"}, nil
		}}
		sp := &speaker{traits: backend.Traits{OwnsLoop: true}}
		sp.speak = func(n int, in backend.Input) reply {
			return reply{do: func(ctx context.Context, host backend.ToolHost) error {
				done := make(chan backend.ToolResult)
				for i := range 8 {
					go func() { done <- host.Call(ctx, call(fmt.Sprint(i), "look", `{}`)) }()
				}
				for range 8 {
					if r := <-done; n == 1 && r.Text != "seen" {
						t.Errorf("result: %+v", r)
					}
				}
				if offers(in, "vote") {
					host.Call(ctx, call("v", "vote", `{"agent_id":"agent1"}`))
				} else {
					host.Call(ctx, call("a", "new_answer", `{"content":"Mine."}`))
				}
				return nil
			}}
		}
		agenttest.New(single(), "Do it.", actor("a", sp, look)).Play(t, mem.New())
		if n := len(look.inputs()); n != 16 {
			t.Errorf("the tool ran %d times", n)
		}
	})
}

// A tool that breaks ends an own loop's take as it ends any other, in whatever
// goroutine it is called.
func TestOwnLoopBrokenTool(t *testing.T) {
	for name, run := range map[string]func(context.Context, json.RawMessage) (tool.Result, error){
		"error": func(context.Context, json.RawMessage) (tool.Result, error) {
			return tool.Result{}, errors.New("out of order")
		},
		"panic": func(context.Context, json.RawMessage) (tool.Result, error) { panic("out of order") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sp := &speaker{traits: backend.Traits{OwnsLoop: true}}
				sp.speak = func(n int, in backend.Input) reply {
					next := call("a", "new_answer", `{"content":"Mine."}`)
					if offers(in, "vote") {
						next = call("v", "vote", `{"agent_id":"agent1"}`)
					}
					if n == 1 {
						next = call("1", "look", `{}`)
					}
					return reply{do: func(ctx context.Context, host backend.ToolHost) error {
						done := make(chan backend.ToolResult)
						go func() { done <- host.Call(ctx, next) }()
						if r := <-done; !r.End {
							t.Errorf("%s gave %+v", next.Name, r)
						}
						return nil
					}}
				}
				events := agenttest.New(single(), "Do it.", actor("a", sp, &gadget{name: "look", run: run})).Play(t, mem.New())
				failed := agenttest.Bodies[event.Failed](events, "a")
				if len(failed) != 1 || failed[0].Code != string(backend.Broken) {
					t.Fatalf("failed: %+v", failed)
				}
				mustContain(t, failed[0].Message, "out of order")
				if f := agenttest.Finished(t, events); f.Status != event.StatusSuccess {
					t.Errorf("ended as %+v", f)
				}
			})
		})
	}
}

// A call that comes when the backend has finished speaking is not taken.
func TestOwnLoopCallsTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		look := &gadget{name: "look"}
		var left backend.ToolHost
		sp := &speaker{traits: backend.Traits{OwnsLoop: true}}
		sp.speak = func(n int, in backend.Input) reply {
			return reply{do: func(ctx context.Context, host backend.ToolHost) error {
				switch {
				case n == 1:
					left = host
				case n == 2:
					if r := left.Call(ctx, call("1", "look", `{}`)); !r.End || !r.Error || r.Text != "The turn is over." {
						t.Errorf("a call after the end gave %+v", r)
					}
					host.Call(ctx, call("2", "new_answer", `{"content":"Mine."}`))
				default:
					host.Call(ctx, call("3", "vote", `{"agent_id":"agent1"}`))
				}
				return nil
			}}
		}
		agenttest.New(single(), "Do it.", actor("a", sp, look)).Play(t, mem.New())
		if n := len(look.inputs()); n > 0 {
			t.Errorf("the tool ran %d times", n)
		}
	})
}
