package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"conclave/internal/agent"
	"conclave/internal/agent/agenttest"
	"conclave/internal/backend"
	"conclave/internal/event"
	"conclave/internal/prompt"
	"conclave/internal/tool"

	"github.com/google/go-cmp/cmp"
)

// chatty answers at length and counts how full its window is; asked to, it sums
// up.
func chatty(window int, summary reply) *speaker {
	sp := &speaker{traits: backend.Traits{Window: window}}
	sp.speak = func(_ int, in backend.Input) reply {
		if in.System == prompt.CompactSystem() {
			return summary
		}
		r := says("A long story about " + words(in)[:min(5, len(words(in)))] + strings.Repeat(" blah", 400))
		for _, m := range in.Messages {
			r.input += int64(len(m.Text)) / 4
		}
		return r
	}
	return sp
}

// DZ-07: a conversation that outgrows the window is put into fewer words, which is
// a fact; what is pinned stays word for word, the system prompt with the project's
// context is whole, the last exchanges are as they were, and a program started
// afterwards sends the same.
func TestTalkCompaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := chatty(2400, says("They spoke of many things."))
		p := parlours(t, agenttest.Actor{Backend: native{sp}, Prompt: "You are the critical one."})
		p.s.Talker = func(k *agent.Talker) {
			k.Context = func(_ context.Context, project string) (string, error) {
				return "Never touch the " + project + ".", nil
			}
		}
		p.open()
		p.tell(event.Opened{Project: "moat", By: "ann"})
		pin := p.say("0000 Always answer in verse.")
		p.tell(event.Pinned{Message: pin, On: true})
		for _, e := range agenttest.Events(t, p.log) {
			if _, ok := e.Body.(event.Called); ok {
				p.tell(event.Pinned{Message: e.ID, On: true})
				break
			}
		}
		for n := range 7 {
			p.say(fmt.Sprintf("%04d and so on.", n+1))
		}
		was := len(sp.inputs())
		p.leave()
		p.open()
		p.say("0009 the end.")
		events := p.sound()

		compacted := agenttest.Bodies[event.Compacted](events, agenttest.Host)
		if len(compacted) < 2 {
			t.Fatalf("compacted %d times:\n%s", len(compacted), agenttest.Transcript(events))
		}
		for _, c := range compacted {
			if c.Through == "" || c.Messages == 0 || c.After >= c.Before || c.Usage.Output != 5 || c.Summary.Text != "They spoke of many things." {
				t.Errorf("recorded %+v", c)
			}
		}
		in := sp.inputs()
		var last backend.Input
		for i, x := range in {
			if x.System == prompt.CompactSystem() {
				continue
			}
			last = x
			mustContain(t, x.System, "You are the critical one.", "Never touch the moat.", "launch_run")
			if i > 0 && !strings.Contains(whole(x), "0000 Always answer in verse.") {
				t.Errorf("call %d has lost what was pinned: %.3000s", i, whole(x))
			}
		}
		first := last.Messages[0]
		mustContain(t, first.Text, "They spoke of many things.", `<pinned from="user"`, `<pinned from="you"`, "A long story about 0000")
		if n := strings.Count(whole(last), "0000 Always answer"); n != 1 {
			t.Errorf("what was pinned is there %d times", n)
		}
		if strings.Contains(whole(last), "0001 and so on") || !strings.Contains(whole(last), "0007 and so on") {
			t.Errorf("sent %s", whole(last))
		}
		// What the next program sends begins with what this one sent last, unless
		// it had to make room again.
		before, after := in[was-1], in[was]
		if after.System == prompt.CompactSystem() {
			t.Fatal("the test must not need room here")
		}
		if diff := cmp.Diff(before.Messages, after.Messages[:len(before.Messages)]); diff != "" {
			t.Errorf("after a restart: %s", diff)
		}
	})
}

// A turn so long that its own beginning is put into fewer words keeps what the
// user wants, word for word, and keeps calls and results together; so does a turn
// that is cut after that. A model that cannot sum up does not end it.
func TestTalkCompactionInATurn(t *testing.T) {
	for name, summary := range map[string]reply{"summed up": says("It looked."), "not summed up": fails(backend.Overloaded)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				looked := 0
				sp := &speaker{traits: backend.Traits{Window: 3000}}
				sp.speak = func(_ int, in backend.Input) reply {
					if in.System == prompt.CompactSystem() {
						return summary
					}
					if words(in) == "Hello there." {
						return says("Hello.")
					}
					if looked++; looked == 8 {
						return fails(backend.Overloaded) // and another take goes on
					}
					if looked <= 14 {
						r := called(fmt.Sprint("c", looked), "look", fmt.Sprintf(`{"at":%d}`, looked))
						r.input = int64(len(whole(backend.Input{Messages: in.Messages})) / 4)
						return r
					}
					return says("Found.")
				}
				p := parlours(t, actor("", sp, long()))
				p.open()
				p.say("Hello there.")
				p.say("Find the needle, please, and mind the thread.")
				events := p.sound()
				if n := len(agenttest.Bodies[event.Compacted](events, agenttest.Host)); n < 2 {
					t.Fatalf("compacted %d times:\n%s", n, agenttest.Transcript(events))
				}
				if n := len(agenttest.Bodies[event.Concluded](events, agenttest.Host)); n == 0 {
					t.Fatalf("not concluded:\n%s", agenttest.Transcript(events))
				}
				for i, in := range sp.inputs() {
					if in.System == prompt.CompactSystem() || i == 0 {
						continue
					}
					paired(t, in)
				}
				all := sp.inputs()
				mustContain(t, whole(all[len(all)-1]), "mind the thread")
			})
		})
	}
}

// A provider that says first that it is too much is asked again with less.
func TestTalkTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := chatty(0, says("They spoke."))
		speak := sp.speak
		sp.speak = func(n int, in backend.Input) reply {
			if in.System != prompt.CompactSystem() && len(in.Messages) > 6 {
				return fails(backend.TooLong)
			}
			return speak(n, in)
		}
		p := parlours(t, actor("", sp))
		p.open()
		for n := range 8 {
			p.say(fmt.Sprintf("%04d.", n))
		}
		events := p.sound()
		if c, f := agenttest.Bodies[event.Compacted](events, agenttest.Host), agenttest.Bodies[event.Failed](events, agenttest.Host); len(c) < 2 || len(f) > 0 {
			t.Errorf("compacted %d times, failed %+v", len(c), f)
		}
	})
}

// paired complains about a result without its call, or a call without its result.
func paired(t *testing.T, in backend.Input) {
	t.Helper()
	var open []string
	for i, m := range in.Messages {
		if m.From == backend.Tool {
			for _, r := range m.Results {
				if len(open) == 0 || open[0] != r.Call {
					t.Fatalf("message %d: a result of %s, open are %v", i, r.Call, open)
				}
				open = open[1:]
			}
		} else if len(open) > 0 {
			t.Fatalf("message %d: no results of %v", i, open)
		}
		for _, c := range m.Calls {
			open = append(open, c.ID)
		}
	}
	if len(in.Messages) > 0 && in.Messages[0].From != backend.User {
		t.Fatal("it does not begin with the user")
	}
}

// Where the session's budget is used up the turn ends, and the log says why.
func TestTalkBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := reacts(func(said string, _ int, _ []backend.ToolResult) reply {
			r := says("Heard " + said)
			r.input = 1000
			return r
		})
		p := parlours(t, actor("", sp))
		most := int64(30_000)
		p.s.Staffed.Rules.Budget = event.Budget{Tokens: &most}
		p.open()
		for n := range 20 {
			p.say(fmt.Sprint("Message ", n))
		}
		events := p.sound()
		requested, granted := agenttest.Bodies[event.Requested](events, agenttest.Host), agenttest.Bodies[event.Granted](events, agenttest.Host)
		if len(granted) == 0 || len(granted) >= len(requested) || len(sp.inputs()) != len(granted) {
			t.Errorf("%d requests, %d granted, %d calls", len(requested), len(granted), len(sp.inputs()))
		}
		var why string
		for _, e := range events {
			if r, ok := e.Body.(event.Refused); ok && strings.Contains(r.Ref, "request") {
				why = r.Why
			}
		}
		mustContain(t, why, "budget")
	})
}

// A turn makes no more calls than it may: what the last reply calls is not carried
// out, and people read why it ended. The next turn goes on.
func TestTalkLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := reacts(func(said string, n int, _ []backend.ToolResult) reply {
			if said == "Look." {
				return called(fmt.Sprint("c", n), "look", `{}`)
			}
			return says("That far.")
		})
		look := &gadget{name: "look"}
		p := parlours(t, actor("", sp, look))
		p.s.Staffed.Rules.MaxCalls = 3
		p.open()
		p.say("Look.")
		p.say("How far?")
		events := p.sound()
		f := agenttest.Bodies[event.Failed](events, agenttest.Host)
		if len(f) != 1 || !f[0].Final || f[0].Code != "limit" || len(look.inputs()) != 2 {
			t.Fatalf("looked %d times, failed %+v", len(look.inputs()), f)
		}
		mustContain(t, f[0].Message, "all of its 3 model calls")
		// Cut just before it could say so, it says the same.
		for i, e := range events {
			if _, ok := e.Body.(event.Failed); ok {
				p.log = cutAt(t, events, i)
			}
		}
		p.open()
		again := p.sound()
		mustContain(t, agenttest.Bodies[event.Failed](again, agenttest.Host)[0].Message, "all of its 3 model calls")
		in := sp.inputs()
		mustContain(t, results(in[len(in)-1])[0].Text, "Not carried out")
		paired(t, in[len(in)-1])
	})
}

// A reply that says nothing is a failure at first and the end of a turn that has
// said something; either way nothing empty is ever sent back.
func TestTalkEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := true
		sp := reacts(func(said string, n int, _ []backend.ToolResult) reply {
			switch {
			case said == "Look." && n == 0:
				return says("I look.").and(called("c", "look", `{}`))
			case said == "Look.":
				return reply{}
			case silent:
				silent = false
				return reply{deltas: []backend.Delta{{Thinking: "Hm."}}}
			}
			return says("Hello.")
		})
		p := parlours(t, agenttest.Actor{Backend: native{sp}, Tools: []tool.Tool{&gadget{name: "look"}}})
		p.open()
		p.say("Hello.")
		p.say("Look.")
		p.say("Thanks.")
		events := p.sound()
		if f := agenttest.Bodies[event.Failed](events, agenttest.Host); len(f) != 1 || f[0].Message != "the model said nothing" || f[0].Usage.Output != 5 {
			t.Errorf("failed %+v", f)
		}
		if n := len(agenttest.Bodies[event.Concluded](events, agenttest.Host)); n != 3 {
			t.Errorf("concluded %d times", n)
		}
		in := sp.inputs()
		for _, m := range in[len(in)-1].Messages {
			if m.From == backend.Assistant && m.Text == "" && len(m.Calls) == 0 {
				t.Errorf("an empty reply was sent back: %+v", m)
			}
		}
	})
}

// A provider that fails in the middle of a turn is asked again: the tools are not
// used twice.
func TestTalkTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := false
		sp := reacts(func(_ string, n int, _ []backend.ToolResult) reply {
			if n == 0 {
				return called("c", "look", `{}`)
			}
			if !failed {
				failed = true
				return fails(backend.Overloaded)
			}
			return says("Done.")
		})
		look := &gadget{name: "look", tier: tool.World}
		p := parlours(t, actor("", sp, look))
		p.open()
		p.say("Look.")
		p.sound()
		in := sp.inputs()
		if len(look.inputs()) != 1 || len(in) != 3 || whole(in[1]) != whole(in[2]) {
			t.Errorf("looked %d times in %d calls", len(look.inputs()), len(in))
		}
	})
}

// A provider that gives every call the same id has its runs all the same.
func TestTalkSameCallID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := reacts(func(_ string, n int, last []backend.ToolResult) reply {
			if n < 2 {
				return called("call_0", event.ToolLaunchRun, fmt.Sprintf(`{"task":"Number %d."}`, n+1))
			}
			return says("It came to: " + last[len(last)-1].Text)
		})
		p := parlours(t, actor("", sp))
		p.open()
		p.say("Go.")
		events := p.sound()
		if n := len(agenttest.Bodies[event.Launched](events, agenttest.Host)); n != 2 {
			t.Errorf("%d runs:\n%s", n, agenttest.Transcript(events))
		}
		in := sp.inputs()
		mustContain(t, whole(in[2]), "Done: Number 1.", "Done: Number 2.")
	})
}

// A backend that runs its own loop is served: it launches, hears what is said
// meanwhile with a result, and after a cut finds the run it wanted again.
func TestTalkOwnLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		take := 0
		var got []string
		send := &gadget{name: "send", tier: tool.World}
		sp := &speaker{traits: backend.Traits{OwnsLoop: true}}
		sp.speak = func(int, backend.Input) reply {
			take++
			n := take
			return reply{deltas: []backend.Delta{{Text: "Looked."}}, do: func(ctx context.Context, h backend.ToolHost) error {
				if n == 1 {
					h.Call(ctx, event.ToolCall{ID: "s", Name: "send", Input: json.RawMessage(`{}`)})
				}
				res := h.Call(ctx, event.ToolCall{ID: fmt.Sprint("x", n), Name: event.ToolLaunchRun, Input: json.RawMessage(`{"task":"Go."}`)})
				got = append(got, res.Text)
				return ctx.Err()
			}}
		}
		p := parlours(t, actor("", sp, send))
		p.s.Staffed.Rules.Approve = true
		p.open()
		p.say("Go.")
		p.leave()
		p.open()
		mustContain(t, words(sp.inputs()[1]), "Go.", "do not do it again:\n<done id=", "- send gave back: send done")
		p.answer(event.LaunchApprove, "")
		p.say("Thanks.")
		p.leave()
		events := agenttest.Sound(t, p.log)
		if n := len(agenttest.Bodies[event.Wanted](events, agenttest.Host)); n != 2 {
			t.Errorf("wanted %d times, once in each turn:\n%s", n, agenttest.Transcript(events))
		}
		mustContain(t, strings.Join(got, "\n"), "Done: Go.")
		in := sp.inputs()
		if last := in[len(in)-1].Messages; len(last) != 3 || last[1].Text != "Looked." || last[2].Text != "Thanks." {
			t.Errorf("sent %+v", last)
		}
	})
}

// What a tool of the desk has to say of the session is a fact of it, and a context
// that cannot be read is said and ends nothing.
func TestTalkDesk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := reacts(func(said string, n int, _ []backend.ToolResult) reply {
			if n == 0 && said == "Open it." {
				return called("o", "open_project", `{}`)
			}
			return says("Open.")
		})
		p := parlours(t, actor("", sp))
		p.s.Talker = func(k *agent.Talker) {
			k.Desk = func(submit func(context.Context, event.Body) error) []tool.Tool {
				return []tool.Tool{&gadget{name: "open_project", run: func(ctx context.Context, _ json.RawMessage) (tool.Result, error) {
					return tool.Result{Text: "open"}, submit(ctx, event.Opened{Project: "moat"})
				}}}
			}
			k.Context = func(context.Context, string) (string, error) { return "", errors.New("it is gone") }
		}
		p.open()
		p.say("Open it.")
		p.say("And?")
		events := p.sound()
		if o := agenttest.Bodies[event.Opened](events, agenttest.Host); len(o) != 1 || o[0].Project != "moat" {
			t.Errorf("opened %+v", o)
		}
		if n := agenttest.Bodies[event.Noticed](events, agenttest.Host); len(n) != 1 || n[0].Text != "the context of project moat cannot be read: it is gone" {
			t.Errorf("noticed %+v", n)
		}
		in := sp.inputs()
		mustContain(t, in[len(in)-1].System, "The open project is moat")
	})
}
