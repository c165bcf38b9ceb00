package job_test

import (
	"slices"
	"strings"
	"testing"

	"conclave/internal/event"
	"conclave/internal/job"
)

// story is a sound log with one of everything in it.
func story(t *testing.T) []event.Event {
	s := newStage().Play(t, `
start docs=1 budget=100
prepared
agent requests 10
agent calls "hm" request=requested/1 tokens=5
agent stages "Read the offers closely"
kept plan
agent completes 1,2,3,4
kept
agent concludes
kept
reply review/1.1 change "Split it."
kept
agent completes 1,2,3
kept
agent concludes
kept
edit todos.yaml "Ask for a discount"
kept
reply review/1.2 approve
agent completes 1
kept
crash
agent completes 2
kept
agent concludes
kept
agent finishes "Done."
agent concludes
kept
correct "Again."
kept
`)
	if problems := job.Check(s.Log); len(problems) > 0 {
		t.Fatalf("the log is not sound: %v", problems)
	}
	return s.Log
}

// find is the nth event of a kind.
func find(log []event.Event, n int, kind string) int {
	for i, e := range log {
		if event.Kind(e.Body) == kind {
			if n--; n == 0 {
				return i
			}
		}
	}
	return -1
}

// TestCheckTampered changes a sound log in one place and looks for what is said
// about it, besides that it does not replay.
func TestCheckTampered(t *testing.T) {
	type log = []event.Event
	insert := func(kind string, n int, b event.Body) func(log) log {
		return func(l log) log {
			i := find(l, n, kind)
			e := l[i]
			e.Fact = event.Fact{ID: "forged", Body: b}
			return slices.Insert(l, i+1, e)
		}
	}
	remove := func(kind string, n int) func(log) log {
		return func(l log) log {
			i := find(l, n, kind)
			return slices.Delete(l, i, i+1)
		}
	}
	tactical := event.PhaseBegun{Phase: 2, Iteration: 1, Kind: event.PhaseTactical, Purpose: event.PurposeTactical}
	for _, test := range []struct {
		name   string
		tamper func(log) log
		want   string
	}{
		{"carried out after changes were asked for", func(l log) log {
			l[find(l, 2, "phase_begun")].Body = tactical
			return l
		}, "changes were asked for"},
		{"carried out while frozen", insert("asked", 1, tactical), "while a person is asked"},
		{"other todos", func(l log) log {
			i := find(l, 3, "phase_begun")
			b := l[i].Body.(event.PhaseBegun)
			b.Todos = b.Todos[:1]
			l[i].Body = b
			return l
		}, "not what todos.yaml says"},
		{"a revision nobody has seen", func(l log) log {
			i := find(l, 2, "replied")
			b := l[i].Body.(event.Replied)
			b.Revision = 1
			l[i].Body = b
			return l
		}, "otherwise than was replied"},
		{"decided twice", func(l log) log {
			i := find(l, 1, "closed")
			return slices.Insert(l, i+1, l[i])
		}, "not being asked"},
		{"a revision left out", remove("asked", 3), "otherwise than was replied"},
		{"no verdict before it", remove("todos_done", 1), "does not wait for it"},
		{"a phase that was not kept", remove("kept", 3), "while something goes on|while another goes on"},
		{"work in a frozen job", insert("asked", 1, event.Assigned{Turn: event.Turn{Round: 2, Take: 1}}), "nothing to work on"},
		{"over in the middle", insert("assigned", 1, event.JobEnded{Status: event.StatusSuccess}), "ends while something goes on"},
		{"a todo done twice", insert("admitted", 2, event.TodosDone{Turn: event.Turn{Round: 1, Take: 1}, Todos: []string{"1"}}), ""},
		{"more than there is", func(l log) log {
			i := find(l, 1, "requested")
			l[i].Body = event.Requested{Turn: event.Turn{Round: 1, Take: 1}, Amount: event.Amount{Tokens: 101}}
			return l
		}, "beyond the job's budget"},
		{"a launch of nothing", insert("prepared", 1, event.Launched{Run: "run-1"}), "which nothing calls for"},
		{"an end of nothing", insert("prepared", 1, event.PhaseEnded{Phase: 1, Iteration: 1}), "does not go on"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var said []string
			for _, p := range job.Check(test.tamper(story(t))) {
				said = append(said, p.String())
			}
			all := strings.Join(said, "\n")
			ok := slices.ContainsFunc(strings.Split(test.want, "|"), func(w string) bool { return strings.Contains(all, w) })
			if len(said) == 0 || !ok {
				t.Errorf("want %q, said:\n%s", test.want, all)
			}
		})
	}
}
