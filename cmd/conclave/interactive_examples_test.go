package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/event"
	"conclave/internal/view"
)

// visits is a project with the examples of interactive mode in it, in which
// somebody begins a conversation with one of them.
func visits(t *testing.T, example, hello string, code int) *parlour {
	t.Helper()
	p := &project{dir: t.TempDir()}
	if err := os.CopyFS(p.dir, os.DirFS("../../examples/interactive")); err != nil {
		t.Fatal(err)
	}
	x := p.start(t, "sessions", "say", "--new", "--config", example, hello)
	id := x.says(x.err, `^(session-\S+): `)[1]
	x.ends(code)
	return p.sits(t, event.FlowID(id))
}

// replied is what the agent said last.
func (k *parlour) replied(t *testing.T) string {
	t.Helper()
	last, _ := k.now(t).Turns.Last()
	var text string
	for _, s := range last.Steps.All(0) {
		if s.Kind == view.StepText {
			text = s.Text.Text
		}
	}
	return text
}

// approves approves the run that waits, has it carried out, and returns its log.
func (k *parlour) approves(t *testing.T) []event.Event {
	t.Helper()
	k.output(t, "approve", string(k.id))
	k.output(t, "resume", "-q", string(k.id))
	return k.ran(t, 0)
}

// ran is the log of a run of the last turn, which must have succeeded.
func (k *parlour) ran(t *testing.T, n int) []event.Event {
	t.Helper()
	last, _ := k.now(t).Turns.Last()
	if len(last.Runs) <= n || last.Runs[n].Status != event.StatusSuccess {
		t.Fatalf("the runs are %+v", last.Runs)
	}
	return k.read(t, last.Runs[n].ID)
}

// shape is how a run was carried out, in a line.
func shape(events []event.Event) string {
	s := bodies[event.RunStarted](events)[0]
	return fmt.Sprintf("%d agents, single %t, quick %t, plan %t, execute %t", len(s.Spec.Seats), s.Rules.Single, s.Rules.Quick, s.Rules.Planning, s.Rules.Execute)
}

// Small things are answered at once; what is worth it becomes the run that the
// words ask for, after approval, and its result is told in short.
//
// IM-02.3 IM-02.4 IM-02.7 IM-15.1 IM-15.2 IM-15.3 IM-16.6
func TestInteractiveExampleBasic(t *testing.T) {
	t.Parallel()
	k := visits(t, "basic.yaml", "What can you do?", 0)
	if n := len(bodies[event.Wanted](k.read(t, k.id))); n != 0 || !strings.Contains(k.replied(t), "I answer small things myself") {
		t.Errorf("%d runs wanted, and said is %q", n, k.replied(t))
	}
	k.asks(t, "Compare the options: which sort for nearly sorted data?")
	run := k.approves(t)
	if got := shape(run); got != "3 agents, single false, quick false, plan false, execute false" || len(bodies[event.Voted](run)) < 3 {
		t.Errorf("%s, %d votes", got, len(bodies[event.Voted](run)))
	}
	end := bodies[event.Finished](run)[0]
	if got := k.replied(t); !strings.Contains(got, string(end.Winner)+" had the last word. In short: ") || len(got) > len(end.Answer.Text) {
		t.Errorf("said is %q of %q", got, end.Answer.Text)
	}
	for _, c := range []struct{ say, want string }{
		{"A quick one: which for a million records?", "1 agents, single true, quick true, plan false, execute false"},
		{"some opinions, please", "3 agents, single false, quick true, plan false, execute false"},
		{"plan it and do it: sort my records", "3 agents, single false, quick false, plan true, execute true"},
	} {
		k.output(t, "sessions", "say", "-q", "--yes", string(k.id), c.say)
		run := k.ran(t, 0)
		if got := shape(run); got != c.want || !strings.Contains(bodies[event.RunStarted](run)[0].Spec.Task.Text, c.say) {
			t.Errorf("%s: %s", c.say, got)
		}
		// Only a plan that was made to be carried out has somebody carry it out.
		if p := bodies[event.Presenting](run); strings.HasPrefix(c.say, "plan") && (len(p) != 1 || !p[0].Execute) {
			t.Errorf("presented: %+v", p)
		}
	}
	k.sound(t)
}

// Everyone reviews, one of them told something more for this run alone; what they
// found goes along with the plan of its correction, which comes back to be decided
// about.
//
// IM-02.3 IM-02.5 IM-02.6 IM-02.9 IM-11.1 IM-15.2
func TestInteractiveExampleCodeReview(t *testing.T) {
	t.Parallel()
	k := visits(t, "code-review.yaml", "Please review the reader.", 5)
	run := k.approves(t)
	started := bodies[event.RunStarted](run)[0]
	if got := shape(run); got != "3 agents, single false, quick false, plan false, execute false" || !strings.Contains(started.Spec.Task.Text, "Please review the reader.") {
		t.Errorf("%s: %q", got, started.Spec.Task.Text)
	}
	// The finding is only made by whoever was told of strangers.
	if got := k.replied(t); !strings.Contains(got, "The worst first: reader.go:12") || strings.Contains(got, "data2") {
		t.Errorf("said is %q", got)
	}
	k.asks(t, "And now fix what they found.")
	run = k.approves(t)
	started = bodies[event.RunStarted](run)[0]
	if got := shape(run); !strings.HasPrefix(got, "1 agents, single true,") || !strings.HasSuffix(got, "plan true, execute false") {
		t.Errorf("the plan: %s", got)
	}
	if !strings.Contains(started.Spec.Context.Text, "no limit on the size") {
		t.Errorf("the planner is told %q", started.Spec.Context.Text)
	}
	if got := k.replied(t); !strings.Contains(got, "put right: Refuse a file over one megabyte") {
		t.Errorf("said is %q", got)
	}
	k.sound(t)
}

// One thing said becomes a chain without anybody being asked: a plan, a part of
// it, that part again because it was not good enough, the other part with what is
// known by then, and a judgement by others.
//
// IM-02.9 IM-04.4 IM-11.1 IM-16.1 IM-16.2 IM-16.3 IM-16.4 IM-16.5
func TestInteractiveExampleResearch(t *testing.T) {
	t.Parallel()
	k := visits(t, "research.yaml", "Research how we should keep our backups.", 0)
	for i, c := range []struct{ task, context, answer string }{
		{"Plan the research", "", "Part 1: what a restore takes."},
		{"Part 1", "Numbers need a source.", "A restore takes about a day."},
		{"Part 1", `said "A restore takes about a day." That lacks a source`, "nine hours, measured"},
		{"Part 2", "nine hours, measured", "A disk in the office"},
		{"Evaluate", "A disk in the office", "It holds"},
	} {
		run := k.ran(t, i)
		spec, answer := bodies[event.RunStarted](run)[0].Spec, bodies[event.Finished](run)[0].Answer.Text
		if !strings.HasPrefix(spec.Task.Text, c.task) || !strings.Contains(spec.Context.Text, c.context) || !strings.Contains(answer, c.answer) {
			t.Errorf("run %d: task %q, context %q, answer %q", i+1, spec.Task.Text, spec.Context.Text, answer)
		}
	}
	s := k.now(t)
	if n := len(bodies[event.Asked](k.read(t, k.id))); n != 0 || s.Turns.Len() != 1 || len(s.Turns.At(0).Runs) != 5 {
		t.Errorf("%d questions, %d turns", n, s.Turns.Len())
	}
	if got := k.replied(t); !strings.Contains(got, "Done, in five runs.") || !strings.Contains(got, "It holds") {
		t.Errorf("said is %q", got)
	}
	k.sound(t)
}

// From the first message to a deliverable: a project with its decision, a draft by
// one, published; then all polish what is published, and that is its next version.
//
// IM-12.1 IM-12.3 IM-12.4
func TestInteractiveExampleWriting(t *testing.T) {
	t.Parallel()
	k := visits(t, "writing.yaml", "Write a note on why we test our backups.", 5)
	run := k.approves(t)
	if got := shape(run); got != "1 agents, single true, quick true, plan false, execute false" {
		t.Errorf("the draft: %s", got)
	}
	answer := bodies[event.Finished](run)[0].Answer.Text
	if got := k.output(t, "projects", "cat", "backup-note", "note.md"); strings.TrimSpace(got) != strings.TrimSpace(answer) {
		t.Errorf("the deliverable is %q, and the answer was %q", got, answer)
	}
	k.asks(t, "Shorter, please, and polish it.")
	run = k.approves(t)
	if got := bodies[event.RunStarted](run)[0].Spec.Context.Text; !strings.Contains(got, "the day we need the copy is the wrong day") {
		t.Errorf("they were not told what is published: %q", got)
	}
	if got := k.output(t, "projects", "cat", "backup-note", "note.md"); !strings.HasPrefix(got, "A backup that was never read back is a hope. Read one back") || !strings.Contains(got, "write down how long it took") {
		t.Errorf("the short one is %q", got)
	}
	if got := k.output(t, "projects", "cat", "backup-note", "note.md", "--version", "1"); strings.TrimSpace(got) != strings.TrimSpace(answer) {
		t.Errorf("version 1 is %q", got)
	}
	if got := k.output(t, "projects", "show", "backup-note"); strings.Count(got, "note.md  ") != 1 || !strings.Contains(got, "version 2 ") {
		t.Errorf("the project is %s", got)
	}
	root := filepath.Join(k.dir, ".conclave", "workspace", "projects", "backup-note")
	if got := read(t, filepath.Join(root, "CONTEXT.md")); strings.Count(got, "read on a phone") != 1 || !strings.Contains(got, "why we test our backups") {
		t.Errorf("CONTEXT.md is %q", got)
	}
	described, err := filepath.Glob(filepath.Join(root, "runs", "*", "run_description.json"))
	if err != nil || len(described) != 2 {
		t.Errorf("described are %v (%v)", described, err)
	}
	if got := k.output(t, "projects"); !strings.Contains(got, "backup-note") {
		t.Errorf("projects: %s", got)
	}
	k.sound(t)
}
