package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"conclave/internal/agent/agenttest"
	"conclave/internal/backend"
	"conclave/internal/event"
	"conclave/internal/eventlog/mem"
	"conclave/internal/tool"

	"github.com/google/go-cmp/cmp"
)

// sentTo is what a model was sent, but for the system prompt, which has the files
// and the todos as they are when a take begins.
func sentTo(in backend.Input) string {
	return whole(backend.Input{Messages: in.Messages, Tools: in.Tools})
}

// A job that is cut after any of its facts, by the end of its program, goes on
// after it: nothing is told, put forward or done twice, and the model is sent what
// it would have been, byte for byte.
func TestJobCutAnywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		play := func(log *mem.Log, folder *agenttest.Folder) ([]event.Event, *speaker) {
			sp := plans()
			p := workshops(t, sp)
			p.log = log
			if folder != nil {
				p.s.Folder = folder
				p.s.Actor.Tools = folder.Tools()
			}
			p.open()
			agenttest.Send(t, log, "comment", event.Commented{Path: "plan.md", Text: "In euro.", By: "ann"})
			for range 3 {
				synctest.Wait()
				for _, g := range open(agenttest.Events(t, log)) {
					choice := event.ReviewApprove
					if g.Gate == "review/1.1" {
						choice = event.ReviewChange
					}
					agenttest.Send(t, log, "reply/"+g.Gate, event.Replied{Gate: g.Gate, Choice: choice, Text: "Please.", Revision: g.Revision, By: "ann"})
				}
			}
			synctest.Wait()
			return p.sound(), sp
		}
		events, sp := play(mem.New(), nil)
		if e := ended(t, events); e.Status != event.StatusSuccess {
			t.Fatalf("ended as %+v", e)
		}
		want := map[string]bool{}
		for _, in := range sp.inputs() {
			want[sentTo(in)] = true
		}
		for n := 1; n <= len(events); n += strides {
			cut := events[n-1]
			again, sp := play(cutAt(t, events, n), restored(events[:n]))
			if diff := cmp.Diff(tally(events), tally(again)); diff != "" {
				t.Fatalf("cut after %d (%s), -once +cut:\n%s\n%s", n, cut.ID, diff, agenttest.Transcript(again))
			}
			for _, in := range sp.inputs() {
				if text := sentTo(in); strings.Contains(text, "Whether it took effect is not known") || strings.Contains(text, "The turn ended with this call.") {
					continue // of a write, or of what ended the phase
				}
				if !want[sentTo(in)] {
					t.Fatalf("cut after %d (%s): something else was sent:\n%s", n, cut.ID, sentTo(in))
				}
			}
		}
	})
}

// restored is the folder as it was when the log was cut: what was written by tools
// whose results it has, and the commits.
func restored(events []event.Event) *agenttest.Folder {
	f := agenttest.NewFolder()
	calls := map[string]event.ToolCall{}
	for _, e := range events {
		switch b := e.Body.(type) {
		case event.Called:
			for _, c := range b.Tools {
				calls[fmt.Sprint(b.Turn.Round, c.ID)] = c
			}
		case event.ToolReturned:
			var in struct{ Path, Content string }
			if c := calls[fmt.Sprint(b.Turn.Round, b.Call)]; c.Name == "write" && json.Unmarshal(c.Input, &in) == nil {
				f.Write(in.Path, in.Content)
			}
		case event.Prepared:
			f.Prepare()
		case event.Kept:
			f.Again(b)
		}
	}
	return f
}

// tally counts what of a job must be there as often as if it had not been cut. A
// turn that is cut once its phase has ended does not say that it is over.
func tally(events []event.Event) map[string]int {
	out := map[string]int{}
	for _, e := range events {
		switch b := e.Body.(type) {
		case event.Briefed, event.TodosStaged, event.TodosDone, event.Completing, event.Addressed, event.Called,
			event.PhaseBegun, event.PhaseEnded, event.Kept, event.JobEnded:
			out[event.Kind(b)]++
		case event.ToolReturned:
			if b.Name == "read" || b.Name == "write" && !strings.Contains(b.Result.Text, "the phase is over") {
				out[b.Name]++
			}
		case event.Refused:
			out["refused"]++
		}
	}
	return out
}

// Of a tool that was cut off nobody knows what it did: the model is told so, the
// tool is not used again, and a todo that was to be completed after it is not: the
// model looks first.
func TestJobUnknownOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := true
		slow := &gadget{name: "slow", tier: tool.World, run: func(ctx context.Context, _ json.RawMessage) (tool.Result, error) {
			if first {
				first = false
				<-ctx.Done()
				return tool.Result{}, ctx.Err()
			}
			return tool.Result{Text: "done"}, nil
		}}
		sp := reacts(func(said string, n int, last []backend.ToolResult) reply {
			switch {
			case !strings.HasPrefix(said, "The plan stands"):
				return planning(said, n, last)
			case n == 0:
				return called("c1", "slow", `{}`).and(called("c2", event.ToolTodoComplete, `{}`)).and(called("c3", "slow", `{}`))
			}
			return says("I see.")
		})
		p := workshops(t, sp, slow)
		p.open()
		p.reply(event.ReviewApprove, "")
		before := len(sp.inputs())
		p.leave()
		p.open()
		events := p.sound()
		r := results(sp.inputs()[before])
		if len(r) != 3 || !strings.Contains(r[0].Text, "Whether it took effect is not known") || !strings.Contains(r[1].Text, "Not carried out: the program was stopped during a call before this one") {
			t.Errorf("told %+v", r)
		}
		if n := len(agenttest.Bodies[event.TodosDone](events, agenttest.Planner)); n != 2 || len(slow.inputs()) != 1 {
			t.Errorf("%d completions, %d uses", n, len(slow.inputs()))
		}
	})
}
