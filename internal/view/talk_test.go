package view_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/event"
	"conclave/internal/talk"
	"conclave/internal/view"
)

// logNamed is one of the logs in testdata.
func logNamed(t *testing.T, name string) []event.Event {
	t.Helper()
	for _, f := range fixtures(t) {
		if f.name == name {
			return f.log
		}
	}
	t.Fatalf("there is no log %s", name)
	return nil
}

// sessionAfter folds a log up to the event of that id, that one included.
func sessionAfter(t *testing.T, log []event.Event, id string) view.Session {
	t.Helper()
	var s view.Session
	for _, e := range log {
		if s = s.Apply(e); e.ID == id {
			return s
		}
	}
	t.Fatalf("there is no event %s", id)
	return s
}

// What is shown is what the decider is in, after every event at which it has
// nothing more to decide. DZ-02
func TestPhaseAgreesWithTheDecider(t *testing.T) {
	seen := map[view.SessionPhase]int{}
	for _, name := range []string{"talk", "client", "conversation"} {
		var d talk.Session
		var s view.Session
		for _, e := range logNamed(t, name) {
			d.Step(e)
			if s = s.Apply(e); len(d.Due()) > 0 {
				continue
			}
			if string(s.Phase()) != string(d.Phase()) {
				t.Errorf("%s, after event %d (%s): shown %s, is %s", name, e.Seq, e.ID, s.Phase(), d.Phase())
			}
			seen[s.Phase()]++
		}
	}
	if len(seen) != 7 {
		t.Errorf("the logs pass through %v, not through all seven phases", seen)
	}
}

// A conversation that the whole program has recorded is sound, and nothing of it
// is lost on the way through a checkpoint: what was said, runs with their results,
// what was not approved. IM-06.1, IM-06.2
func TestRecordedConversation(t *testing.T) {
	log := logNamed(t, "conversation")
	if problems := talk.Check(log); len(problems) > 0 {
		t.Fatalf("%v", problems)
	}
	var whole, s view.Session
	for i, e := range log {
		whole = whole.Apply(e)
		s = s.Apply(e)
		if i%10 == 0 { // as if the program had ended here
			p := marshal(t, s)
			s = view.Session{}
			if err := json.Unmarshal([]byte(p), &s); err != nil {
				t.Fatal(err)
			}
		}
	}
	if marshal(t, s) != marshal(t, whole) {
		t.Error("a session that is read back and gone on with is another")
	}
	var said, replies, runs, denied int
	for _, x := range s.Turns.All(0) {
		said++
		for _, step := range x.Steps.All(0) {
			switch step.Kind {
			case view.StepSaid:
				said++
			case view.StepText:
				replies++
			}
		}
		for _, r := range x.Runs {
			if r.Status == event.StatusSuccess && !r.Result.Empty() {
				runs++
			}
		}
	}
	for _, w := range s.Talk.Wants {
		if w.Choice == event.LaunchDeny {
			denied++
		}
	}
	if got, want := fmt.Sprint(said, replies, runs, denied), "6 7 2 1"; got != want {
		t.Errorf("said, replies, runs, denied: %s, want %s", got, want)
	}
}

// A conversation is turns in the order of what happened in them: what was said,
// what the agent said and did, runs between. IM-14.4
func TestTurnOfASession(t *testing.T) {
	s := sessionAfter(t, logNamed(t, "talk"), "concluded/host/2.2")
	turn := s.Turns.At(1)
	var got []string
	for _, x := range turn.Steps.All(0) {
		got = append(got, fmt.Sprintf("%s %s%s%s", x.Kind, x.Text.Text, x.Tool, x.Run))
	}
	want := []string{
		"text I will have two agents look.", "tool read_file", "run launch_runrun-a",
		"said mind the memory", "text LRU it is, and it is the smallest.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if turn.Text.Text != "compare three caches" || len(turn.Paths) != 1 || !turn.Over || turn.Failed != "" {
		t.Errorf("turn %+v", turn)
	}
	r := turn.Runs[0]
	if r.Launch == nil || !r.Launch.Single || r.Status != event.StatusSuccess || r.Result.Text != `{"status":"success"}` {
		t.Errorf("run %+v", r)
	}
}

// What was said while a run goes on is held, in sight, until the agent hears it
// or it is taken back. It is part of the state, as everything else is. IM-06.2
func TestHeldInASession(t *testing.T) {
	log := logNamed(t, "talk")
	held := func(id string) (out []string) {
		for _, h := range sessionAfter(t, log, id).Talk.Held {
			out = append(out, h.Text.Text)
		}
		return out
	}
	for _, c := range []struct {
		after string
		want  []string
	}{
		{"said/4", []string{"mind the memory"}}, // has no verdict yet
		{"admitted/said/4", []string{"mind the memory", "oh, and speed"}},
		{"admitted/back/1", []string{"mind the memory"}},
		{"returned/run-a", []string{"mind the memory"}},
		{"told/host/2.2/1", nil},
	} {
		if diff := cmp.Diff(c.want, held(c.after)); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", c.after, diff)
		}
	}
	s := sessionAfter(t, log, "archive/1")
	if s.Talk.Project != "caches" || !s.Pinned("called/host/2.2/1") || len(s.Turns.At(1).Runs) != 1 || !s.Talk.Waived {
		t.Errorf("the state has lost something: %+v", s.Talk)
	}
}

// A run that is wanted can be changed until it is decided on, and what is shown is
// the newest revision. IM-04.1, IM-04.3
func TestWantsOfASession(t *testing.T) {
	log := logNamed(t, "talk")
	const gate = "launch/want/host/2/c1"
	w, ok := sessionAfter(t, log, "asked/want/host/2/c1/1").Asking(gate)
	if !ok || w.Revision != 1 || len(w.Launch.Agents) != 2 || w.Estimate == nil {
		t.Errorf("first %+v, %t", w, ok)
	}
	s := sessionAfter(t, log, "asked/want/host/2/c1/2")
	w, ok = s.Asking(gate)
	if !ok || w.Revision != 2 || !w.Launch.Single || len(s.Gates) != 1 || s.Gates[0].Revision != 2 {
		t.Errorf("changed %+v, %t", w, ok)
	}
	if !s.ModeState().Approval {
		t.Error("nothing says that a run waits for approval")
	}
	if _, ok = sessionAfter(t, log, "launched/run-a").Want(w.ID); ok {
		t.Error("a run that was launched is still wanted")
	}
	w, ok = sessionAfter(t, log, "closed/want/host/3/c1").Want("want/host/3/c1")
	if !ok || w.Open() || w.Choice != event.LaunchDeny || w.Note != "do it yourself" {
		t.Errorf("denied %+v, %t", w, ok)
	}
	w, _ = sessionAfter(t, log, "refused/want/host/4/c2").Want("want/host/4/c2")
	if !strings.Contains(w.Refused, "one run at a time") {
		t.Errorf("refused %+v", w)
	}
}

// The conversation and its runs are counted apart, and together they count
// against the budget. DZ-05
func TestUsageOfASession(t *testing.T) {
	log := logNamed(t, "talk")
	s := sessionAfter(t, log, "archive/1")
	var talked, ran event.Money
	for _, e := range log {
		switch f := e.Body.(type) {
		case event.Called:
			talked += f.Usage.Cost
		case event.Compacted:
			talked += f.Usage.Cost
		case event.Returned:
			ran += f.Usage.Cost
		}
	}
	if s.Talk.Usage.Cost != talked || s.Usage.Cost != ran || talked == 0 || ran == 0 {
		t.Errorf("talked for %s, ran for %s; want %s and %s", s.Talk.Usage.Cost, s.Usage.Cost, talked, ran)
	}
	if left := s.Left(); left.Tokens != nil || left.Cost == nil || *left.Cost != 2*event.Dollar-talked-ran {
		t.Errorf("left %+v", left)
	}
	// While a run goes on, what it was granted is set aside.
	s = sessionAfter(t, log, "launched/run-a")
	if got, want := *s.Left().Cost, 2*event.Dollar-s.Talk.Usage.Cost-1_500_000; got != want {
		t.Errorf("left while a run goes on: %s, want %s", got, want)
	}
	var c view.Cost
	for _, e := range log {
		c = c.Apply(e)
	}
	if c.Total.Cost != talked || c.Children.Cost != ran || *c.Left().Cost != 2*event.Dollar-talked-ran {
		t.Errorf("cost %+v", c)
	}
}

// The context bar says which project is open and how the runs stand. IM-08.2,
// IM-09.1, IM-09.2, IM-09.3
func TestContextBar(t *testing.T) {
	log := logNamed(t, "talk")
	for _, c := range []struct {
		after, project string
		status         view.RunStatus
		words          string
	}{
		{"started", "No project", view.RunsIdle, "Idle"},
		{"assigned/host/2.1", "No project", view.RunsIdle, "Idle"},
		{"asked/want/host/2/c1/1", "No project", view.RunsIdle, "Waiting for your approval: compare three caches"},
		{"launched/run-a", "No project", view.RunsRunning, "Running: compare three caches"},
		{"returned/run-a", "No project", view.RunsComplete, "Complete: compare three caches"},
		{"concluded/host/2.2", "No project", view.RunsIdle, "Idle"},
		{"admitted/open/1", "caches", view.RunsIdle, "Idle"},
		{"launched/run-b", "caches", view.RunsRunning, "Running: compare three caches"},
	} {
		b := sessionAfter(t, log, c.after).Bar()
		if b.Project != c.project || b.Status != c.status || b.Words("", 60) != c.words {
			t.Errorf("after %s: %s, %s, %q", c.after, b.Project, b.Status, b.Words("", 60))
		}
		if n := len([]rune(b.Words(strings.Repeat("long ", 50), 20))); n > 20 {
			t.Errorf("after %s: %d characters where 20 fit", c.after, n)
		}
	}
	if b := sessionAfter(t, log, "admitted/waive/1").Bar(); !b.Waived || b.Talk.Cost == 0 || b.Runs.Cost == 0 || b.Window != 8000 || b.Filled == 0 {
		t.Errorf("bar %+v", b)
	}
	var other view.Session
	if b := other.Bar(); b != (view.ContextBar{}) {
		t.Errorf("a session without an agent has a bar: %+v", b)
	}
}

// Which mode a window is in follows from the session. IM-08.1
func TestModeState(t *testing.T) {
	log := logNamed(t, "talk")
	for _, c := range []struct {
		after    string
		run      event.FlowID
		approval bool
	}{
		{"started", "", false}, {"asked/want/host/2/c1/1", "", true}, {"launched/run-a", "run-a", false}, {"concluded/host/2.2", "", false},
	} {
		m := sessionAfter(t, log, c.after).ModeState()
		if !m.Interactive || m.Session == nil || m.Session.ID == "" || m.Run != c.run || m.Approval != c.approval {
			t.Errorf("after %s: %+v", c.after, m)
		}
	}
	if m := sessionAfter(t, logNamed(t, "session"), "started").ModeState(); m.Interactive || m.Session != nil {
		t.Errorf("a coordination session: %+v", m)
	}
}

// A row of a list has when, the project and what was said last. IM-06.4
func TestRowOfASession(t *testing.T) {
	log := logNamed(t, "talk")
	row := func(after string) view.Row {
		return view.RowOf(log[0], log[len(log)-1]).With(sessionAfter(t, log, after))
	}
	for _, c := range []struct{ after, project, preview string }{
		{"admitted/said/1", "", "you: what is 2+2?"},
		{"concluded/host/1.1", "", "Four."},
		{"admitted/said/3", "", "you: mind the memory"},
		{"admitted/open/1", "caches", "LRU it is, and it is the smallest."},
		{"admitted/archive/1", "caches", "I was about to say"},
	} {
		r := row(c.after)
		if r.Session != event.SessionInteractive || r.Project != c.project || r.Preview(80) != c.preview || r.Last.IsZero() {
			t.Errorf("after %s: %s in %q: %q", c.after, r.Session, r.Project, r.Preview(80))
		}
		if r.Archived != (c.after == "admitted/archive/1") {
			t.Errorf("after %s: archived %t", c.after, r.Archived)
		}
	}
	if r := view.RowOf(logNamed(t, "client")[0], log[0]); r.Session != event.SessionClient || r.Client != "claude-code 2.1" {
		t.Errorf("client: %+v", r)
	}
}

// stopped is a turn that a person ends: by Failed while a take goes on, and at
// once while it waits for the next.
func TestStoppedTurn(t *testing.T) {
	const begin = `
flow session-s
at 2026-01-01T10:00:00Z
+0s - session_started started {"kind":"interactive"}
+0s - staffed staffed/1 {"seat":{"agent":"host"},"rules":{"max_attempts":3}}
+0s - said s1 {"text":{"text":"hi","size":2}}
+0s - admitted admitted/s1 {"ref":"s1"}
+0s host assigned a1 {"round":1,"take":1,"messages":["s1"]}
`
	for _, c := range []struct{ name, log, why string }{
		{"in a take", `+0s - cancel_requested c1 {"by":"ann"}
+0s - admitted admitted/c1 {"ref":"c1"}
+0s host failed f1 {"round":1,"take":1,"code":"cut","message":"cut short"}`, "cut short"},
		{"between two", `+0s host failed f1 {"round":1,"take":1,"code":"overloaded","message":"busy"}
+0s - cancel_requested c1 {"by":"ann"}
+0s - admitted admitted/c1 {"ref":"c1"}`, "stopped by ann"},
		{"in a crash", `+0s - cancel_requested c1 {"by":"ann"}
+0s - admitted admitted/c1 {"ref":"c1"}
+0s - resumed r2 {"down":"1s","epoch":2}
+0s host interrupted i1 {"round":1,"take":1,"why":"the program ended"}`, "stopped: the program ended"},
		{"for want of money", `+0s host requested q1 {"round":1,"take":1,"amount":{"tokens":10}}
+0s host refused refused/q1 {"ref":"q1","code":"budget","why":"nothing is left","over":true}`, "nothing is left"},
		{"for good", `+0s host failed f1 {"round":1,"take":1,"code":"auth","message":"no key","final":true}`, "no key"},
	} {
		var s view.Session
		for _, e := range mustEvents(t, begin+c.log) {
			s = s.Apply(e)
		}
		if turn, _ := s.Turns.Last(); !turn.Over || turn.Failed != c.why || s.State() != view.SessionIdle {
			t.Errorf("%s: %s, %+v", c.name, s.State(), turn)
		}
	}
}

// Taking in an event costs the same in a long conversation as in a short one: a
// fold that copied what was said before would allocate in proportion.
func TestLongConversationIsCheap(t *testing.T) {
	per := func(turns int) uint64 {
		var s view.Session
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		take := func(agent event.AgentID, id string, b event.Body) {
			s = s.Apply(event.Event{Flow: "session-x", At: at, Fact: event.Fact{ID: id, Agent: agent, Body: b}})
		}
		take("", "started", event.SessionStarted{Kind: event.SessionInteractive})
		for i := range turns {
			id, turn := fmt.Sprint("said/", i), event.Turn{Round: i + 1, Take: 1}
			take("", id, event.Said{Text: event.Inline("more")})
			take("", "admitted/"+id, event.Admitted{Ref: id})
			take("host", fmt.Sprint("a", i), event.Assigned{Turn: turn, Messages: []string{id}})
			take("host", fmt.Sprint("c", i), event.Called{Turn: turn, Text: event.Inline("yes")})
		}
		e := event.Event{Fact: event.Fact{ID: "n", Agent: "host", Body: event.Noticed{Text: "n"}}}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 100 {
			s.Apply(e)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := per(10), per(5000); many > 3*few {
		t.Errorf("100 events take %d bytes in a conversation of ten turns and %d in one of 5,000", few, many)
	}
}
