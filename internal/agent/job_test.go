package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"conclave/internal/agent"
	"conclave/internal/agent/agenttest"
	"conclave/internal/backend"
	"conclave/internal/event"
	"conclave/internal/eventlog/mem"
	"conclave/internal/job"
	"conclave/internal/tool"

	"github.com/google/go-cmp/cmp"
)

// A workshop is a job that a person looks after. Programs come and go, the log and
// the folder stay.
type workshop struct {
	t    *testing.T
	s    *agenttest.Job
	log  *mem.Log
	said int
	stop context.CancelFunc
	left chan error
}

// workshops begins a job with the agent, which has the tools of its folder.
func workshops(t *testing.T, b backend.Backend, more ...tool.Tool) *workshop {
	s := agenttest.NewJob(agenttest.Actor{Backend: b})
	s.Actor.Tools = append(s.Folder.Tools(), more...)
	return &workshop{t: t, s: s, log: mem.New()}
}

// open starts a program that drives the job, and waits until nothing moves.
func (p *workshop) open() {
	ctx, stop := context.WithCancel(context.Background())
	p.stop, p.left = stop, make(chan error, 1)
	go func() { p.left <- p.s.Drive(ctx, p.t, p.log) }()
	synctest.Wait()
}

// leave ends the program, whatever it is in the middle of.
func (p *workshop) leave() {
	p.t.Helper()
	p.stop()
	if err := <-p.left; !errors.Is(err, context.Canceled) {
		p.t.Errorf("the job was left: %v", err)
	}
}

// tell sends something, waits until nothing moves, and returns its id.
func (p *workshop) tell(b event.Body) string {
	p.t.Helper()
	p.said++
	id := fmt.Sprintf("ann/%d", p.said)
	agenttest.Send(p.t, p.log, id, b)
	synctest.Wait()
	return id
}

// reply answers what is asked.
func (p *workshop) reply(choice, text string) {
	p.t.Helper()
	gates := open(agenttest.Events(p.t, p.log))
	if len(gates) == 0 {
		p.t.Fatalf("nothing is asked:\n%s", agenttest.Transcript(agenttest.Events(p.t, p.log)))
	}
	g := gates[len(gates)-1]
	p.tell(event.Replied{Gate: g.Gate, Choice: choice, Text: text, Revision: g.Revision, By: "ann"})
}

// edit changes a file as a person does.
func (p *workshop) edit(path, text string) {
	p.tell(event.Edited{Path: path, Base: p.s.Folder.Hash(path), Text: event.Inline(text), By: "ann"})
}

// sound ends the program and proves the log.
func (p *workshop) sound() []event.Event {
	p.t.Helper()
	p.leave()
	return agenttest.Carried(p.t, p.log)
}

// plans is an agent that does what a phase calls for, by what it is sent alone:
// writes the plan and stages two todos; carries out what there is; completes.
func plans() *speaker {
	return reacts(func(said string, n int, last []backend.ToolResult) reply { return planning(said, n, last) })
}

func planning(said string, n int, last []backend.ToolResult) reply {
	id := func(s string) string { return fmt.Sprintf("%s%d", s, n) }
	done := func(ids string) reply {
		return called(id("d"), event.ToolTodoComplete, quote("todo_id", ids, "note", "Yes."))
	}
	write := func(path, text string) reply {
		return called(id("w")+path, "write", quote("path", path, "content", text))
	}
	var steps []reply
	switch {
	case strings.HasPrefix(said, "The job begins"):
		steps = []reply{
			says("I look. ").and(called("r", "read", `{"path":"documents/a.md"}`)).and(called("l", event.ToolTodoList, `{}`)),
			write("plan.md", "# Plan\n\nCompare.\n").and(write("workspace.md", "A is 100.\n")),
			done("1, 2,3"),
			called("s", event.ToolNextPhaseTodos, `{"phase_name":"Compare","todos":["Compare the three offers.","Draft the recommendation."]}`),
			done(""),
		}
	case strings.HasPrefix(said, "I have read the plan"):
		var address reply
		for i := range strings.Count(said, "\n<comment id=") {
			address = address.and(called(fmt.Sprint("a", i), event.ToolAddressComment, fmt.Sprintf(`{"comment":"%d","changed":true,"text":"Done so in plan.md."}`, i+1)))
		}
		steps = []reply{write("plan.md", "# Plan\n\nCompare, in euro.\n"), address, done("1,2,3")}
		if len(address.deltas) == 0 {
			steps = slices.Delete(steps, 1, 2)
		}
	case strings.HasPrefix(said, "The plan stands"):
		steps = []reply{write("output/table.md", "| A | 100 |"), done(""), done("2").and(write("output/late.md", "Too late."))}
	case strings.HasPrefix(said, "A tactical phase is over"):
		steps = []reply{called("c", event.ToolJobComplete, `{"summary":"Compared.","deliverables":["output/table.md"],"confidence":0.9}`)}
	}
	if n < len(steps) {
		return steps[n]
	}
	return says("I have nothing to do.")
}

// ended is what the job has come to.
func ended(t *testing.T, events []event.Event) event.JobEnded {
	t.Helper()
	all := agenttest.Bodies[event.JobEnded](events, "")
	if len(all) != 1 {
		t.Fatalf("the job ended %d times:\n%s", len(all), agenttest.Transcript(events))
	}
	return all[0]
}

// A job from its beginning to its end: it plans, freezes, is approved, carries out
// what was approved and completes.
//
// IP-04
func TestJobFromEndToEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := plans()
		p := workshops(t, sp)
		p.open()
		p.reply(event.ReviewApprove, "")
		events := p.sound()
		if e := ended(t, events); e.Status != event.StatusSuccess || e.Summary != "Compared." || e.Confidence != 0.9 {
			t.Errorf("ended as %+v", e)
		}
		in := sp.inputs()
		// Looking around, the model is told how things stand; every completion says
		// what is next; the last one that the phase is over, and it is.
		mustContain(t, whole(in[1]), "Offer A: 100.", "- [ ] 1: ", "Staged for the next phase:\\n\\n(none)")
		if got := results(in[3])[0].Text; !strings.HasPrefix(got, "Done. The workspace is kept as commit ") || !strings.Contains(got, "\n\nNext is todo 4: ") {
			t.Errorf("told %q", got)
		}
		mustContain(t, results(in[4])[0].Text, "- [ ] 1: Compare the three offers.\n- [ ] 2: Draft the recommendation.\n\nNext is todo 4: ")
		var over []string
		for _, r := range agenttest.Bodies[event.ToolReturned](events, agenttest.Planner) {
			if strings.Contains(r.Result.Text, "The phase is complete, and with it your turn.") {
				over = append(over, r.Name)
			}
		}
		if diff := cmp.Diff([]string{event.ToolTodoComplete, event.ToolTodoComplete, event.ToolJobComplete}, over); diff != "" {
			t.Error(diff)
		}
		if n := len(agenttest.Bodies[event.Concluded](events, agenttest.Planner)); n != 3 || len(in) != 5+3+1 {
			t.Errorf("%d turns, %d model calls", n, len(in))
		}
		// The conversation begins anew with each phase, with what it goes by in the
		// prompt: the memory, the plan and the todos.
		if len(in[5].Messages) != 1 || !strings.HasPrefix(words(in[5]), "The plan stands.") {
			t.Errorf("the tactical phase begins with %+v", in[5].Messages)
		}
		mustContain(t, in[5].System, "A is 100.", "Compare.\n", "- [ ] 2: Draft the recommendation.", "# This phase is tactical", "Compare the three offers and draft a recommendation.")
		mustContain(t, in[8].System, "# This phase is strategic")
		// A call that stands after the one that ended the phase is not carried out.
		if p.s.Folder.Read("output/table.md") == "" || p.s.Folder.Read("output/late.md") != "" {
			t.Error("nothing was made, or too much")
		}
	})
}

// Feedback reaches the agent as the words of the user, in the conversation in which
// it planned, with comments that have ids; and it is in the prompt of every call of
// that iteration by way of workspace.md, so that it survives compaction.
//
// IP-06
func TestJobFeedbackIsHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := plans()
		p := workshops(t, sp)
		p.open()
		before := len(sp.inputs())
		id := p.tell(event.Commented{Path: "plan.md", Line: 3, Quote: "Compare.", Text: "Per year.", By: "ann"})
		p.reply(event.ReviewChange, "In euro, please.")
		events := p.sound()
		in := sp.inputs()
		first := in[before]
		mustContain(t, words(first), "I have read the plan and want it changed.", "In euro, please.", "1. id "+id+", on plan.md line 3", "Per year.", "Compare.")
		if n := len(first.Messages); n <= 2 || first.Messages[0].From != backend.User || !strings.HasPrefix(first.Messages[0].Text, "The job begins") {
			t.Errorf("the conversation of the phase does not go on: %d messages", n)
		}
		for _, x := range in[before:] {
			mustContain(t, x.System, "## Review Feedback\nIn euro, please.")
		}
		a := agenttest.Bodies[event.Addressed](events, agenttest.Planner)
		if len(a) != 1 || a[0].Comment != id || !a[0].Changed {
			t.Errorf("addressed %+v", a)
		}
		if g := open(events); len(g) != 1 || g[0].Kind != event.GateReview {
			t.Errorf("after changes it asks %+v", g)
		}
		// What it was told is a fact.
		var told []string
		for _, b := range agenttest.Bodies[event.Briefed](events, agenttest.Planner) {
			told = append(told, b.Text.Text)
		}
		if len(told) != 2 || !strings.Contains(told[1], "In euro, please.") {
			t.Errorf("briefed %q", told)
		}
	})
}

// Acceptance check 4, second half: what a person changes in plan.md themselves is
// in the first request after they let the job go on, as it is and as a diff, and
// said to be binding; whether they approve or ask for changes.
//
// IP-10
func TestJobEditIsInTheFirstRequest(t *testing.T) {
	for _, choice := range []string{event.ReviewApprove, event.ReviewChange} {
		t.Run(choice, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sp := plans()
				p := workshops(t, sp)
				p.open()
				p.leave() // and another program goes on
				p.open()
				before := len(sp.inputs())
				p.edit("plan.md", "# Plan\n\nCompare by hand.\n")
				p.reply(choice, "Go on.")
				p.sound()
				first := sp.inputs()[before]
				mustContain(t, first.System, "# Plan\n\nCompare by hand.\n")
				mustContain(t, words(first), "I have changed files myself since you last worked: plan.md. My edits are binding", "-Compare.\n+Compare by hand.\n")
			})
		})
	}
}

// Acceptance check 5: while a job plans nothing can be called that would change
// anything, but for the two files of the plan; no datasource can be written. What
// can be called is bound to the phase, not asked for in words.
func TestJobPlanningBindsNoWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		query, change := &gadget{name: "data_query"}, &gadget{name: "data_write", tier: tool.World}
		note := &gadget{name: "memory_write", tier: tool.Write} // by its name alone
		sp := reacts(func(said string, n int, last []backend.ToolResult) reply {
			if strings.HasPrefix(said, "The job begins") && n == 0 {
				return called("x1", "shell", `{"path":"rm -rf ."}`).and(called("x2", "write", quote("path", "output/x.md", "content", "x"))).
					and(called("x3", "write", quote("path", "/elsewhere/plan.md", "content", "x"))).and(called("x4", "write", quote("path", "./documents/../plan.md", "content", "x"))).
					and(called("x5", "data_write", `{}`)).and(called("x6", event.ToolTodoRewind, `{"issue":"x"}`)).and(called("x7", "write", quote("path", "todos.yaml", "content", "x")))
			}
			return planning(said, max(n-1, 0), last)
		})
		sp.traits.Model = "m"
		p := workshops(t, sp, note)
		p.s.Started.Sources = []event.Source{{Name: "costs", Kind: event.SourceSQLite, Write: true}}
		bench := p.s.Folder.Bench
		p.s.Worker = func(k *agent.Worker) {
			k.Bench = func(ctx context.Context, w job.Work) (agent.Bench, error) {
				b, err := bench(ctx, w)
				b.Tools = []tool.Tool{query, change}
				return b, err
			}
		}
		p.open()
		strategic := sp.inputs()[0]
		tried := results(sp.inputs()[1])
		p.reply(event.ReviewApprove, "")
		p.sound()
		in := sp.inputs()
		i := slices.IndexFunc(in, func(x backend.Input) bool { return strings.HasPrefix(words(x), "The plan stands.") })
		tactical := in[i]
		if diff := cmp.Diff([]string{"data_query", "job_complete", "next_phase_todos", "read", "read_result", "todo_complete", "todo_list", "write"}, offered(strategic)); diff != "" {
			t.Errorf("planning: %s", diff)
		}
		if diff := cmp.Diff([]string{"data_query", "data_write", "delete", "memory_write", "read", "read_result", "shell", "todo_complete", "todo_list", "todo_rewind", "write"}, offered(tactical)); diff != "" {
			t.Errorf("carrying out: %s", diff)
		}
		mustContain(t, whole(strategic), "In this phase the only files that can be written are plan.md and workspace.md.", "costs: sqlite, to read now; it may be changed once the plan is carried out")
		mustContain(t, whole(tactical), "costs: sqlite, to read and change")
		for k, want := range []string{`There is no tool "shell" here`, "output/x.md is not written in this phase", "/elsewhere/plan.md is not written in this phase", "", `There is no tool "data_write"`, `There is no tool "todo_rewind"`, "todos.yaml is not written in this phase"} {
			if tried[k].Error != (want != "") || !strings.Contains(tried[k].Text, want) {
				t.Errorf("call %d: %+v", k+1, tried[k])
			}
		}
		if len(change.inputs())+len(note.inputs()) > 0 || p.s.Folder.Read("output/x.md") != "" {
			t.Error("something was written while planning")
		}
	})
}
