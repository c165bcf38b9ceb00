package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/internal/agent/agenttest"
	"conclave/internal/backend"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/eventlog/mem"
	"conclave/internal/policy"
	"conclave/internal/prompt"
	"conclave/internal/talk"
	"conclave/internal/tool"
)

// twice launches two runs in one reply, looks something up, launches a third and
// then says what they came to.
func twice() *speaker {
	return reacts(func(_ string, n int, last []backend.ToolResult) reply {
		switch n {
		case 0:
			return says("Two at once. ").and(called("c1", event.ToolLaunchRun, `{"task":"One."}`)).and(called("c2", event.ToolLaunchRun, `{"task":"Two."}`))
		case 1:
			return called("c3", event.ToolLaunchRun, `{"task":"Three, after `+fmt.Sprint(len(last))+`."}`)
		}
		return says("All: " + last[0].Text)
	})
}

// cutAt is a log that ends after the nth event.
func cutAt(t *testing.T, events []event.Event, n int) *mem.Log {
	log := mem.New()
	lease, err := log.Acquire(context.Background(), agenttest.Flow, true)
	if err != nil {
		t.Fatal(err)
	}
	agenttest.Commit(t, log, lease, events[:n]...)
	return log
}

// IM-06.5: a turn with launches, one after the other, that is cut after any of its
// facts goes on after it: each run is launched once, nothing is said twice, and the
// model is sent what it would have been.
func TestTalkCutAnywhere(t *testing.T) {
	for _, approve := range []bool{false, true} {
		t.Run(fmt.Sprint("approve ", approve), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				play := func(log *mem.Log, sp *speaker) []event.Event {
					p := parlours(t, actor("", sp))
					p.log = log
					p.s.Staffed.Rules.Approve = approve
					p.s.Run = func(ctx context.Context, l talk.Launch, port engine.Port) event.Returned {
						select {
						case <-time.After(time.Minute):
						case <-ctx.Done():
						}
						return agenttest.Succeeds(ctx, l, port)
					}
					p.open()
					agenttest.Send(t, log, "said/1", event.Said{Text: event.Inline("Do all three.")})
					for range 20 {
						<-time.After(2 * time.Minute)
						synctest.Wait()
						for _, a := range open(agenttest.Events(t, log)) {
							agenttest.Send(t, log, "reply/"+a.Gate, event.Replied{Gate: a.Gate, Choice: event.LaunchApprove, Revision: a.Revision})
						}
					}
					return p.sound()
				}
				sp := twice()
				events := play(mem.New(), sp)
				want := whole(sp.inputs()[2])
				mustContain(t, want, "Done: One.", "Done: Two.", "Done: Three, after 2.")
				for n := 2; n <= len(events); n++ {
					sp := twice()
					again := play(cutAt(t, events, n), sp)
					for what, k := range map[string]int{
						"launched": len(agenttest.Bodies[event.Launched](again, agenttest.Host)), "returned": len(agenttest.Bodies[event.Returned](again, "")),
						"wanted": len(agenttest.Bodies[event.Wanted](again, agenttest.Host)), "tools": len(agenttest.Bodies[event.ToolReturned](again, agenttest.Host)),
						"called": len(agenttest.Bodies[event.Called](again, agenttest.Host)),
					} {
						if k != 3 {
							t.Fatalf("cut after %d (%s): %s %d times\n%s", n, events[n-1].ID, what, k, agenttest.Transcript(again))
						}
					}
					if k := len(agenttest.Bodies[event.Concluded](again, agenttest.Host)); k != 1 {
						t.Fatalf("cut after %d (%s): concluded %d times", n, events[n-1].ID, k)
					}
					if in := sp.inputs(); len(in) > 0 && whole(in[len(in)-1]) != want {
						t.Fatalf("cut after %d (%s): sent\n%s\nnot\n%s", n, events[n-1].ID, whole(in[len(in)-1]), want)
					}
				}
			})
		})
	}
}

// open are the questions nobody has answered.
func open(events []event.Event) []event.Asked {
	all := map[string]event.Asked{}
	var order []string
	for _, e := range events {
		switch b := e.Body.(type) {
		case event.Asked:
			all[b.Gate] = b
			order = append(order, b.Gate)
		case event.Closed:
			delete(all, b.Gate)
		}
	}
	var out []event.Asked
	for _, g := range order {
		if a, ok := all[g]; ok {
			out = append(out, a)
		}
	}
	return out
}

// Of a tool that was cut off nobody knows what it did: the model is told so and
// the tool is not used again. What stood after a run had not begun.
func TestTalkUnknownOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := func(name string) *gadget {
			first := true
			return &gadget{name: name, tier: tool.World, run: func(ctx context.Context, _ json.RawMessage) (tool.Result, error) {
				if first {
					first = false
					<-ctx.Done()
					return tool.Result{}, ctx.Err()
				}
				return tool.Result{Text: name + " done"}, nil
			}}
		}
		send, after := hangs("send"), &gadget{name: "after", tier: tool.World}
		sp := reacts(func(said string, n int, _ []backend.ToolResult) reply {
			switch {
			case n > 0:
				return says("Done.")
			case said == "Send it.":
				return called("s1", "send", `{}`).and(called("a1", "after", `{}`))
			}
			return called("l1", event.ToolLaunchRun, `{"task":"Go."}`).and(called("a2", "after", `{}`))
		})
		p := parlours(t, actor("", sp, send, after))
		p.s.Run = func(ctx context.Context, l talk.Launch, port engine.Port) event.Returned {
			select {
			case <-time.After(time.Minute):
			case <-ctx.Done():
			}
			return agenttest.Succeeds(ctx, l, port)
		}
		p.open()
		p.say("Send it.")
		p.leave()
		p.open()
		p.say("Launch it.")
		p.leave()
		p.open()
		<-time.After(2 * time.Minute)
		events := p.sound()
		if len(send.inputs()) != 1 || len(after.inputs()) != 1 {
			t.Errorf("used %d and %d times", len(send.inputs()), len(after.inputs()))
		}
		got := agenttest.Bodies[event.ToolReturned](events, agenttest.Host)
		if len(got) != 4 || !got[0].Error || !got[1].Error || got[2].Error || got[3].Result.Text != "after done" {
			t.Fatalf("results %+v", got)
		}
		mustContain(t, got[0].Result.Text, "Whether it took effect is not known")
		in := sp.inputs()
		if r := results(in[1]); len(in) != 4 || len(r) != 2 || r[0].Text != got[0].Result.Text {
			t.Errorf("sent %+v", r)
		}
	})
}

// A turn that a person stops leaves its calls without results; the next turn has
// something in their place, and the model goes on.
func TestTalkStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := reacts(func(said string, n int, _ []backend.ToolResult) reply {
			if said == "Wait." && n == 0 {
				return called("w", "wait", `{}`)
			}
			return says("Yes.")
		})
		p := parlours(t, actor("", sp, takes("wait", time.Hour)))
		p.open()
		p.say("Wait.")
		p.tell(event.CancelRequested{By: "ann"})
		p.say("Are you there?")
		events := p.sound()
		if f := agenttest.Bodies[event.Failed](events, agenttest.Host); len(f) != 1 || f[0].Code != talk.CodeStopped {
			t.Errorf("failed: %+v", f)
		}
		in := sp.inputs()
		if r := results(in[1]); len(r) != 1 || !r[0].Error || !strings.Contains(r[0].Text, "was stopped") || words(in[1]) != "Are you there?" {
			t.Errorf("sent %s", whole(in[1]))
		}
	})
}

// What the agent was saying when a person stopped it, it has said: it reads that
// again, and that it was stopped there.
func TestTalkStoppedInMidSentence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := reacts(func(said string, n int, _ []backend.ToolResult) reply {
			if said == "Count." {
				return reply{deltas: []backend.Delta{{Text: "One, two"}}, do: func(ctx context.Context, _ backend.ToolHost) error {
					<-ctx.Done()
					return ctx.Err()
				}}
			}
			return says("Three.")
		})
		p := parlours(t, actor("", sp))
		p.open()
		p.say("Count.")
		p.tell(event.CancelRequested{By: "ann"})
		p.say("Go on.")
		p.sound()
		in := sp.inputs()
		if m := in[1].Messages; len(m) != 3 || m[1].From != backend.Assistant || m[1].Text != "One, two\n[the user stopped you here]" {
			t.Errorf("sent %s", whole(in[1]))
		}
	})
}

// What people say while the agent works is heard before the next call of its
// model; what they take back is not.
func TestTalkHears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := reacts(func(said string, n int, _ []backend.ToolResult) reply {
			if said == "Look." && n == 0 {
				return called("l", "look", `{}`)
			}
			return says("Heard " + said)
		})
		p := parlours(t, actor("", sp, takes("look", time.Minute)))
		p.open()
		p.say("Look.")
		one, two := p.say("Left first."), p.say("No, right.")
		p.tell(event.Withdrawn{Message: two})
		three := p.say("And up.")
		<-time.After(2 * time.Minute)
		events := p.sound()
		told := agenttest.Bodies[event.Told](events, agenttest.Host)
		if len(told) != 2 || told[0].Messages[0] != one || told[1].Messages[0] != three {
			t.Errorf("told %+v", told)
		}
		in := sp.inputs()
		if len(in) != 2 || words(in[1]) != "Left first.\n\nAnd up." {
			t.Errorf("%d calls, heard %q", len(in), words(in[1]))
		}
	})
}

// A person is asked before a tool is used that needs it, as in a run; launch_run
// has a question of its own and no other.
func TestTalkPermission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shell := &gadget{name: "shell", tier: tool.World}
		k := &kit{tools: []tool.Tool{shell}, verdict: policy.Verdict{Decision: policy.Ask, Rule: "command"}}
		sp := reacts(func(said string, n int, last []backend.ToolResult) reply {
			if n == 0 {
				return called("s"+said, "shell", `{"n":"`+said+`"}`).and(called("l"+said, event.ToolLaunchRun, `{"task":"Go."}`))
			}
			return says(last[0].Text)
		})
		p := parlours(t, equipped("", sp, k))
		p.open()
		p.say("1")
		p.answer(event.PermitOnce, "")
		p.say("2")
		p.answer(event.PermitDeny, "Not now.")
		events := p.sound()
		if n := len(shell.inputs()); n != 1 {
			t.Errorf("used %d times", n)
		}
		if asked := agenttest.Bodies[event.Asked](events, agenttest.Host); len(asked) != 2 {
			t.Errorf("asked %+v", asked)
		}
		in := sp.inputs()
		mustContain(t, results(in[len(in)-1])[0].Text, "Not permitted: a person said no: Not now.")
	})
}

// busy looks, writes, launches and answers, whatever is said to it.
func busy() *speaker {
	sp := &speaker{traits: backend.Traits{Window: 900}}
	sp.speak = func(_ int, in backend.Input) reply {
		if in.System == prompt.CompactSystem() {
			return says("In short.")
		}
		calls := 0
		for _, m := range in.Messages {
			calls += len(m.Calls)
		}
		id := fmt.Sprint("c", len(in.Messages), "-", calls)
		r := says("Done with " + words(in)[:2] + ".")
		switch last := results(in); {
		case in.Messages[len(in.Messages)-1].From == backend.User && strings.Contains(words(in), "look"):
			r = called(id+"a", "look", `{}`).and(called(id+"b", "look", `{}`)).and(called(id+"c", "write", `{}`))
		case in.Messages[len(in.Messages)-1].From != backend.User && last[0].Name == "look":
			r = called(id, event.ToolLaunchRun, `{"task":"Go."}`)
		}
		r.input = int64(len(whole(backend.Input{Messages: in.Messages})) / 4)
		return r
	}
	return sp
}

// A conversation with tools, runs, messages in mid-turn and summaries, cut after
// any of its facts: everything said is heard once, every run comes to one result,
// every call the model reads has one, and the log is sound.
func TestTalkConversationCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		play := func(log *mem.Log) []event.Event {
			sp := busy()
			looks := takes("look", time.Minute)
			looks.tier = tool.Read
			p := parlours(t, actor("", sp, looks, &gadget{name: "write", tier: tool.Write}))
			p.log = log
			p.s.Run = func(ctx context.Context, l talk.Launch, port engine.Port) event.Returned {
				select {
				case <-time.After(time.Minute):
				case <-ctx.Done():
				}
				return agenttest.Succeeds(ctx, l, port)
			}
			p.open()
			for n := range 6 {
				agenttest.Send(t, log, fmt.Sprint("m", n), event.Said{Text: event.Inline(fmt.Sprintf("%02d, look%s", n, strings.Repeat(" well", 40)))})
				<-time.After([]time.Duration{40 * time.Second, 150 * time.Second, time.Hour}[n%3])
			}
			synctest.Wait()
			events := p.sound()
			for _, in := range sp.inputs() {
				if in.System != prompt.CompactSystem() {
					paired(t, in)
				}
			}
			return events
		}
		events := play(mem.New())
		if len(agenttest.Bodies[event.Compacted](events, agenttest.Host)) == 0 || len(agenttest.Bodies[event.Told](events, agenttest.Host)) == 0 ||
			len(agenttest.Bodies[event.Launched](events, agenttest.Host)) < 2 {
			t.Fatalf("the conversation is too simple:\n%s", agenttest.Transcript(events))
		}
		for n := 2; n <= len(events); n++ {
			again := play(cutAt(t, events, n))
			heard := map[string]int{}
			for _, a := range agenttest.Bodies[event.Assigned](again, agenttest.Host) {
				for _, id := range a.Messages {
					heard[id]++
				}
			}
			for _, a := range agenttest.Bodies[event.Told](again, agenttest.Host) {
				for _, id := range a.Messages {
					heard[id]++
				}
			}
			for m := range 6 {
				if heard[fmt.Sprint("m", m)] != 1 {
					t.Errorf("cut after %d (%s): message %d was heard %d times", n, events[n-1].ID, m, heard[fmt.Sprint("m", m)])
				}
			}
			results := map[string]int{}
			for _, r := range agenttest.Bodies[event.ToolReturned](again, agenttest.Host) {
				results[fmt.Sprint(r.Round, r.Call)]++
			}
			for _, c := range agenttest.Bodies[event.Called](again, agenttest.Host) {
				for _, x := range c.Tools {
					if results[fmt.Sprint(c.Round, x.ID)] != 1 {
						t.Errorf("cut after %d (%s): call %s has %d results", n, events[n-1].ID, x.ID, results[fmt.Sprint(c.Round, x.ID)])
					}
				}
			}
			if a, b := agenttest.Bodies[event.Launched](again, agenttest.Host), agenttest.Bodies[event.Returned](again, ""); len(a) != len(b) {
				t.Errorf("cut after %d (%s): %d runs launched, %d returned", n, events[n-1].ID, len(a), len(b))
			}
			if t.Failed() {
				t.Fatalf("%s", agenttest.Transcript(again))
			}
		}
	})
}
