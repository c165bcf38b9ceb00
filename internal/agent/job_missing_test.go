package agent_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"conclave/internal/agent"
	"conclave/internal/backend"
	"conclave/internal/event"
	"conclave/internal/job"
)

// A job is not complete with a result that is not there: the agent is told which,
// and completes it with what is.
func TestJobCompleteNamesWhatIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told string
		sp := reacts(func(said string, n int, last []backend.ToolResult) reply {
			if !strings.HasPrefix(said, "A tactical phase is over") {
				return planning(said, n, last)
			}
			if n == 0 {
				return called("c0", event.ToolJobComplete, `{"summary":"All.","deliverables":["output/table.md","output/none.md"]}`)
			}
			told = last[0].Text
			return planning(said, n-1, last)
		})
		p := workshops(t, sp)
		p.s.Worker = func(k *agent.Worker) {
			bench := k.Bench
			k.Bench = func(ctx context.Context, w job.Work) (agent.Bench, error) {
				b, err := bench(ctx, w)
				b.Find = func(path string) (string, bool) { return path, p.s.Folder.Read(path) != "" }
				return b, err
			}
		}
		p.open()
		p.reply(event.ReviewApprove, "")
		if e := ended(t, p.sound()); e.Summary != "Compared." || !slices.Equal(e.Deliverables, []string{"output/table.md"}) {
			t.Errorf("ended as %+v", e)
		}
		mustContain(t, told, "are not in the workspace: output/none.md.", "or leave out what was not made")
	})
}
