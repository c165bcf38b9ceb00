package view_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/event"
	"conclave/internal/view"
)

// jobAfter folds the first n events of a job.
func jobAfter(log []event.Event, n int) view.Job {
	var j view.Job
	for _, e := range log[:n] {
		j = j.Apply(e)
	}
	return j
}

// jobUntil folds a log up to the event of that id, that one included.
func jobUntil(t *testing.T, log []event.Event, id string) view.Job {
	t.Helper()
	for i, e := range log {
		if e.ID == id {
			return jobAfter(log, i+1)
		}
	}
	t.Fatalf("there is no event %s", id)
	return view.Job{}
}

// jobOver is how a job stands at each point where that changes; empty if it is
// no job.
func jobOver(log []event.Event) string {
	var b strings.Builder
	var j view.Job
	was := ""
	for _, e := range log {
		if j = j.Apply(e); j.ID == "" {
			continue
		}
		if now := jobLine(j); now != was {
			was = now
			fmt.Fprintf(&b, "%3d %s\n", e.Seq, now)
		}
	}
	return b.String()
}

func jobLine(j view.Job) string {
	s := string(j.State)
	if p, ok := j.Current(); ok {
		s += fmt.Sprintf(" %d.%d", p.Phase, p.Iteration)
		for _, x := range p.Todos {
			mark := "☐"
			switch {
			case x.Done:
				mark = "☑"
			case x.Skip:
				mark = "–"
			}
			s += " " + mark + x.ID
		}
	}
	for _, g := range j.Gates {
		s += fmt.Sprintf(" ?%s@%d", g.Gate, g.Revision)
	}
	if e := j.Estimate; e != nil {
		s += fmt.Sprintf(" | about %s: %s", e.Cost, e.Basis)
	}
	for _, part := range []string{j.Phase(), j.Doing, j.Why} {
		if part != "" {
			s += " | " + part
		}
	}
	return s
}

// Frozen is the open gate and nothing else: whatever a job is, it is at every
// event either frozen with a gate to answer or not frozen without one.
func TestFrozenIsTheGate(t *testing.T) {
	for _, f := range fixtures(t) {
		var j view.Job
		for _, e := range f.log {
			if j = j.Apply(e); j.ID == "" {
				break
			}
			if j.State.Frozen() != (j.Review != nil) {
				t.Errorf("%s, event %d: %s with the gate %v", f.name, e.Seq, j.State, j.Review)
			}
		}
	}
}

// What people say in a review is there for everybody who looks: threads with their
// replies, answers to questions, the draft, the files that were edited, and what
// the reply must name. IP-10
func TestReview(t *testing.T) {
	log := logNamed(t, "job")
	j := jobUntil(t, log, "review/1.1/2")
	if j.State != view.JobReview || j.Review == nil || j.Review.Revision != 2 || j.Why == "" {
		t.Fatalf("%s, %+v", j.State, j.Review)
	}
	if len(j.Threads) != 2 || len(j.Threads[0].Replies) != 1 || j.Threads[0].Line != 3 || j.Threads[0].Commit != "c3333333333" || !j.Threads[1].Resolved {
		t.Errorf("threads: %+v", j.Threads)
	}
	if q := j.Questions; len(q) != 1 || q[0].Answer != "Net." || q[0].Default != "gross" {
		t.Errorf("questions: %+v", q)
	}
	if j.Draft != "Please look at all" || !j.Staged[1].Skip || j.Staged[0].Text != "Make a table of all three" {
		t.Errorf("draft %q, staged %+v", j.Draft, j.Staged)
	}
	r := j.Rounds[0]
	if r.Revision != 2 || r.Commit != "c4444444444" || !cmp.Equal(r.Edits, []string{"todos.yaml"}) {
		t.Errorf("round: %+v", r)
	}
	if last := j.Commits[len(j.Commits)-1]; last.By != "ada" || last.What != "todos.yaml edited" {
		t.Errorf("the commit of the edit: %+v", last)
	}
	j = jobUntil(t, log, "refused/in/p1")
	if len(j.Refusals) != 1 || j.Refusals[0].Code != "stale" || len(j.Heard) != 0 || j.State != view.JobReview {
		t.Errorf("after a reply to an old revision: %s, %+v, %v", j.State, j.Refusals, j.Heard)
	}
}

// A round in which the plan was left as it was says so, and from the round on that
// the rules name other ways are offered. Every comment that was sent shows how it
// was dealt with. IP-11
func TestRounds(t *testing.T) {
	log := logNamed(t, "job")
	j := jobUntil(t, log, "review/1.2/1")
	first, second := j.Rounds[0], j.Rounds[1]
	if first.Choice != event.ReviewChange || first.Feedback != "Please look at all three offers." || !cmp.Equal(first.Comments, []string{"in/c1"}) || first.Late || first.Same {
		t.Errorf("first round: %+v", first)
	}
	if second.Since != first.Commit || !second.Same || !second.Late || second.Choice != "" {
		t.Errorf("second round: %+v", second)
	}
	if a := j.Threads[0]; !a.Sent || a.Answer == nil || a.Answer.Changed || a.Answer.Text == "" {
		t.Errorf("the comment that was sent: %+v", a)
	}
	if a := j.Threads[1]; a.Sent || a.Answer != nil {
		t.Errorf("the comment that was resolved before: %+v", a)
	}
	// One that changes something is not the same.
	changed := json.RawMessage(strings.ReplaceAll(marshal(t, log), `"hash":"p1"`, `"hash":"p9"`))
	var other []event.Event
	if err := json.Unmarshal(changed, &other); err != nil {
		t.Fatal(err)
	}
	for i, e := range log { // up to the feedback it is as it was
		if e.ID == "kept/phase/1.2/ended" {
			break
		}
		other[i] = e
	}
	if j := jobUntil(t, other, "review/1.2/1"); j.Rounds[1].Same {
		t.Error("a plan that was changed is shown as unchanged")
	}
}

// What was approved is held against what was done.
func TestDrift(t *testing.T) {
	const begin = `flow job-1
at 2026-03-01T09:00:00Z
+0s - job_started started {"description":{"text":"x","size":1},"seat":{"agent":"a","label":"agent1","backend":"script"},"rules":{"version":1}}
+0s - phase_begun phase/1.1 {"phase":1,"iteration":1,"kind":"strategic","purpose":"initial","todos":[]}
+0s - kept k1 {"ref":"x","commit":"c1","plan":{"todos":[{"id":"1","text":"one"},{"id":"2","text":"two"},{"id":"3","text":"three","skip":true},{"id":"4","text":"four"}]}}
+0s - asked g {"gate":"review/1.1","kind":"review","choices":[{"id":"approve"}],"revision":1}
+0s - closed g2 {"gate":"review/1.1","choice":"approve","how":"reply"}
`
	log := mustEvents(t, begin+`+0s - phase_begun phase/2.1 {"phase":2,"iteration":1,"kind":"tactical","purpose":"tactical","todos":[{"id":"1","text":"one"},{"id":"2","text":"deux","done":true},{"id":"3","text":"three","done":true},{"id":"5","text":"five"}]}
+0s a todos_done d1 {"todos":["1"]}
+0s - admitted a1 {"ref":"d1"}
+0s - phase_ended e1 {"phase":2,"iteration":1,"how":"rewound"}
`)
	p, _ := jobAfter(log, len(log)).Current()
	want := []view.JobDrift{
		{ID: "2", Kind: view.DriftChanged, Text: "two", Now: "deux"},
		{ID: "3", Kind: view.DriftOverrun, Text: "three"},
		{ID: "4", Kind: view.DriftUndone, Text: "four"},
		{ID: "5", Kind: view.DriftAdded, Text: "five"},
	}
	if diff := cmp.Diff(want, p.Drift); diff != "" {
		t.Errorf("drift (-want +got):\n%s", diff)
	}
	done := logNamed(t, "job")
	if p := jobAfter(done, len(done)).Phases[1]; len(p.Approved) != 2 || len(p.Drift) != 0 {
		t.Errorf("a phase that was done as approved drifts: %+v", p)
	}
}

// What is left is estimated from what todos have taken, the planning's as long as
// none was carried out; what it is guessed from is said.
func TestJobEstimate(t *testing.T) {
	log := logNamed(t, "job")
	for _, c := range []struct {
		id    string
		cost  event.Money
		basis string
	}{
		// Todos of planning took 20000, 8000 and 8000, in the revision 9000.
		{"review/1.1/1", 4 * 8000, "two todos left and one further phase of about as many as this one's 2, at the median of three todos of planning"},
		{"review/1.1/2", 2 * 8000, "one todo left and one further phase of about as many as this one's 1, at the median of three todos of planning"},
		{"phase/2.1", 2 * 8000, "one todo left and one further phase of about as many as this one's 1, at the median of four todos of planning"},
		{"phase/5.1", 2 * 20000, "two todos left, at the median of one todo done so far"},
		{"trouble/5.1", 2 * 20000, "two todos left, at the median of one todo done so far"},
	} {
		e := jobUntil(t, log, c.id).Estimate
		if e == nil || e.Basis != c.basis || e.Cost != c.cost || e.Tokens == 0 {
			t.Errorf("%s: %+v", c.id, e)
		}
	}
	if e := jobUntil(t, log, "ended").Estimate; e != nil {
		t.Errorf("of a job that is over: %+v", e)
	}
}

// Time that a person takes, and time without a driver, is not worked.
func TestJobWorked(t *testing.T) {
	log := logNamed(t, "job")
	j := jobUntil(t, log, "ended")
	total := j.Last.Sub(j.Begun)
	if got := time.Duration(j.Worked); got < 30*time.Second || got > time.Minute || total < time.Hour {
		t.Errorf("worked %v of %v", got, total)
	}
}

// A job of many steps is shown in no more than its phases, todos and commits take.
func TestJobIsBounded(t *testing.T) {
	turn := event.Turn{Round: 1, Take: 1}
	var j view.Job
	seq := uint64(0)
	add := func(id string, agent event.AgentID, b event.Body) {
		seq++
		j = j.Apply(event.Event{Flow: "job-1", Seq: seq, At: time.Unix(int64(seq), 0).UTC(), Fact: event.Fact{ID: id, Agent: agent, Body: b}})
	}
	add("started", "", event.JobStarted{Title: "long"})
	add("p", "", event.PhaseBegun{Phase: 1, Iteration: 1, Kind: event.PhaseTactical, Todos: []event.Todo{{ID: "1", Text: "all of it"}}})
	add("a", "ada", event.Assigned{Turn: turn})
	for i := range 1000 {
		id := fmt.Sprint(i)
		add("c"+id, "ada", event.Called{Turn: turn, Tools: []event.ToolCall{{ID: id, Name: "shell"}}, Usage: event.Usage{Input: 1}})
		add("r"+id, "ada", event.ToolReturned{Turn: turn, Call: id, Name: "shell"})
		add("m"+id, "ada", event.Mutated{Turn: turn, Statement: "CREATE (n)"})
		add("k"+id, "", event.Kept{Ref: "x", Commit: id})
		add("o"+id, "", event.Commented{Text: "hm"})
		add("v"+id, "", event.Admitted{Ref: "o" + id})
		add("d"+id, "", event.Drafted{Text: "never judged"})
	}
	if j.Calls != 1000 || j.ToolUses != 1000 || j.Mutated != 1000 || j.Usage.Input != 1000 {
		t.Errorf("%d calls, %d tools, %d mutations", j.Calls, j.ToolUses, j.Mutated)
	}
	if n := len(marshal(t, j)); n > 300_000 {
		t.Errorf("it is %d bytes as JSON", n)
	}
}

// The session of a companion knows its job, what was outlined before there is
// one, and which tools people have turned on. IP-12
func TestCompanionSession(t *testing.T) {
	var s view.Session
	for _, e := range mustEvents(t, `flow session-1
at 2026-03-01T09:00:00Z
+0s - session_started started {"kind":"companion","asks":true}
+0s - outlined in/o1 {"title":"Offers","description":{"text":"Compare","size":7},"by":"ada"}
+0s - admitted v1 {"ref":"in/o1"}
+0s planner outlined o2 {"instructions":{"text":"In euros","size":8}}
+0s - tiered in/t1 {"tier":"debug","set":"on"}
+0s - admitted v2 {"ref":"in/t1"}
+0s - tiered in/t2 {"tier":"debug","set":"auto"}
+0s - admitted v3 {"ref":"in/t2"}
+0s - linked in/l1 {"job":"job-1"}
+0s - admitted v4 {"ref":"in/l1"}`) {
		s = s.Apply(e)
	}
	if s.Talk == nil || s.Talk.Job != "job-1" || len(s.Heard) != 0 {
		t.Fatalf("%+v", s)
	}
	if o := s.Talk.Outline; o == nil || o.Title != "Offers" || o.Description.Text != "Compare" || o.Instructions.Text != "In euros" {
		t.Errorf("outline: %+v", o)
	}
	if s.Title().Text != "Offers" || len(s.Talk.Tiers) != 1 || s.Talk.Tiers[0].Set != "auto" {
		t.Errorf("title %q, tiers %+v", s.Title().Text, s.Talk.Tiers)
	}
}
