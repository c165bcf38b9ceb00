package view_test

import (
	"fmt"
	"strings"
	"testing"

	"conclave/internal/event"
	"conclave/internal/view"
)

func spendOf(log []event.Event) view.Spend {
	var s view.Spend
	for _, e := range log {
		s = s.Apply(e)
	}
	return s
}

func spendLines(lines []view.SpendLine) string {
	var out []string
	for _, l := range lines {
		out = append(out, fmt.Sprintf("%s %d/%d %d %s", l.Name, l.Calls, l.Uses, l.Tokens(), l.Cost))
	}
	return strings.Join(out, "; ")
}

// What a job has cost is told by phase, by agent, by model, by tool and by run,
// and each of them adds up. IP-20
func TestSpend(t *testing.T) {
	log := logNamed(t, "job")
	s := spendOf(log)
	if want := jobAfter(log, len(log)).Usage; s.Total.Usage != want {
		t.Errorf("total %+v, the job's is %+v", s.Total.Usage, want)
	}
	for _, c := range []struct{ name, got, want string }{
		{"phases", spendLines(s.Phases), "phase 1, strategic 5/6 5970 $0.04; phase 2, tactical 2/2 4200 $0.02; phase 3, strategic 2/1 2370 $0.0071; phase 4, strategic 0/0 0 $0.00; phase 5, tactical 0/0 500 $0.0030"},
		{"agents", spendLines(s.Agents), "planner 9/9 12540 $0.07"},
		{"models", spendLines(s.Models), "m-1 9/0 12540 $0.07"},
		{"tools", spendLines(s.Tools), "read_file 0/1 0 $0.00; todo_complete 0/4 0 $0.00; next_phase_todos 0/1 0 $0.00; address_comment 0/1 0 $0.00; shell 0/1 0 $0.00; job_complete 0/1 0 $0.00"},
		{"runs", spendLines(s.Runs), "run-1 0/0 500 $0.0030"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, c.got, c.want)
		}
	}
	// The account of the run takes the place of what it returned.
	of := spendOf([]event.Event{
		{Fact: event.Fact{Agent: "bob", Body: event.Called{Model: "m-2", Usage: event.Usage{Input: 400, Output: 100, Cost: 3000}}}},
		{Fact: event.Fact{Agent: "bob", Body: event.ToolReturned{Name: "shell", Error: true}}},
	})
	with := s.With("run-1", of)
	if with.Total.Usage != s.Total.Usage || with.Total.Calls != s.Total.Calls+1 {
		t.Errorf("with its run: %+v", with.Total)
	}
	if got := spendLines(with.Models); got != "m-1 9/0 12540 $0.07; m-2 1/0 500 $0.0030" {
		t.Errorf("models with the run's: %s", got)
	}
	if l := with.Phases[4]; l.Calls != 1 || l.Uses != 1 || l.Tokens() != 500 {
		t.Errorf("the phase of the run: %+v", l)
	}
	if l := with.Tools[4]; l.Name != "shell" || l.Uses != 2 || l.Failures != 2 {
		t.Errorf("the shell: %+v", l)
	}
}

// However many tools a model makes up, the account stays small.
func TestSpendIsBounded(t *testing.T) {
	var s view.Spend
	for i := range 1000 {
		s = s.Apply(event.Event{Seq: uint64(i + 1), Fact: event.Fact{Agent: "ada", Body: event.ToolReturned{Name: fmt.Sprint("tool ", i)}}})
	}
	if n := len(s.Tools); n > 201 || s.Total.Uses != 1000 || s.Tools[n-1].Uses != 800 {
		t.Errorf("%d tools, %+v", n, s.Tools[n-1])
	}
}
