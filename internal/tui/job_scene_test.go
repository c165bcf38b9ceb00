package tui

import (
	"context"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

// registry is a program with one job, whose files a test writes.
type registry struct {
	*looking
	texts map[string]string // by path
	diff  []control.FileDiff
	said  []event.Fact
	woken int
}

func (r *registry) JobFile(_ context.Context, _ event.FlowID, path, _ string) (control.JobFile, []byte, error) {
	return control.JobFile{Path: path}, []byte(r.texts[path]), nil
}

func (r *registry) JobDiff(context.Context, event.FlowID, string, string, string) ([]control.FileDiff, error) {
	return r.diff, nil
}

func (r *registry) Send(_ context.Context, _ event.FlowID, f event.Fact) error {
	r.said = append(r.said, f)
	return nil
}

func (r *registry) Wake(context.Context, event.FlowID) error { r.woken++; return nil }

const theJob event.FlowID = "job-1"

const thePlan = `# Plan: compare the offers

## Goal

A table, and **one page** that recommends one of them.

| phase | what is done |
|---|---|
| 1 | Compare |

- Q: Over how many months? (default: 36)
`

// jobs has the window know of a job that is about to begin.
func (p *play) jobs() *registry {
	r := &registry{looking: p.program, texts: map[string]string{
		planFile: thePlan, memoryFile: "# Memory\n\n- Nordwind's offer ends first.\n", todosFile: "todos: []\n",
	}}
	p.Model.c = r
	p.follow(p.showJob(view.Job{ID: theJob}))
	p.inJob("", event.JobStarted{Title: "Compare the three offers", Description: event.Inline("Compare them"), Seat: event.Seat{Agent: "planner"},
		Rules: event.JobRules{Version: 1, Review: event.ReviewAuto, SoftRounds: 3, MaxPhases: 9}, By: by})
	p.inJob("", event.Prepared{Commit: "c0"})
	return r
}

// inJob is a fact of the job.
func (p *play) inJob(a event.AgentID, body event.Body) string {
	p.now = p.now.Add(time.Second)
	e := p.event(theJob, a, body)
	p.follow(p.take(batch{items: []fed{{flow: theJob, event: e}}})) // nothing else comes
	return e.ID
}

func jobFilesAt(n string) []event.KeptFile {
	return []event.KeptFile{{Path: planFile, Hash: event.Hash("p" + n)}, {Path: memoryFile, Hash: event.Hash("m" + n)}, {Path: todosFile, Hash: event.Hash("t" + n)}}
}

var nextTodos = []event.Todo{
	{ID: "1", Text: "Write the comparison over 36 months to output/comparison.md"}, {ID: "2", Text: "Draft the recommendation on one page"}, {ID: "3", Text: "Check every number", Skip: true},
}

func keptPlan(ref, n string) event.Kept {
	return event.Kept{Ref: ref, Commit: "c" + n, Files: jobFilesAt(n), Plan: event.PlanRead{Name: "Compare and recommend", Todos: nextTodos, Phases: 1,
		Questions: []event.Question{{ID: "q1", Text: "Over how many months are costs compared?", Default: "36"}}}}
}

func reviewGate(phase, title string, revision int) event.Asked {
	return event.Asked{Gate: "review/" + phase, Kind: event.GateReview, Revision: revision, Title: title, Choices: []event.Choice{
		{ID: event.ReviewApprove}, {ID: event.ReviewChange}, {ID: event.ReviewSkip}, {ID: event.ReviewCancel},
	}}
}

// planned brings the job to its first review.
func (p *play) planned() *registry {
	r := p.jobs()
	p.inJob("", event.PhaseBegun{Phase: 1, Iteration: 1, Kind: event.PhaseStrategic, Purpose: event.PurposeInitial, Todos: []event.Todo{{ID: "1", Text: "Read everything"}, {ID: "2", Text: "Write the plan"}}})
	p.inJob("planner", event.Assigned{Turn: one})
	p.inJob("planner", event.Called{Turn: one, Call: 1, Text: event.Inline("I look at what there is."), Usage: event.Usage{Input: 5200, Output: 300, Cost: 21_000}})
	done := p.inJob("planner", event.TodosDone{Turn: one, Todos: []string{"1", "2"}, Note: "Three offers read."})
	p.inJob("", event.Admitted{Ref: done})
	end := p.inJob("", event.PhaseEnded{Phase: 1, Iteration: 1, How: event.EndedDone})
	p.inJob("", keptPlan(end, "1"))
	p.inJob("", reviewGate("1.1", "The plan is ready to be looked at, because there are 3 documents.", 1))
	return r
}

// revised has the plan changed once because of a comment.
func (p *play) revised() *registry {
	r := p.planned()
	c := p.inJob("", event.Commented{Path: planFile, Line: 5, Quote: "A table, and **one page** that recommends one of them.", Text: "For whom?", By: by})
	p.inJob("", event.Admitted{Ref: c})
	reply := p.inJob("", event.Replied{Gate: "review/1.1", Choice: event.ReviewChange, Text: "Say what happens after 36 months.", Revision: 1, By: by})
	closed := p.inJob("", event.Closed{Gate: "review/1.1", Choice: event.ReviewChange, How: "reply", By: by, Reply: reply, Text: "Say what happens after 36 months."})
	p.inJob("", keptPlan(closed, "2"))
	p.inJob("", event.PhaseBegun{Phase: 1, Iteration: 2, Kind: event.PhaseStrategic, Purpose: event.PurposeRevise, Todos: []event.Todo{{ID: "1", Text: "Change the plan"}}})
	a := p.inJob("planner", event.Addressed{Turn: one, Comment: c, Changed: true, Text: "The goal names the board."})
	p.inJob("", event.Admitted{Ref: a})
	end := p.inJob("", event.PhaseEnded{Phase: 1, Iteration: 2, How: event.EndedDone})
	r.diff = []control.FileDiff{
		{Path: "review/round-1.md", Kind: "added"},
		{Path: planFile, Kind: "changed", Hunks: []control.Hunk{{Old: 5, New: 5, Lines: []control.DiffLine{{Op: "-", Text: "A table."}, {Op: "+", Text: "A table for the board."}}}}},
	}
	p.inJob("", keptPlan(end, "3"))
	p.inJob("", reviewGate("1.2", "The plan was changed as you asked. Is it to be carried out?", 1))
	p.now = p.now.Add(time.Minute)
	return r
}

// carriedOut has the plan approved, and the first todo done.
func (p *play) carriedOut() *registry {
	r := p.revised()
	p.inJob("", event.Closed{Gate: "review/1.2", Choice: event.ReviewApprove, How: "reply", By: by})
	p.inJob("", event.PhaseBegun{Phase: 2, Iteration: 1, Kind: event.PhaseTactical, Purpose: event.PurposeTactical, Name: "Compare and recommend", Todos: nextTodos})
	two := event.Turn{Round: 2, Take: 1}
	p.inJob("planner", event.Assigned{Turn: two})
	done := p.inJob("planner", event.TodosDone{Turn: two, Todos: []string{"1"}, Note: "Over 36 months."})
	p.inJob("", event.Admitted{Ref: done})
	p.inJob("planner", event.ToolCalled{Turn: two, Tool: event.ToolCall{ID: "c9", Name: "write", Input: []byte(`{"path":"output/recommendation.md"}`)}})
	return r
}

// completed has it over.
func (p *play) completed() *registry {
	r := p.carriedOut()
	p.inJob("", event.PhaseEnded{Phase: 2, Iteration: 1, How: event.EndedDone})
	p.inJob("", event.JobEnded{Status: event.StatusSuccess, JobOutcome: event.JobOutcome{Summary: "Nordwind is recommended.", Confidence: 0.8, Deliverables: []string{"output/comparison.md", "output/recommendation.md"}}})
	return r
}

// troubled has it stop by itself.
func (p *play) troubled() *registry {
	r := p.carriedOut()
	p.inJob("", event.PhaseEnded{Phase: 2, Iteration: 1, How: event.EndedTrouble, Why: "nothing was completed in 3 turns"})
	p.inJob("", event.Asked{Gate: "trouble/2.1", Kind: event.GateTrouble, Revision: 1, Title: "Nothing was completed in 3 turns in a row.", Choices: []event.Choice{{ID: event.TroubleRetry}, {ID: event.TroubleChange}, {ID: event.TroubleCancel}}})
	p.now = p.now.Add(time.Minute)
	return r
}

// jobStates are how a job can look.
func jobStates() []state {
	at := func(keys ...string) func(p *play) {
		return func(p *play) {
			p.now = p.now.Add(time.Minute)
			for _, k := range keys {
				p.press(key(k))
			}
		}
	}
	return []state{
		{name: "job", about: "a job whose plan waits for you", set: func(p *play) { p.revised(); at("1")(p) }},
		{name: "job-comment", set: func(p *play) { p.planned(); at("j", "j", "c")(p); p.letters("For whom?") }},
		{name: "job-todos", set: func(p *play) { p.planned(); at("2")(p) }},
		{name: "job-questions", set: func(p *play) { p.planned(); at("4")(p) }},
		{name: "job-changes", set: func(p *play) { p.revised() }},
		{name: "job-approve", set: func(p *play) { p.revised(); at("a")(p) }},
		{name: "job-running", set: func(p *play) { p.carriedOut(); at()(p) }},
		{name: "job-trouble", set: func(p *play) { p.troubled() }},
		{name: "job-over", set: func(p *play) { p.completed(); at()(p) }},
	}
}

// last is what was said last.
func (r *registry) last() event.Body { return r.said[len(r.said)-1].Body }

// An edit that somebody else was quicker with is not taken; the text is kept, and
// gone on with when it is asked for. IP-10
func TestJobEditConflict(t *testing.T) {
	p := rehearse(t, 100, 30, "none")
	r := p.planned()
	s := p.job
	p.now = p.now.Add(time.Minute)
	p.follow(s.edited(p.Model, planFile, s.files.texts[planFile], "Mine"))
	edit, ok := r.last().(event.Edited)
	if !ok || edit.Path != planFile || edit.Base != "p1" || edit.Text.Text != "Mine\n" || edit.By != by || r.woken == 0 {
		t.Fatalf("said %+v, woken %d times", r.last(), r.woken)
	}
	p.inJob("", event.Refused{Ref: r.said[len(r.said)-1].ID, Code: stale, Why: "plan.md was changed by somebody else meanwhile."})
	p.see("Changed meanwhile, look again.")
	if s.kept[planFile] != "Mine\n" {
		t.Errorf("kept is %q", s.kept)
	}
	p.press(key("1"), key("e"))
	p.see("Go on with your text?", "changed by somebody else")
	p.press(key("esc"), key("e"))
	p.follow(s.edited(p.Model, planFile, jobText{"p1", "same\n"}, "same"))
	p.see("Nothing was changed.")
}

// What cannot be done says why, in every state of a job; trouble is decided with
// the same keys.
func TestJobKeys(t *testing.T) {
	p := rehearse(t, 100, 30, "none")
	p.carriedOut()
	p.now = p.now.Add(time.Minute)
	for k, why := range map[string]string{
		"a": "there is nothing to decide now", "r": "there is nothing to decide now", "s": "No plan waits for you", "e": "only while the job waits",
		"f": "It is not over", "p": "It asks for no permission", "c": "where they are read", "space": "2 shows them", "m": "Nobody is there",
	} {
		p.press(key(k))
		p.see(why)
	}
	p = rehearse(t, 100, 30, "none")
	r := p.troubled()
	p.see("cannot go on", "It cannot go on by itself: Nothing was completed", "a go on", "r plan anew")
	p.press(key("a"))
	p.see("Go on?", "as much again")
	p.press(key("y"))
	if got := r.last(); got != (event.Replied{Gate: "trouble/2.1", Choice: event.TroubleRetry, Revision: 1, By: by}) {
		t.Errorf("said %+v", got)
	}
}

// What is asked for a permission is answered at the job.
func TestJobPermission(t *testing.T) {
	p := rehearse(t, 80, 24, "none")
	r := p.carriedOut()
	p.now = p.now.Add(time.Minute)
	p.inJob("planner", event.Asked{Gate: "permission/1", Kind: event.GatePermission, Revision: 1, Title: "May planner use shell?", Text: event.Inline("rm -r output"),
		Choices: []event.Choice{{ID: event.PermitOnce}, {ID: event.PermitDeny}}})
	p.see("asks you", "May planner use shell?")
	p.press(key("p"))
	p.see("Allow it once", "Deny it", "rm -r output")
	p.press(key("j"), key("enter"))
	if got, ok := r.last().(event.Replied); !ok || got.Choice != event.PermitDeny || got.Gate != "permission/1" {
		t.Errorf("said %+v", r.last())
	}
}

// A revision that somebody else has made takes no key that was meant for the one
// before, and a comment on lines that are gone is not lost.
func TestJobRevisedElsewhere(t *testing.T) {
	p := rehearse(t, 100, 30, "none")
	r := p.revised()
	r.texts[planFile] = "# Another plan\n\n" + strings.Repeat("```\ncode\n```\n", 2)
	edit := p.inJob("", event.Edited{Path: planFile, Base: "p3", Text: event.Inline("x"), By: "web"})
	p.inJob("", event.Admitted{Ref: edit})
	p.inJob("", keptPlan(edit, "4"))
	p.inJob("", reviewGate("1.2", "The plan was edited.", 2))
	p.see("The plan was edited elsewhere: this is revision 2 now.")
	p.press(key("a"))
	p.see("press the key again")
	p.gone("Carry out")
	p.now = p.now.Add(time.Minute)
	p.press(key("1"))
	p.see("Another plan", "on a line that is not there any more: A table", "agent, changed: The goal names the board.")
	p.press(key("t"))
	p.see("Comments", "plan.md:5")
	p.press(key("space"))
	if got, ok := r.last().(event.Resolved); !ok || !got.On {
		t.Errorf("said %+v", r.last())
	}
}

// Everything fits at every size, in light and dark.
func TestJobFits(t *testing.T) {
	for _, size := range [][2]int{{100, 30}, {80, 24}, {40, 12}, {20, 6}, {200, 50}} {
		for _, colours := range []string{"light", "dark", "none"} {
			p := rehearse(t, size[0], size[1], colours)
			p.completed()
			for _, k := range []string{"1", "2", "3", "4", "5", "6", "t"} {
				p.press(key(k))
				if why := Misfit(p.Model.View().Content, size[0], size[1]); why != "" {
					t.Errorf("%v %s at %s: %s\n%s", size, colours, k, why, p.screen())
				}
			}
			p.do(tea.WindowSizeMsg{Width: size[0] / 2, Height: size[1]})
		}
	}
}
