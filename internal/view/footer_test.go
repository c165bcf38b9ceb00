package view_test

import (
	"fmt"
	"testing"

	"conclave/internal/event"
	"conclave/internal/view"
)

// written is a run in which n files were written, of which some are named.
func written(n, named int, list string) view.RunResult {
	w := event.Written{Total: n, List: list}
	for i := range named {
		w.Changes = append(w.Changes, event.Change{Path: fmt.Sprintf("/src/f%d", i), Kind: event.ChangeModified})
	}
	var r view.Result
	for i, b := range []event.Body{
		event.RunStarted{Spec: event.RunSpec{Dir: "/runs/r", Seats: []event.Seat{{Agent: "ada", Label: "agent1"}, {Agent: "bob", Label: "agent2"}}}},
		event.Answered{Revision: 1, Content: event.Inline("x"), Snapshot: "0123456789abcdef"},
		w,
		event.Chosen{Winner: "ada", How: "only", Order: []event.AgentID{"ada"}},
		event.Finished{Status: event.StatusSuccess, Winner: "ada", Answer: event.Inline("x")},
	} {
		r = r.Apply(event.Event{Seq: uint64(i + 1), Fact: event.Fact{ID: fmt.Sprint(i), Agent: "ada", Body: b}})
	}
	return r.RunResult()
}

func TestFooter(t *testing.T) {
	for _, tt := range []struct {
		name string
		r    view.RunResult
		want string
	}{
		// TM-13.5
		{"nothing written", written(0, 0, ""), ""},
		// TM-13.3
		{"few", written(2, 2, ""), "Files written to context paths:\n  /src/f0 (modified)\n  /src/f1 (modified)"},
		{"five", written(5, 5, ""), "Files written to context paths:\n  /src/f0 (modified)\n  /src/f1 (modified)\n  /src/f2 (modified)\n  /src/f3 (modified)\n  /src/f4 (modified)"},
		// TM-13.4
		{"many", written(6, 6, "/runs/r/context_path_writes.txt"), "6 files written to context paths; see /runs/r/context_path_writes.txt"},
		{"more than are named", written(100_000, 100, "/l.txt"), "100000 files written to context paths; see /l.txt"},
	} {
		if got := tt.r.Footer(); got != tt.want {
			t.Errorf("%s:\n got %q\nwant %q", tt.name, got, tt.want)
		}
	}
}

// The result names the folder with the winner's files, as they were with its
// answer; if the answer was presented, as they were then.
func TestWorkspacePath(t *testing.T) {
	r := written(1, 1, "")
	if want := "/runs/r/snapshots/agent1-0123456789ab"; r.WorkspacePath != want || r.Answers[0].Workspace != want {
		t.Errorf("the workspace is %q, the answer's %q", r.WorkspacePath, r.Answers[0].Workspace)
	}
	if len(r.FilesWritten) != 1 || r.FilesWritten[0].Change != "modified" || r.FilesWrittenTotal != 1 {
		t.Errorf("written: %+v", r.FilesWritten)
	}
	var p view.Result
	for i, b := range []event.Body{
		event.RunStarted{Spec: event.RunSpec{Dir: "/runs/r", Seats: []event.Seat{{Agent: "ada", Label: "agent1"}}}},
		event.Answered{Revision: 1, Content: event.Inline("x"), Snapshot: "0123456789abcdef"},
		event.Chosen{Winner: "ada", How: "only", Order: []event.AgentID{"ada"}},
		event.Presented{Content: event.Inline("y"), Snapshot: "fedcba9876543210"},
		event.Finished{Status: event.StatusSuccess, Winner: "ada", Presenter: "ada", Answer: event.Inline("y")},
	} {
		p = p.Apply(event.Event{Seq: uint64(i + 1), Fact: event.Fact{ID: fmt.Sprint(i), Agent: "ada", Body: b}})
	}
	if got, want := p.RunResult().WorkspacePath, "/runs/r/snapshots/agent1-fedcba987654"; got != want {
		t.Errorf("the workspace is %q, want %q", got, want)
	}
}

// What a provider did by itself is shown like a tool that has returned, and a
// conversation knows how full its model's window is.
func TestProviderStepsAndWindow(t *testing.T) {
	started := event.RunStarted{Spec: event.RunSpec{Seats: []event.Seat{{Agent: "ada", Label: "agent1"}}}}
	called := event.Called{
		Turn: event.Turn{Round: 1, Take: 1}, Text: event.Inline("Found it."), Window: 1000, Usage: event.Usage{Input: 400, Output: 100},
		Did: []event.Step{{Name: "web_search", Input: "go 1.26", Result: "3 pages"}, {Name: "code", Error: true}},
	}
	var tl view.Timeline
	var card view.Card
	for i, b := range []event.Body{started, event.Assigned{Turn: called.Turn, MayAnswer: true}, called} {
		e := event.Event{Seq: uint64(i + 1), Fact: event.Fact{ID: fmt.Sprint(i), Agent: "ada", Body: b}}
		tl, card = tl.Apply(e), card.Apply(e)
	}
	var lines []string
	for _, i := range tl.All(0) {
		if i.Kind == view.ItemTool {
			lines = append(lines, i.Line())
		}
	}
	if len(lines) != 2 || lines[0] != "agent1 web_search go 1.26 returned: 3 pages" || lines[1] != "agent1 code failed" {
		t.Errorf("shown: %q", lines)
	}
	if l, _ := card.Agent("ada"); l.Full() != 0.5 {
		t.Errorf("the window is %v full", l.Full())
	}
}
