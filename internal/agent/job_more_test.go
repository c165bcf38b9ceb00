package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"conclave/internal/agent"
	"conclave/internal/agent/agenttest"
	"conclave/internal/backend"
	"conclave/internal/event"
	"conclave/internal/policy"
	"conclave/internal/prompt"
	"conclave/internal/talk"
	"conclave/internal/tool"
)

// What is refused the model reads, with what to do instead, and mends it: in the
// same turn, with the tools it has.
func TestJobRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := reacts(func(said string, n int, last []backend.ToolResult) reply {
			switch n {
			case 0:
				return called("c1", event.ToolTodoComplete, `{"todo_id":"9"}`).and(called("c2", event.ToolTodoComplete, `{"todo_id":"1,2,3,4"}`)).
					and(called("c3", event.ToolNextPhaseTodos, `{"todos":["x"],"phase_name":"P"}`)).and(called("c4", event.ToolNextPhaseTodos, `{"todos":"x"}`)).
					and(called("c5", event.ToolAddressComment, `{"comment":"1","changed":false,"text":"x"}`))
			case 1:
				return called("c1", event.ToolTodoComplete, `{}`) // an id it has used before
			case 2:
				return called("c6", event.ToolTodoList, `{}`)
			}
			return planning("The job begins", n, last)
		})
		p := workshops(t, sp)
		p.open()
		events := p.sound()
		in := sp.inputs()
		for i, want := range []string{`There is no todo "9". Open are: 1, 2, 3, 4.`, "Stage it with next_phase_todos first", "too short", `The field "phase_name" is missing.`, `There is no tool "address_comment" here.`} {
			if r := results(in[1])[i]; !r.Error || !strings.Contains(r.Text, want) {
				t.Errorf("%s: told %q", r.Call, r.Text)
			}
		}
		if r := results(in[2])[0]; r.Error || !strings.Contains(r.Text, "Next is todo 2: ") {
			t.Errorf("told %+v", r)
		}
		mustContain(t, results(in[3])[0].Text, "- [x] 1: ", "- [ ] 2: ")
		for _, e := range events {
			if _, ok := e.Body.(event.TodosDone); ok && !strings.HasPrefix(e.ID, "put/turn/planner/") {
				t.Errorf("%s", e.ID)
			}
		}
	})
}

// An agent that stops speaking before everything is done is told to go on, in the
// same conversation; one that only talks comes to a question to a person.
func TestJobNudge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := reacts(func(said string, n int, last []backend.ToolResult) reply { return says("Shall I begin?") })
		p := workshops(t, sp)
		p.open()
		events := p.sound()
		in := sp.inputs()
		if len(in) != 3 || len(in[2].Messages) != 5 {
			t.Fatalf("%d calls:\n%s", len(in), agenttest.Transcript(events))
		}
		mustContain(t, words(in[2]), "You stopped before the todos of this phase were done.", "Not done yet:\n\n- [ ] 1: ")
		if g := open(events); len(g) != 1 || g[0].Kind != event.GateTrouble {
			t.Errorf("asked %+v", g)
		}
	})
}

// A turn makes no more model calls than it may; what its last reply calls is
// carried out, and the next turn goes on with the phase. The log says so.
func TestJobLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := &speaker{}
		sp.speak = func(n int, in backend.Input) reply { return planning("The job begins", n-1, nil) }
		p := workshops(t, sp)
		p.s.Started.Rules.MaxCalls = 2
		p.open()
		events := p.sound()
		if g := open(events); len(g) != 1 || g[0].Kind != event.GateReview || len(sp.inputs()) != 5 {
			t.Fatalf("%d calls, asked %+v", len(sp.inputs()), g)
		}
		n := agenttest.Bodies[event.Noticed](events, agenttest.Planner)
		if len(n) != 2 || n[0].Text != "the turn has made all of its 2 model calls; the phase goes on with another" {
			t.Errorf("noticed %+v", n)
		}
		if len(agenttest.Bodies[event.Failed](events, agenttest.Planner)) > 0 {
			t.Error("that is no failure")
		}
	})
}

// A conversation that outgrows the window is put into fewer words in the middle of
// a turn; what the person wants of it stays word for word, in the message and in
// the prompt.
//
// IP-06
func TestJobCompaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		revising := false
		sp := &speaker{traits: backend.Traits{Window: 4000}}
		n := 0
		sp.speak = func(_ int, in backend.Input) reply {
			if in.System == prompt.CompactSystem() {
				return says("It was all about offers.")
			}
			n++
			switch {
			case !revising:
				return planning("The job begins", n-1, nil)
			case n < 8:
				r := says(strings.Repeat("I think. ", 300)).and(called(fmt.Sprint("r", n), "read", `{"path":"plan.md"}`))
				r.input = 3900
				return r
			}
			return planning("I have read the plan", n-8, nil)
		}
		p := workshops(t, sp)
		p.open()
		revising, n = true, 0
		p.reply(event.ReviewChange, "In euro, please.")
		events := p.sound()
		c := agenttest.Bodies[event.Compacted](events, agenttest.Planner)
		if len(c) == 0 || !strings.Contains(c[len(c)-1].Wanted.Text, "In euro, please.") {
			t.Fatalf("compacted %+v", c)
		}
		in := sp.inputs()
		last := in[len(in)-1]
		mustContain(t, last.Messages[0].Text, "It was all about offers.", "In euro, please.")
		mustContain(t, last.System, "In euro, please.")
		if g := open(events); len(g) != 1 || g[0].Gate != "review/1.2" {
			t.Errorf("asked %+v", g)
		}
	})
}

// A backend that runs its own loop is served with the same tools, and told to
// finish when the phase is over. After a cut it goes on with what is left.
func TestJobOwnLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		take, ends := 0, 0
		sp := &speaker{traits: backend.Traits{OwnsLoop: true}}
		sp.speak = func(_ int, in backend.Input) reply {
			take++
			n := take
			return reply{do: func(ctx context.Context, h backend.ToolHost) error {
				call := func(name, input string) backend.ToolResult {
					ends++
					return h.Call(ctx, event.ToolCall{ID: fmt.Sprint("x", ends), Name: name, Input: json.RawMessage(input)})
				}
				if n == 1 {
					call(event.ToolTodoComplete, `{}`)
					<-ctx.Done()
					return ctx.Err()
				}
				call(event.ToolNextPhaseTodos, `{"phase_name":"P","todos":["Compare the offers."]}`)
				if r := call(event.ToolTodoComplete, `{"todo_id":"2,3,4"}`); !r.End {
					t.Errorf("not told to finish: %+v", r)
				}
				if r := call("write", `{"path":"plan.md","content":"late"}`); !r.Error {
					t.Errorf("went on: %+v", r)
				}
				return nil
			}}
		}
		p := workshops(t, sp)
		p.open()
		p.leave()
		p.open()
		events := p.sound()
		mustContain(t, words(sp.inputs()[1]), "do not do it again:\n<done id=", "- todo_complete gave back: Done.")
		if g := open(events); len(g) != 1 || g[0].Kind != event.GateReview {
			t.Errorf("asked %+v:\n%s", g, agenttest.Transcript(events))
		}
		if len(agenttest.Bodies[event.Briefed](events, agenttest.Planner)) != 1 || len(agenttest.Bodies[event.Concluded](events, agenttest.Planner)) != 1 {
			t.Errorf("%s", agenttest.Transcript(events))
		}
	})
}

// Where the job's budget is used up, no call is made, and a person is asked.
func TestJobBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := plans()
		p := workshops(t, sp)
		most := int64(100)
		p.s.Started.Rules.Budget = event.Budget{Tokens: &most}
		p.open()
		events := p.sound()
		if g := open(events); len(sp.inputs()) != 0 || len(g) != 1 || g[0].Kind != event.GateTrouble {
			t.Errorf("%d calls, asked %+v", len(sp.inputs()), g)
		}
	})
}

// A person cancels a job in the middle of a turn.
func TestJobCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := &gadget{name: "look", run: func(ctx context.Context, _ json.RawMessage) (tool.Result, error) {
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		}}
		sp := reacts(func(string, int, []backend.ToolResult) reply { return called("c1", "look", `{}`) })
		p := workshops(t, sp, hangs)
		p.open()
		p.tell(event.CancelRequested{By: "ann"})
		if e := ended(t, p.sound()); e.Status != event.StatusCancelled {
			t.Errorf("ended as %+v", e)
		}
	})
}

// A person is asked before a tool is used that needs it; the tools of the job
// itself have verdicts of their own.
func TestJobPermission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		look := &gadget{name: "look"}
		k := &kit{tools: []tool.Tool{look}, verdict: policy.Verdict{Decision: policy.Ask, Rule: "read"}}
		sp := reacts(func(said string, n int, last []backend.ToolResult) reply {
			if n == 0 && strings.HasPrefix(said, "The job begins") {
				return called("c1", "look", `{}`).and(called("c2", event.ToolTodoComplete, `{}`))
			}
			return says("Well.")
		})
		p := workshops(t, sp)
		p.s.Actor.Kit, p.s.Actor.Tools = k, nil
		p.s.Started.Rules.MaxIdle = 1
		p.open()
		p.reply(event.PermitOnce, "")
		events := p.sound()
		if len(look.inputs()) != 1 || !k.needs[0].Planning {
			t.Errorf("used %d times, needs %+v", len(look.inputs()), k.needs)
		}
		if asked := agenttest.Bodies[event.Asked](events, agenttest.Planner); len(asked) != 1 {
			t.Errorf("asked %+v", asked)
		}
	})
}

// Secrets in files and in what people say are kept from the model and from the log.
func TestJobRedacts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := plans()
		p := workshops(t, sp)
		p.s.Started.Description = event.Inline("Compare the offers with the password hunter2.")
		p.s.Worker = func(k *agent.Worker) {
			k.Redact = func(s string) string { return strings.ReplaceAll(s, "hunter2", "[secret]") }
		}
		p.s.Folder.Write("workspace.md", "hunter2")
		p.open()
		p.edit("plan.md", "hunter2")
		p.reply(event.ReviewChange, "Use hunter2.")
		for _, b := range agenttest.Bodies[event.Briefed](p.sound(), agenttest.Planner) {
			if strings.Contains(b.Text.Text, "hunter2") {
				t.Errorf("recorded %q", b.Text.Text)
			}
		}
		for _, in := range sp.inputs() {
			if strings.Contains(whole(in), "hunter2") {
				t.Errorf("sent %s", whole(in))
			}
		}
	})
}

// What was sent can be shown in full later: the system prompt and the tools are
// named by each call of a session or a job, and kept once.
func TestSentIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := plans()
		p := workshops(t, sp)
		p.open()
		events := p.sound()
		in := sp.inputs()
		calls := agenttest.Bodies[event.Called](events, agenttest.Planner)
		if len(calls) != len(in) {
			t.Fatalf("%d calls, %d recorded", len(in), len(calls))
		}
		for i, c := range calls {
			if c.Sent == nil || c.Sent.System.Text != "" || c.Sent.System != calls[0].Sent.System || c.Sent.Tools != calls[0].Sent.Tools {
				t.Fatalf("call %d: %+v", i, c.Sent)
			}
			system, err := p.log.Blob(t.Context(), c.Sent.System.Blob)
			if err != nil || string(system) != in[i].System {
				t.Errorf("call %d: the system prompt is not what was sent: %v", i, err)
			}
			tools, err := p.log.Blob(t.Context(), c.Sent.Tools.Blob)
			var specs []backend.ToolSpec
			if err != nil || json.Unmarshal(tools, &specs) != nil || !slices.EqualFunc(specs, in[i].Tools, func(a, b backend.ToolSpec) bool { return a.Name == b.Name && string(a.Schema) == string(b.Schema) }) {
				t.Errorf("call %d: the tools are not what was sent: %v", i, err)
			}
		}
	})
}

// The result of a run that carried out a phase, and feedback too long for an event,
// are told in full.
func TestJobRunAndLongFeedback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := plans()
		p := workshops(t, sp)
		p.s.Started.Rules.Execute = event.ExecuteRun
		p.open()
		p.reply(event.ReviewApprove, "")
		i := slices.IndexFunc(sp.inputs(), func(in backend.Input) bool { return strings.HasPrefix(words(in), "A tactical phase is over") })
		if i < 0 {
			t.Fatal("nobody planned after the run")
		}
		mustContain(t, words(sp.inputs()[i]), "The agents that carried out the phase say of it:", "Carried out.")
		long := strings.Repeat("Also this. ", 1000)
		h, err := p.log.PutBlob(t.Context(), []byte(long))
		if err != nil {
			t.Fatal(err)
		}
		before := len(sp.inputs())
		p.tell(event.Corrected{Text: event.Content{Blob: h, Size: len(long)}, By: "ann"})
		p.sound()
		mustContain(t, words(sp.inputs()[before]), "I have looked at the result and want something else of it.", long)
	})
}

// The companion of a job has the tools of its desk and no others, launches nothing,
// and is told what its stage calls for.
//
// IP-12
func TestTalkCompanion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stage := prompt.StagePlanReview
		sp := reacts(func(said string, n int, _ []backend.ToolResult) reply {
			if n == 0 && said == "Do it." {
				return called("l", event.ToolLaunchRun, `{"task":"Do it."}`)
			}
			return says("Heard " + said)
		})
		p := parlours(t, actor("", sp, &gadget{name: "shell", tier: tool.World}))
		p.s.Staffed.Team = nil
		p.s.Talker = func(k *agent.Talker) {
			k.Only = true
			k.Prompt = func(context.Context, talk.Work) (string, error) {
				return prompt.CompanionSystem(prompt.CompanionIn{Stage: stage, Description: "Compare."}), nil
			}
			k.Desk = func(func(context.Context, event.Body) error) []tool.Tool {
				return []tool.Tool{&gadget{name: "read_workspace_file"}}
			}
		}
		p.open()
		p.say("What does phase 2 cover?")
		stage = prompt.StageResult
		p.say("Do it.")
		events := p.sound()
		in := sp.inputs()
		for _, x := range in {
			if got := offered(x); !slices.Equal(got, []string{"read_result", "read_workspace_file"}) {
				t.Errorf("offered %q", got)
			}
		}
		mustContain(t, in[0].System, "# Now: the plan is being reviewed")
		mustContain(t, in[1].System, "# Now: the job is complete")
		if strings.Contains(in[0].System, "launch_run") || len(agenttest.Bodies[event.Wanted](events, agenttest.Host)) > 0 {
			t.Error("it is told of runs, or launched one")
		}
		mustContain(t, results(in[2])[0].Text, `There is no tool "launch_run" here.`)
	})
}

// Todos that a person has renamed are completed by the names they have now.
func TestJobRenamedTodos(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := reacts(func(said string, n int, last []backend.ToolResult) reply {
			if !strings.HasPrefix(said, "The plan stands") {
				return planning(said, n, last)
			}
			return called(fmt.Sprint("d", n), event.ToolTodoComplete, quote("todo_id", []string{"todo_1", "B"}[min(n, 1)]))
		})
		p := workshops(t, sp)
		p.open()
		p.edit("todos.yaml", `{"todos":[{"id":"B","text":"Draft the recommendation."},{"id":"todo_1","text":"Compare the three offers."}]}`)
		p.reply(event.ReviewApprove, "")
		events := p.sound()
		if e := ended(t, events); e.Status != event.StatusSuccess {
			t.Errorf("ended as %+v", e)
		}
		for _, r := range agenttest.Bodies[event.Refused](events, "") {
			t.Errorf("refused: %s", r.Why)
		}
	})
}
