package team_test

import (
	"slices"
	"strings"
	"testing"

	"conclave/internal/event"
	"conclave/internal/flow/flowtest"
	"conclave/internal/team"
)

// story is a sound log with one of everything in it.
func story(t *testing.T) []event.Event {
	s := newStage().Play(t, `
start budget=100 asks permits attempts=1 turns=40
leader requests 10
leader calls "hm" request=requested/1 tokens=5
leader spawns pm as pm
leader tasks pm plan "Plan it"
message "Hurry." to=pm
message "Or not." to=pm
withdraw message/2
pm told message/1
pm wishes shell "rm -r build"
reply permission/wished/1 once
leader fails broken "exit status 1"
reply trouble/1 retry
pm reports plan done
pm commits p1
pm concludes
leader told notified/mended/trouble/1
leader concludes
leader merges pm p1
leader tasks pm plan "Once more"
leader awaits pm
leader concludes
crash
pm reports plan done
pm concludes
leader finishes
leader concludes
`)
	if problems := team.Check(s.Log); len(problems) > 0 || !s.D.Done() {
		t.Fatalf("the log is not sound, or the team not over: %v\n%s", problems, flowtest.Transcript(s.Log))
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
	insert := func(kind string, n int, f event.Fact) func(log) log {
		return func(l log) log {
			i := find(l, n, kind)
			e := l[i]
			e.Fact = f
			e.ID = "forged"
			return slices.Insert(l, i+1, e)
		}
	}
	remove := func(kind string, n int) func(log) log {
		return func(l log) log {
			i := find(l, n, kind)
			return slices.Delete(l, i, i+1)
		}
	}
	first := event.Turn{Round: 1, Take: 1}
	for _, test := range []struct {
		name   string
		tamper func(log) log
		want   string
	}{
		{"two takes at once", insert("assigned", 1, event.Fact{Agent: "leader", Body: event.Assigned{Turn: event.Turn{Round: 2, Take: 1}}}), "in the middle of"},
		{"a turn left out", remove("assigned", 5), "follows"},
		{"work of nobody", insert("assigned", 1, event.Fact{Agent: "cook", Body: event.Assigned{Turn: first}}), "which is not there"},
		{"told twice", insert("told", 1, event.Fact{Agent: "pm", Body: event.Told{Turn: first, Messages: []string{"message/1"}}}), "is told"},
		{"told what was never sent", insert("told", 1, event.Fact{Agent: "pm", Body: event.Told{Turn: first, Messages: []string{"message/9"}}}), "is told"},
		{"not told", func(l log) log {
			i := find(l, 5, "assigned")
			b := l[i].Body.(event.Assigned)
			b.Messages = b.Messages[:len(b.Messages)-1]
			l[i].Body = b
			return l
		}, "it was not told"},
		{"told another list in the next take", func(l log) log {
			i := find(l, 3, "assigned")
			b := l[i].Body.(event.Assigned)
			b.Messages = []string{"tasked/1"}
			l[i].Body = b
			return l
		}, "it began with"},
		{"taken back after it was told", func(l log) log {
			i := find(l, 1, "withdrawn")
			l[i].Body = event.Withdrawn{Message: "started"}
			return l
		}, "everybody has been told"},
		{"the leader stopped alone", func(l log) log {
			l[find(l, 1, "withdrawn")].Body = event.StopRequested{Target: "leader"}
			return l
		}, "not stopped alone"},
		{"work while a person is asked", insert("asked", 2, event.Fact{Agent: "leader", Body: event.Assigned{Turn: event.Turn{Round: 1, Take: 2}, Messages: []string{"started"}}}), "about trouble"},
		{"a report on what is another's", func(l log) log {
			i := find(l, 1, "reported")
			b := l[i].Body.(event.Reported)
			b.Task = "page"
			l[i].Body = b
			return l
		}, "not its task"},
		{"no verdict before it", remove("reported", 1), "does not wait for it"},
		{"mail to nobody", insert("assigned", 1, event.Fact{Body: event.Notified{To: "cook"}}), "not there to read it"},
		{"decided twice", func(l log) log {
			i := find(l, 1, "closed")
			return slices.Insert(l, i+1, l[i])
		}, "not being asked"},
		{"finished with work open", remove("reported", 2), "finished with"},
		{"finished with work not merged", remove("merged", 1), "without that of pm"},
		{"over while somebody works", insert("assigned", 2, event.Fact{Body: event.TeamEnded{Status: event.StatusSuccess}}), "the team ends while"},
		{"after the end", insert("team_ended", 1, event.Fact{Body: event.TimerFired{}}), "follows the end"},
		{"merged by a member", insert("assigned", 2, event.Fact{Agent: "pm", Body: event.Merged{Member: "pm"}}), "only the leader"},
		{"lost and nobody knew", insert("assigned", 2, event.Fact{Agent: "cook", Body: event.Lost{}}), "is lost, which is not there"},
		{"more than there is", func(l log) log {
			i := find(l, 1, "requested")
			l[i].Body = event.Requested{Turn: first, Amount: event.Amount{Tokens: 101}}
			return l
		}, "beyond the team's budget"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var said []string
			for _, p := range team.Check(test.tamper(story(t))) {
				said = append(said, p.String())
			}
			if all := strings.Join(said, "\n"); !strings.Contains(all, test.want) {
				t.Errorf("want %q, said:\n%s", test.want, all)
			}
		})
	}
}

// A team that waits for a person because of trouble is at rest, and so is one that
// is over; one in which somebody works is not.
func TestAtRest(t *testing.T) {
	s := newStage()
	for _, step := range []struct {
		line string
		rest bool
	}{
		{"start asks attempts=1", false}, {"leader spawns pm as pm", false}, {"leader tasks pm plan", false},
		{"leader fails broken", false}, {"pm concludes", true}, {"reply trouble/1 retry", false}, {"cancel", false},
		{"pm concludes", false}, {"leader concludes", true},
	} {
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
