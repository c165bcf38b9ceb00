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

	"github.com/google/go-cmp/cmp"
)

// An agent that keeps its conversation itself has one prompt and the same tools for
// as long as a phase lasts, revisions included: it would lose the conversation with
// them. How things stand it is told with its brief; cut, it is told which todos are
// done. That it says nothing at the end of a turn is no fault.
func TestJobByOneThatRemembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := &speaker{traits: backend.Traits{OwnsLoop: true, NativeHistory: true}}
		calls := 0
		sp.speak = func(n int, in backend.Input) reply {
			return reply{do: func(ctx context.Context, h backend.ToolHost) error {
				call := func(name, input string) {
					calls++
					h.Call(ctx, event.ToolCall{ID: fmt.Sprint("x", calls), Name: name, Input: json.RawMessage(input)})
				}
				switch n {
				case 1: // is cut
					call("write", `{"path":"plan.md","content":"# Plan\n\nCompare.\n"}`)
					call(event.ToolTodoComplete, `{"todo_id":"1"}`)
					<-ctx.Done()
					return ctx.Err()
				case 2: // stops early
					call(event.ToolTodoComplete, `{"todo_id":"2"}`)
				case 3:
					call(event.ToolNextPhaseTodos, `{"phase_name":"P","todos":["Compare the offers."]}`)
					call(event.ToolTodoComplete, `{"todo_id":"3,4"}`)
				case 4: // as a person asked
					call("write", `{"path":"plan.md","content":"# Plan\n\nIn euro.\n"}`)
					call(event.ToolTodoComplete, `{"todo_id":"1,2,3"}`)
				case 5:
					call(event.ToolTodoComplete, `{}`)
				default:
					call(event.ToolJobComplete, `{"summary":"Compared."}`)
				}
				return nil
			}}
		}
		p := workshops(t, sp)
		p.open()
		p.leave()
		p.open()
		p.reply(event.ReviewChange, "In euro.")
		p.reply(event.ReviewApprove, "")
		events := p.sound()
		if failed := agenttest.Bodies[event.Failed](events, agenttest.Planner); len(failed) > 0 {
			t.Errorf("failed: %+v", failed)
		}
		in := sp.inputs()
		if len(in) < 5 {
			t.Fatalf("%d turns:\n%s", len(in), agenttest.Transcript(events))
		}
		for n := 1; n < 4; n++ {
			if diff := cmp.Diff(in[0].System, in[n].System); diff != "" {
				t.Errorf("the prompt of turn %d is another: %s", n+1, diff)
			}
			if diff := cmp.Diff(in[0].Tools, in[n].Tools); diff != "" {
				t.Errorf("the tools of turn %d are others: %s", n+1, diff)
			}
			if in[n].Thread != in[0].Thread {
				t.Errorf("turn %d is of the conversation %s", n+1, in[n].Thread)
			}
		}
		said := func(n int) string {
			all := in[n].Messages
			return all[len(all)-1].Text
		}
		mustContain(t, said(0), "The job begins.", "workspace.md", "This is phase 1. Its todos as this turn begins:", "- [ ] 1: ")
		// In one paragraph: it hears those that are new, and would not know of a list
		// alone what it is, were it cut again.
		mustContain(t, said(1), "The todos of this phase:\n- [x] 1: ", "\n- [ ] 2: ", "\nStaged for the next phase:\n(none)\nLook at the files")
		mustContain(t, said(2), "You stopped before", "- [ ] 3: ")
		mustContain(t, said(3), "I have read the plan", "In euro.", "Compare.", "attempt 2 at its plan")
		mustContain(t, said(4), "The plan stands.", "In euro.", "- [ ] 1: Compare the offers.")
		if in[4].Thread == in[0].Thread || strings.Contains(whole(in[4]), "The job begins") {
			t.Error("the phase that carries out goes on with the conversation that planned")
		}
	})
}
