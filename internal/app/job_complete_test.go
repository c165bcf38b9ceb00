package app

import (
	"strings"
	"testing"

	"conclave/internal/control"
	"conclave/internal/view"
)

// With job_complete the todo that asks for it is done, for whoever looks at the job
// and in its archive. What else was open stays so.
func TestJobCompleteIsATodo(t *testing.T) {
	a := bureau(t, "  interactive: false\n")
	id := a.newJob(t, control.JobRequest{Paths: []string{"offers"}})
	j := a.settleJob(t, id)
	last, _ := j.Current()
	for _, x := range last.Todos {
		if !x.Done || x.At.IsZero() {
			t.Errorf("%q is not done", x.Text)
		}
	}
	_, text, err := a.JobFile(t.Context(), id, "archive/todos_phase_3.1_strategic.md", "")
	if err != nil || strings.Contains(string(text), "[ ]") || strings.Count(string(text), "[x]") != 3 {
		t.Errorf("%s, %v", text, err)
	}

	a = office(t, "", calls("list", "{}"), calls("list", "{}")) // completes nothing else
	j = a.jobNow(t, a.carried(t, control.JobRequest{}))
	last, _ = j.Current()
	if n := len(last.Todos); j.State != view.JobCompleted || n != 3 || last.Todos[0].Done || !last.Todos[n-1].Done {
		t.Errorf("the todos are %+v", last.Todos)
	}
}
