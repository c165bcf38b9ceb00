package job_test

import (
	"strings"
	"testing"

	"conclave/internal/event"
	"conclave/internal/job"
)

// TestReviews is when a job stops for a person to look at its plan, and why: by
// default if there is something to get wrong.
//
// IP-02 IP-03
func TestReviews(t *testing.T) {
	long := "Compare the three offers and draft a recommendation"
	docs := []event.Document{{Path: "a.md"}}
	for _, test := range []struct {
		name   string
		review string
		start  event.JobStarted
		want   string // reasons; "no" if it does not
	}{
		{"a description", event.ReviewAuto, event.JobStarted{Description: event.Inline(long)}, "no"},
		{"nothing said is auto", "", event.JobStarted{Description: event.Inline(long)}, "no"},
		{"documents", event.ReviewAuto, event.JobStarted{Description: event.Inline(long), Documents: docs}, "there is 1 document"},
		{"a datasource", event.ReviewAuto, event.JobStarted{Description: event.Inline(long), Sources: make([]event.Source, 2)}, "there are 2 datasources"},
		{"one it may change", event.ReviewAuto, event.JobStarted{Description: event.Inline(long), Sources: []event.Source{{Write: true}}}, "of which it may change 1"},
		{"a stub", event.ReviewAuto, event.JobStarted{Description: event.Inline("do it")}, "very short"},
		{"two long words", event.ReviewAuto, event.JobStarted{Description: event.Inline("internationalization recommendations")}, "very short"},
		{"a long text", event.ReviewAuto, event.JobStarted{Description: event.Content{Blob: "x", Size: 9000}}, "no"},
		{"always", event.ReviewFirst, event.JobStarted{Description: event.Inline(long)}, "set up so"},
		{"every plan", event.ReviewPlans, event.JobStarted{Description: event.Inline(long)}, "every plan"},
		{"never", event.ReviewNever, event.JobStarted{Description: event.Inline("do it"), Documents: docs}, "no"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.start.Rules.Review = test.review
			ok, reasons := job.Reviews(test.start)
			if got := strings.Join(reasons, "; "); ok != (test.want != "no") || ok && !strings.Contains(got, test.want) {
				t.Errorf("%t %q, want %q", ok, got, test.want)
			}
		})
	}
}

// Every purpose of a strategic phase has something to be done, and the last of it
// says what the agent ends the phase with.
func TestTemplates(t *testing.T) {
	s := newStage().Play(t, "start review=never\nprepared\n")
	p, goesOn := s.D.Phase()
	if !goesOn || p.Purpose != event.PurposeInitial || len(p.Todos) == 0 || !strings.Contains(p.Todos[len(p.Todos)-1].Text, event.ToolNextPhaseTodos) {
		t.Errorf("it begins with %+v", p)
	}
	for i, todo := range p.Todos {
		if todo.ID == "" || todo.Text == "" || todo.Done || todo.Skip {
			t.Errorf("todo %d is %+v", i, todo)
		}
	}
}

// A frozen job is at rest, and so is one that is over; one with a commit in the
// making is not.
func TestAtRest(t *testing.T) {
	s := newStage().Play(t, "start docs=1\nprepared\nagent stages \"Read the offers\"\nkept\nagent completes 1,2,3,4\nkept\nagent concludes\n")
	if s.D.AtRest() || s.D.Frozen() {
		t.Error("at rest before the phase is kept")
	}
	for _, step := range []struct {
		line string
		rest bool
	}{{"kept", true}, {"edit plan.md", false}, {"kept", true}, {"cancel", true}} {
		if err := s.Happen(step.line); err != nil {
			t.Fatal(err)
		}
		if s.D.AtRest() != step.rest {
			t.Errorf("after %q at rest is %t", step.line, s.D.AtRest())
		}
	}
	if e, ok := s.D.Ended(); !ok || e.Status != event.StatusCancelled {
		t.Errorf("it ended so: %+v", e)
	}
}
