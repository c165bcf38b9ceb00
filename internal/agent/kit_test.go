package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"conclave/internal/agent"
	"conclave/internal/agent/agenttest"
	"conclave/internal/backend"
	"conclave/internal/event"
	"conclave/internal/eventlog/mem"
	"conclave/internal/policy"
	"conclave/internal/prompt"
	"conclave/internal/tool"
	"conclave/internal/view"

	"github.com/google/go-cmp/cmp"
)

// kit is an agent's equipment in a test, and what was asked of it.
type kit struct {
	tools    []tool.Tool
	verdict  policy.Verdict
	snapshot func(n int) (string, error)
	written  event.Written
	openErr  error
	notices  []string
	lookErr  error
	scene    prompt.Scene
	room     backend.Room
	judging  func() // called before a call is judged
	end      func(ctx context.Context, job string) (string, error)

	mu         sync.Mutex
	needs      []agent.Need
	shown      []agent.Peer
	remembered []policy.Action
	snapshots  int
	closed     int
}

func (k *kit) Open(_ context.Context, n agent.Need) (agent.Hand, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.needs = append(k.needs, n)
	return hand{k}, k.openErr
}

type hand struct{ *kit }

func (h hand) Tools() []tool.Tool { return h.tools }
func (h hand) Scene() prompt.Scene {
	s := h.scene
	s.Workspace = "/run/me"
	return s
}
func (h hand) Notices() []string { return h.notices }
func (h hand) Show(_ context.Context, peers []agent.Peer) ([]prompt.Folder, error) {
	h.shown = append(h.shown, peers...)
	var out []prompt.Folder
	for _, p := range peers {
		out = append(out, prompt.Folder{Label: fmt.Sprintf("%s.%d", p.Label, p.Revision), Dir: "/snapshots/" + p.Snapshot})
	}
	return out, nil
}
func (h hand) Judge(x tool.Tool, c event.ToolCall) (policy.Action, policy.Verdict) {
	if h.judging != nil {
		h.judging()
	}
	return policy.Action{Tool: x.Name(), Kind: policy.Command, Target: string(c.Input)}, h.verdict
}
func (h hand) Rule(a policy.Action) (policy.Action, policy.Verdict) {
	if h.judging != nil {
		h.judging()
	}
	return a, h.verdict
}
func (h hand) Room() backend.Room { return h.room }
func (h hand) Remember(a policy.Action) error {
	h.remembered = append(h.remembered, a)
	return nil
}
func (h hand) EndJob(ctx context.Context, id string) (string, error) { return h.end(ctx, id) }
func (h hand) Snapshot(context.Context) (string, error) {
	h.snapshots++
	if h.snapshot == nil {
		return fmt.Sprint("snap", h.snapshots), nil
	}
	return h.snapshot(h.snapshots)
}
func (h hand) Written(context.Context) (event.Written, error) { return h.written, h.lookErr }
func (h hand) Close() error                                   { h.closed++; return nil }

func equipped(id event.AgentID, b backend.Backend, k *kit) agenttest.Actor {
	return agenttest.Actor{ID: id, Backend: b, Kit: k}
}

// Every answer carries its author's workspace as it was, peers are told where to
// find it, and whatever a turn has opened is closed.
func TestSnapshotsTravelWithAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ka, kb := &kit{}, &kit{}
		late := plays(answers("B's first.").in(time.Minute))
		events := agenttest.New(multi(), "Do it.", equipped("a", plays(answers("A's.")), ka), equipped("b", late, kb)).Play(t, mem.New())

		if got := agenttest.Bodies[event.Answered](events, "a")[0].Snapshot; got != "snap1" {
			t.Errorf("a's answer has the snapshot %q", got)
		}
		for _, k := range []*kit{ka, kb} {
			if k.closed != len(k.needs) {
				t.Errorf("%d turns were opened and %d closed", len(k.needs), k.closed)
			}
		}
		i := slices.IndexFunc(kb.needs, func(n agent.Need) bool { return len(n.Peers) > 0 })
		if i < 0 {
			t.Fatalf("b was never given a's workspace: %+v", kb.needs)
		}
		if p := kb.needs[i].Peers[0]; p.Snapshot != "snap1" || p.Revision != 1 {
			t.Errorf("b is given %+v", p)
		}
		presented := append(agenttest.Bodies[event.Presented](events, "a"), agenttest.Bodies[event.Presented](events, "b")...)
		if len(presented) != 1 || presented[0].Snapshot == "" {
			t.Errorf("the presentation has no snapshot: %+v", presented)
		}
	})
}

// An answer whose workspace cannot be taken is refused with the reason, and the
// agent can mend it.
func TestUnfitWorkspace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &kit{snapshot: func(n int) (string, error) {
			if n == 1 {
				return "", &agent.Refusal{Why: "The workspace holds too much."}
			}
			return "good", nil
		}}
		sp := plays(answers("One."), answers("Two."))
		events := agenttest.New(single(), "Do it.", equipped("a", sp, k)).Play(t, mem.New())
		if r := results(sp.inputs()[1]); len(r) != 1 || !r[0].Error || r[0].Text != "The workspace holds too much." {
			t.Errorf("the agent was told %+v", r)
		}
		if a := agenttest.Bodies[event.Answered](events, "a"); a[0].Content.Text != "Two." || a[0].Snapshot != "good" {
			t.Errorf("taken: %+v", a)
		}
	})
}

// TM-13.2 What became of the user's files is recorded with the outcome of a turn
// that could write them, and with its failure too.
func TestWrittenFilesAreRecorded(t *testing.T) {
	written := event.Written{Total: 1, Changes: []event.Change{{Path: "/src/a", Kind: event.ChangeNew}}}
	rules := event.Defaults(event.Mode{Single: true, Quick: true})
	rules.MaxAttempts = 1
	for name, sp := range map[string]*speaker{"answered": plays(answers("Done.")), "failed": plays(fails(backend.Invalid))} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stage := agenttest.New(rules, "Do it.", equipped("a", sp, &kit{written: written}))
				stage.Started.Spec.ContextPaths = []event.ContextPath{{Path: "/src", Write: true}}
				events := stage.Play(t, mem.New())
				got := agenttest.Bodies[event.Written](events, "a")
				want := written
				want.Turn = event.Turn{Round: 1, Take: 1}
				if diff := cmp.Diff([]event.Written{want}, got); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
	// A run that ends in the middle of a turn has written what it has written.
	t.Run("out of budget", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			k := &kit{tools: []tool.Tool{&gadget{name: "write", tier: tool.Write}}, verdict: policy.Verdict{Decision: policy.Allow}, written: written}
			poor := rules
			tokens := int64(20_000)
			poor.Budget.Tokens = &tokens
			much := calls("write", `{}`)
			much.input = 15_000
			stage := agenttest.New(poor, "Do it.", equipped("a", plays(much), k))
			stage.Started.Spec.ContextPaths = []event.ContextPath{{Path: "/src", Write: true}}
			events := stage.Play(t, mem.New())
			if f := agenttest.Finished(t, events); f.StoppedBy != event.StoppedByBudget {
				t.Fatalf("ended as %+v", f)
			}
			if got := agenttest.Bodies[event.Written](events, "a"); len(got) != 1 {
				t.Errorf("recorded %+v", got)
			}
		})
	})
	// What one take has written and the next has put back is not written.
	t.Run("put back", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			k := &kit{written: written}
			twice := rules
			twice.MaxAttempts = 2
			sp := &speaker{speak: func(n int, in backend.Input) reply {
				if n == 1 {
					return fails(backend.Overloaded)
				}
				k.written = event.Written{}
				return answers("Done.")
			}}
			stage := agenttest.New(twice, "Do it.", equipped("a", sp, k))
			stage.Started.Spec.ContextPaths = []event.ContextPath{{Path: "/src", Write: true}}
			var r view.Result
			for _, e := range stage.Play(t, mem.New()) {
				r = r.Apply(e)
			}
			if r.Written.Total > 0 {
				t.Errorf("the result says %+v", r.Written)
			}
		})
	})
	t.Run("not where nothing could be written", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			events := agenttest.New(rules, "Do it.", equipped("a", plays(answers("Done.")), &kit{written: written})).Play(t, mem.New())
			if got := agenttest.Bodies[event.Written](events, "a"); len(got) > 0 {
				t.Errorf("recorded %+v", got)
			}
		})
	})
}

// What the rules deny is not done, and the model is told why.
func TestDenied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shell := &gadget{name: "shell", tier: tool.World}
		sp := plays(calls("shell", `{"command":"rm"}`), answers("Done."))
		k := &kit{tools: []tool.Tool{shell}, verdict: policy.Verdict{Decision: policy.Deny, Reason: "rm is forbidden here."}}
		agenttest.New(single(), "Do it.", equipped("a", sp, k)).Play(t, mem.New())
		if n := len(shell.inputs()); n > 0 {
			t.Errorf("it was run %d times", n)
		}
		if r := results(sp.inputs()[1]); len(r) != 1 || !r[0].Error || !strings.Contains(r[0].Text, "rm is forbidden here.") {
			t.Errorf("the agent was told %+v", r)
		}
	})
}

// What has to be asked waits for a person: nothing is done before, time stands
// still meanwhile, and "always" is remembered.
func TestPermissionIsAwaited(t *testing.T) {
	for _, tt := range []struct {
		choice     string
		runs       int
		remembered int
		told       string
	}{
		{event.PermitOnce, 1, 0, "shell done"},
		{event.PermitAlways, 1, 1, "shell done"},
		{event.PermitDeny, 0, 0, "not on my machine"},
	} {
		t.Run(tt.choice, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				shell := &gadget{name: "shell", tier: tool.World}
				sp := plays(calls("shell", `{"command":"make"}`), answers("Done."))
				k := &kit{tools: []tool.Tool{shell}, verdict: policy.Verdict{Decision: policy.Ask, Reason: "it is outside any sandbox", Rule: "command"}}
				rules := single()
				rules.Permission = event.Override{On: true}
				log := mem.New()
				stage := agenttest.New(rules, "Do it.", equipped("a", sp, k))
				done := make(chan error, 1)
				go func() { done <- stage.Start(context.Background(), t, log) }()
				synctest.Wait()
				if len(shell.inputs()) > 0 {
					t.Fatal("it was run before anybody said so")
				}
				<-time.After(10 * time.Hour) // longer than any run may take
				asked := agenttest.Bodies[event.Asked](agenttest.Events(t, log), "a")
				if len(asked) != 1 || !strings.Contains(asked[0].Text.Text, `{"command":"make"}`) {
					t.Fatalf("asked %+v", asked)
				}
				reply := event.Replied{Gate: asked[0].Gate, Choice: tt.choice, Text: map[bool]string{true: tt.told}[tt.choice == event.PermitDeny], Revision: 1}
				if err := log.Send(context.Background(), agenttest.Flow, event.Fact{ID: "reply", Body: reply}); err != nil {
					t.Fatal(err)
				}
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				events := agenttest.Proved(t, log)
				if f := agenttest.Finished(t, events); f.Status != event.StatusSuccess {
					t.Errorf("ended as %+v", f)
				}
				if len(shell.inputs()) != tt.runs || len(k.remembered) != tt.remembered {
					t.Errorf("run %d times, remembered %d", len(shell.inputs()), len(k.remembered))
				}
				if r := results(sp.inputs()[1]); !strings.Contains(r[0].Text, tt.told) {
					t.Errorf("the agent was told %+v", r)
				}
			})
		})
	}
}

// A result too long to be shown whole is kept whole, shown in part, and can be
// read on in, whatever it is written in.
func TestLongResult(t *testing.T) {
	var lines strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&lines, "line %d é\n", i)
	}
	lines.WriteString("line 19999")
	for name, long := range map[string]string{
		"lines": lines.String(), "one line": strings.Repeat("世界", 20_000) + "line 19999",
		"one line, shifted": "x" + strings.Repeat("😀", 20_000) + "line 19999",
	} {
		t.Run(name, func(t *testing.T) { longResult(t, long) })
	}
}

func longResult(t *testing.T, long string) {
	synctest.Test(t, func(t *testing.T) {
		look := &gadget{name: "look", run: func(context.Context, json.RawMessage) (tool.Result, error) {
			return tool.Result{Text: long}, nil
		}}
		sp := &speaker{}
		var read strings.Builder
		sp.speak = func(n int, in backend.Input) reply {
			if n == 1 {
				return calls("look", `{}`)
			}
			last := results(in)[0].Text
			if n == 2 {
				head, _, _ := strings.Cut(last, "\n\n[…")
				read.WriteString(head)
			} else {
				part, rest, _ := strings.Cut(last, "\n\n[")
				read.WriteString(part)
				if strings.HasPrefix(rest, "the end") {
					return answers("Done.")
				}
			}
			return calls("read_result", fmt.Sprintf(`{"call":"c1","offset":%d}`, read.Len()))
		}
		rules := event.Defaults(event.Mode{Single: true, Quick: true})
		log := mem.New()
		events := agenttest.New(rules, "Do it.", actor("a", sp, look)).Play(t, log)
		if read.String() != long {
			t.Errorf("read %d bytes of %d", read.Len(), len(long))
		}
		shown := results(sp.inputs()[1])[0].Text
		if !utf8.ValidString(shown) {
			t.Error("a character was cut in two")
		}
		if len(shown) > 40<<10 || !strings.Contains(shown, "line 19999") {
			t.Errorf("shown are %d bytes", len(shown))
		}
		kept := agenttest.Bodies[event.ToolReturned](events, "a")[0].Result
		p, err := log.Blob(context.Background(), kept.Blob)
		if err != nil || string(p) != long {
			t.Errorf("kept are %d bytes: %v", len(p), err)
		}
		if slices.Contains(offered(sp.inputs()[0]), "read_result") {
			t.Error("read_result is offered before there is anything to read on in")
		}
	})
}

// Secrets are taken out before the model or the log sees them.
func TestRedacted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		look := &gadget{name: "look", run: func(context.Context, json.RawMessage) (tool.Result, error) {
			return tool.Result{Text: "the key is sesame"}, nil
		}}
		sp := plays(calls("look", `{}`), answers("Done."))
		log := mem.New()
		stage := agenttest.New(single(), "Do it.", actor("a", sp, look))
		stage.Redact = func(s string) string { return strings.ReplaceAll(s, "sesame", "[redacted]") }
		events := stage.Play(t, log)
		if r := results(sp.inputs()[1])[0].Text; r != "the key is [redacted]" {
			t.Errorf("the model was shown %q", r)
		}
		if r := agenttest.Bodies[event.ToolReturned](events, "a")[0].Result.Text; r != "the key is [redacted]" {
			t.Errorf("the log says %q", r)
		}
	})
}

// So they are out of the project's own instructions, and of why something failed.
func TestRedactedElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := plays(reply{err: &backend.Error{Kind: backend.Auth, Message: "the key sesame is wrong"}})
		k := &kit{scene: prompt.Scene{Instructions: []prompt.Text{{Name: "AGENTS.md", Text: "Log in with sesame."}}}}
		stage := agenttest.New(single(), "Do it.", equipped("a", sp, k))
		stage.Redact = func(s string) string { return strings.ReplaceAll(s, "sesame", "[redacted]") }
		events := stage.Play(t, mem.New())
		if all := whole(sp.inputs()[0]); strings.Contains(all, "sesame") || !strings.Contains(all, "Log in with [redacted]") {
			t.Error("the model was shown a secret")
		}
		if strings.Contains(agenttest.Transcript(events), "sesame") {
			t.Error("a secret is in the log")
		}
	})
}

// Calls that only look run together; their results come back in order.
func TestLooksTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		one, two, three := takes("one", time.Minute), takes("two", time.Minute), takes("three", time.Minute)
		three.tier = tool.Write
		sp := plays(calls("one", `{}`, "two", `{}`, "three", `{}`), answers("Done."))
		agenttest.New(event.Defaults(event.Mode{Single: true, Quick: true}), "Do it.", actor("a", sp, one, two, three)).Play(t, mem.New())
		if d := time.Since(start); d != 2*time.Minute {
			t.Errorf("it took %s", d)
		}
		var names []string
		for _, r := range results(sp.inputs()[1]) {
			names = append(names, r.Call+" "+r.Text)
		}
		if diff := cmp.Diff([]string{"c1 one done", "c2 two done", "c3 three done"}, names); diff != "" {
			t.Error(diff)
		}
	})
}

// How many run together is the agent's to say.
func TestLooksApart(t *testing.T) {
	for most, want := range map[int]time.Duration{0: time.Minute, 1: 4 * time.Minute, 3: 2 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			sp := plays(calls("look", `{}`, "look", `{}`, "look", `{}`, "look", `{}`), answers("Done."))
			a := actor("a", sp, takes("look", time.Minute))
			a.Parallel = most
			agenttest.New(event.Defaults(event.Mode{Single: true, Quick: true}), "Do it.", a).Play(t, mem.New())
			if d := time.Since(start); d != want {
				t.Errorf("%d at once: it took %s, want %s", most, d, want)
			}
		})
	}
}

// What is wrong with an agent's equipment is in the log for its user to see.
func TestNotices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &kit{notices: []string{"the MCP server x does not start"}}
		events := agenttest.New(event.Defaults(event.Mode{Single: true, Quick: true}), "Do it.", equipped("a", plays(answers("Done.")), k)).Play(t, mem.New())
		if n := agenttest.Bodies[event.Noticed](events, "a"); len(n) != 1 || n[0].Text != "the MCP server x does not start" {
			t.Errorf("noticed %+v", n)
		}
	})
}

// A round that is taken again is told what the calls before the cut have done to
// the world; what they did to the workspace was put back.
func TestDoneCallsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outside := &gadget{name: "outside", tier: tool.World}
		inside := &gadget{name: "inside", tier: tool.Write}
		sp := plays(calls("outside", `{"do":"it"}`, "inside", `{}`), fails(backend.Overloaded), answers("Done."))
		agenttest.New(event.Defaults(event.Mode{Single: true, Quick: true}), "Do it.", actor("a", sp, outside, inside)).Play(t, mem.New())
		in := sp.inputs()
		last := in[len(in)-1].Messages[0].Text
		mustContain(t, last, `outside {"do":"it"}`, "do not do it again")
		if strings.Contains(last, "inside {}") {
			t.Error("a call whose effect was taken back is listed")
		}
	})
}

// That the user's files cannot be looked at is said, not taken for nothing
// written.
func TestWrittenCannotBeTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stage := agenttest.New(event.Defaults(event.Mode{Single: true, Quick: true}), "Do it.", equipped("a", plays(answers("Done.")), &kit{lookErr: errors.New("the disk is gone")}))
		stage.Started.Spec.ContextPaths = []event.ContextPath{{Path: "/src", Write: true}}
		events := stage.Play(t, mem.New())
		if n := agenttest.Bodies[event.Noticed](events, "a"); len(n) != 1 || !strings.Contains(n[0].Text, "the disk is gone") {
			t.Errorf("noticed %+v", n)
		}
	})
}
