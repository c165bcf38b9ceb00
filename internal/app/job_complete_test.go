package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/jobdir"
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

// What a job names as its result must be there: in its workspace, or in a folder
// that it may change.
func TestFindDeliverables(t *testing.T) {
	work, source, other := t.TempDir(), t.TempDir(), t.TempDir()
	for _, file := range []string{filepath.Join(work, "a  1.md"), filepath.Join(source, "b.md"), filepath.Join(other, "c.md")} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h := &shop{dir: jobdir.Dir{Path: work}, started: event.JobStarted{Sources: []event.Source{
		{Name: "b", Kind: event.SourceDir, Where: source, Write: true}, {Name: "c", Kind: event.SourceDir, Where: other},
	}}}
	for path, want := range map[string]string{
		"a  1.md": "a  1.md", "./a  1.md": "a  1.md", filepath.Join(work, "a  1.md"): "a  1.md", "b.md": "b.md", filepath.Join(source, "b.md"): filepath.Join(source, "b.md"),
		"c.md": "", filepath.Join(other, "c.md"): "", "../d.md": "", "output/a.md": "", filepath.Join(work, "e.md"): "",
	} {
		if name, there := h.find(path); there != (want != "") || there && name != want {
			t.Errorf("%s: %q, %t", path, name, there)
		}
	}
}
