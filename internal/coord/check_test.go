package coord_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/internal/coord"
	"conclave/internal/event"
	"conclave/internal/flow"
)

// playLines plays lines of a scenario and returns the log.
func playLines(t *testing.T, lines ...string) []event.Event {
	t.Helper()
	s := newStage()
	for _, l := range lines {
		if err := s.happen(l); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
	}
	return s.log
}

// TestCheck names what is wrong with a log, each time in the words of the rule
// that is broken. The sound log is one of two agents who answer and vote.
func TestCheck(t *testing.T) {
	sound := playLines(t, "start agents=a,b max_answers=1 max_global=2 strategy=winner_reuse",
		`a answers "one"`, `b answers "two"`, "a hears", "a votes b", "b votes b")
	if got := coord.Check(sound); len(got) > 0 {
		t.Fatalf("the sound log has problems: %v", got)
	}
	first := func(log []event.Event, kind string) *event.Event {
		for i := range log {
			if event.Kind(log[i].Body) == kind {
				return &log[i]
			}
		}
		t.Fatalf("no %s", kind)
		return nil
	}
	change := func(kind string, f func(*event.Event)) func([]event.Event) []event.Event {
		return func(log []event.Event) []event.Event { f(first(log, kind)); return log }
	}
	start := func(f func(*event.RunStarted)) func([]event.Event) []event.Event {
		return change("run_started", func(e *event.Event) {
			b := e.Body.(event.RunStarted)
			b.Spec.Seats = slices.Clone(b.Spec.Seats)
			f(&b)
			e.Body = b
		})
	}
	add := func(who event.AgentID, bodies ...event.Body) func([]event.Event) []event.Event {
		return func(log []event.Event) []event.Event {
			i := slices.IndexFunc(log, func(e event.Event) bool { return event.Kind(e.Body) == "chosen" })
			for j, b := range bodies {
				e := event.Event{Flow: log[0].Flow, At: log[i].At, Fact: event.Fact{ID: "added/" + string(rune('0'+j)), Agent: who, Body: b}}
				log = slices.Insert(log, i+j, e)
			}
			return number(log)
		}
	}
	turn := event.Turn{Round: 9, Take: 1}
	for _, test := range []struct {
		name   string
		tamper func([]event.Event) []event.Event
		want   string
	}{
		{"place", change("chosen", func(e *event.Event) { e.Seq = 99 }), "event 99: stands at place"},
		{"flow", change("chosen", func(e *event.Event) { e.Flow = "run-2" }), "belongs to run-2, not to run-1"},
		{"time", change("chosen", func(e *event.Event) { e.At = e.At.Add(-time.Hour) }), "is earlier than the event before it"},
		{"no id", change("chosen", func(e *event.Event) { e.ID = "" }), "has no id"},
		{"id twice", change("chosen", func(e *event.Event) { e.ID = "started" }), "has the id of event 1: started"},
		{"no beginning", func(l []event.Event) []event.Event { return number(l[1:]) }, "a log begins with run_started, once"},
		{"two beginnings", add("", event.RunStarted{}), "a log begins with run_started, once"},
		{"two ends", add("", event.Finished{Answer: event.Inline("x"), Status: event.StatusSuccess}), "follows the run's end"},
		{"end not last", func(l []event.Event) []event.Event {
			return number(append(l, event.Event{Flow: "run-1", At: l[0].At, Fact: event.Fact{ID: "late", Body: event.TimerFired{}}}))
		}, "the run's end is not the last event"},
		{"rules", start(func(b *event.RunStarted) { b.Rules.MaxCalls = 0 }), "attempts and calls per round"},
		{"seats", start(func(b *event.RunStarted) { b.Spec.Seats[1].Label = "agent1" }), `seat "b" ("agent1") is not unique`},
		{"unnamed seat", start(func(b *event.RunStarted) { b.Spec.Seats[1].Agent = "" }), "has no name"},
		{"no seat", add("x", event.Lost{}), `lost is about "x", which has no seat`},
		{"turn in turn", change("assigned", func(e *event.Event) { e.Agent = "b" }), "turn 1.1 begins while 1.1 is going on"},
		{"turn twice", add("a", event.Assigned{Turn: event.Turn{Round: 1, Take: 1}, MayVote: true}), "turn 1.1 begins twice"},
		{"round left out", add("a", event.Assigned{Turn: turn, MayVote: true}), "round 9 follows round 2"},
		{"turn without outcome", change("assigned", func(e *event.Event) { e.Body = event.Assigned{Turn: event.Turn{Round: 1, Take: 1}} }), "turn 1.1 can have no outcome"},
		{"lost at work", add("a", event.Lost{}, event.Assigned{Turn: event.Turn{Round: 3, Take: 1}, MayVote: true}), "a lost agent is set to work"},
		{"lost twice", add("a", event.Lost{}, event.Lost{}), "a is lost twice"},
		{"outcome out of turn", change("answered", func(e *event.Event) { e.Agent = "b" }), "an outcome from turn 1.1, which is not going on"},
		{"not going on", add("a", event.Voted{Turn: turn, For: "a"}), "an outcome from turn 9.1, which is not going on"},
		{"nobody proposed", add("a", event.Voted{Turn: turn, For: "a", Proposal: "x"}), `accepts "x", which nobody proposed`},
		{"revision", change("answered", func(e *event.Event) {
			b := e.Body.(event.Answered)
			b.Revision = 2
			e.Body = b
		}), "revision 2 follows revision 0"},
		{"too many", add("a", event.Answered{Revision: 2, Content: event.Inline("x")}), "answer 2 of at most 1"},
		{"too many in all", start(func(b *event.RunStarted) { b.Rules.MaxAnswersGlobal = 1 }), "answer 2 of at most 1 in all"},
		{"empty answer", change("answered", func(e *event.Event) {
			b := e.Body.(event.Answered)
			b.Content = event.Content{}
			e.Body = b
		}), "an empty answer"},
		{"vote for nobody", change("voted", func(e *event.Event) {
			b := e.Body.(event.Voted)
			b.For = "x"
			e.Body = b
		}), `a vote for "x", which has no answer`},
		{"vote where there is none", start(func(b *event.RunStarted) { b.Rules.SkipVoting = true }), "a vote where voting is skipped"},
		{"seen too much", change("voted", func(e *event.Event) {
			b := e.Body.(event.Voted)
			b.Seen = event.Seen{"a": 7}
			e.Body = b
		}), `has seen revision 7 of "a", which does not exist`},
		{"told too much", add("a", event.Told{Turn: turn, Seen: event.Seen{"x": 1}}), `has seen revision 1 of "x", which does not exist`},
		{"second winner", add("", event.Chosen{Winner: "a"}), "a second winner"},
		{"winner", change("chosen", func(e *event.Event) { e.Body = event.Chosen{Winner: "x"} }), `the winner "x" has no answer`},
		{"chosen too early", func(l []event.Event) []event.Event {
			return slices.Insert(l, 4, event.Event{Flow: "run-1", Seq: 5, Fact: event.Fact{ID: "c", Body: event.Chosen{Winner: "a"}}})
		}, "is at work"},
		{"presenting too early", add("a", event.Presenting{Turn: event.Turn{Round: 3, Take: 1}}), "presenting before a winner is chosen"},
		{"ends at work", change("chosen", func(e *event.Event) {
			e.Agent, e.Body = "a", event.Assigned{Turn: event.Turn{Round: 3, Take: 1}, MayVote: true}
		}), "ends while a is at work"},
		{"empty end", change("finished", func(e *event.Event) { e.Body = event.Finished{Status: event.StatusTimeout, Error: "x"} }), "ends without an answer although there is one"},
		{"empty success", change("finished", func(e *event.Event) { e.Body = event.Finished{Status: event.StatusSuccess} }), "success without an answer"},
		{"no reason", change("finished", func(e *event.Event) {
			e.Body = event.Finished{Status: event.StatusError, Answer: event.Inline("x")}
		}), "error without a reason"},
		{"paused", func(l []event.Event) []event.Event {
			pause := event.Event{Flow: "run-1", At: l[0].At, Fact: event.Fact{ID: "p", Body: event.PauseRequested{}}}
			taken := event.Event{Flow: "run-1", At: l[0].At, Fact: event.Fact{ID: "q", Body: event.Admitted{Ref: "p"}}}
			return number(slices.Insert(l, 1, pause, taken))
		}, "turn 1.1 begins while the run is paused"},
		{"winner in a pause", add("", event.PauseRequested{}, event.Admitted{Ref: "added/0"}), "a winner while the run is paused"},
		{"reads what nobody said", change("assigned", func(e *event.Event) {
			b := e.Body.(event.Assigned)
			b.Messages = []string{"x"}
			e.Body = b
		}), `a reads "x", which nobody has said to it`},
		{"reads what is for another", add("a", event.Messaged{To: []event.AgentID{"b"}}, event.Admitted{Ref: "added/0"}, event.Told{Turn: turn, Messages: []string{"added/0"}}), `a reads "added/0", which nobody has said to it`},
		{"told to finish twice", add("", event.Warned{}, event.Warned{}), "everybody is told twice to finish"},
		{"another decision", change("voted", func(e *event.Event) { e.ID = "voted/x" }), "but the log before it decides"},
		{"no cause", add("", event.Warned{}), "but the log before it decides"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, p := range coord.Check(test.tamper(slices.Clone(sound))) {
				got = append(got, p.String())
			}
			if all := strings.Join(got, "\n"); !strings.Contains(all, test.want) {
				t.Errorf("want %q, got\n%s", test.want, all)
			}
		})
	}
}

// TestCheckHeld: what is reserved must be settled, forfeited or returned by the
// end.
func TestCheckHeld(t *testing.T) {
	log := playLines(t, "start agents=a single quick tokens=1000", "child run-2 requests 100", `a answers "one"`)
	got := coord.Check(log)
	if len(got) != 1 || !strings.Contains(got[0].String(), "1 reservations are still held at the end") {
		t.Errorf("got %v", got)
	}
}

// TestCheckUnfinished: every beginning of a sound log is sound.
func TestCheckUnfinished(t *testing.T) {
	log := playLines(t, "start agents=a,b override=wait", `a answers "one"`, `b answers "two"`, "a hears", "a votes b", "b votes b", "reply a", `a presents "x"`)
	for i := range log {
		if got := coord.Check(log[:i+1]); len(got) > 0 {
			t.Errorf("the first %d events: %v", i+1, got)
		}
	}
	if got := coord.Check(nil); len(got) > 0 {
		t.Errorf("no events: %v", got)
	}
}

// TestCheckNewer: facts of a newer version are no fault. They cannot be replayed
// here, but everything that is counted is still counted.
func TestCheckNewer(t *testing.T) {
	log := playLines(t, "start agents=a single quick", `a answers "one"`)
	newer := event.Event{Flow: "run-1", At: log[0].At, Fact: event.Fact{ID: "newer", Body: event.Unknown{Kind: "newer", Raw: []byte("{}")}}}
	log = number(slices.Insert(log, 2, newer))
	if got := coord.Check(log); len(got) > 0 {
		t.Errorf("got %v", got)
	}
	log[len(log)-1].ID = "newer"
	if got := coord.Check(log); len(got) != 1 {
		t.Errorf("got %v", got)
	}
}

// TestZeroRun: before its first event a run wants nothing and is nothing.
func TestZeroRun(t *testing.T) {
	var run coord.Run
	if len(run.Due())+len(run.Pending()) > 0 || run.Done() || run.Rules() != (event.Rules{}) {
		t.Error("the zero run wants something")
	}
	if _, ok := run.Wake(); ok {
		t.Error("the zero run wants to be woken")
	}
	rd := run.Step(event.Event{Seq: 1, Fact: event.Fact{ID: "x", Agent: "a", Body: event.Failed{}}})
	if len(rd.Record)+len(rd.Do) > 0 {
		t.Errorf("a fact about nobody leads to %+v", rd)
	}
}

// TestCheckpointInTheMiddle: a checkpoint is refused while something waits for a
// verdict, and one that cannot be read leaves the run alone.
func TestCheckpointInTheMiddle(t *testing.T) {
	log := playLines(t, "start agents=a single quick", `a answers "one"`)
	var run coord.Run
	flow.Fold(&run, log[:3]) // the answer is proposed, not judged
	if _, err := run.Checkpoint(); err == nil {
		t.Error("a checkpoint without what waits for a verdict")
	}
	before := run.Pending()
	if err := run.Restore([]byte("{")); err == nil {
		t.Error("nonsense was restored")
	}
	if len(before) != len(run.Pending()) {
		t.Error("nonsense has changed the run")
	}
	if run.CheckpointVersion() < 1 {
		t.Error("a checkpoint has no version")
	}
}
