package talk_test

import (
	"slices"
	"strings"
	"testing"

	"conclave/internal/event"
	"conclave/internal/talk"
)

// story is a sound log with one of everything in it.
func story(t *testing.T) []event.Event {
	s := newStage().Play(t, `
start interactive
staff approve budget=100 asks
say "one"
say "two"
host requests 10
host calls "" c1=launch_run request=request/1 tokens=5
host wants c1 "compare"
amend want/host/1/c1 "compare more"
reply launch/want/host/1/c1 approve revision=2
say "three"
withdraw said/3
run returns "done" tokens=20
host returns c1 "done"
host hears said/2
host wishes c2 shell "rm"
reply permission/wish/c2 once
host concludes
crash
say "four"
host wants c3 "again"
reply launch/want/host/2/c3 deny
crash
host concludes
`)
	if problems := talk.Check(s.Log); len(problems) > 0 {
		t.Fatalf("the log is not sound: %v", problems)
	}
	return s.Log
}

// find is the nth event that a function picks.
func find(log []event.Event, n int, is func(event.Event) bool) int {
	for i, e := range log {
		if is(e) {
			if n--; n == 0 {
				return i
			}
		}
	}
	return -1
}

func kind(k string) func(event.Event) bool {
	return func(e event.Event) bool { return event.Kind(e.Body) == k }
}

// TestCheckTampered changes a sound log in one place and looks for what is said
// about it, besides that it does not replay.
func TestCheckTampered(t *testing.T) {
	type log = []event.Event
	with := func(k string, n int, change func(*event.Event)) func(log) log {
		return func(l log) log {
			change(&l[find(l, n, kind(k))])
			return l
		}
	}
	insert := func(k string, n int, b event.Body) func(log) log {
		return func(l log) log {
			i := find(l, n, kind(k))
			e := l[i]
			e.Fact = event.Fact{ID: "forged", Body: b}
			return slices.Insert(l, i+1, e)
		}
	}
	remove := func(k string, n int) func(log) log {
		return func(l log) log {
			i := find(l, n, kind(k))
			return slices.Delete(l, i, i+1)
		}
	}
	for _, test := range []struct {
		name   string
		tamper func(log) log
		want   string
	}{
		{"admitted of nobody", insert("said", 1, event.Admitted{Ref: "nobody"}), `admits "nobody", which nobody said`},
		{"launched twice", func(l log) log {
			i := find(l, 1, kind("launched"))
			return slices.Insert(l, i+1, l[i])
		}, "twice"},
		{"launched by nobody", with("launched", 1, func(e *event.Event) {
			b := e.Body.(event.Launched)
			b.Want = "nobody"
			e.Body = b
		}), "which nobody wanted"},
		{"the revision before", with("launched", 1, func(e *event.Event) {
			b := e.Body.(event.Launched)
			b.Revision = 1
			e.Body = b
		}), "otherwise than it was wanted last"},
		{"something else", with("launched", 1, func(e *event.Event) {
			b := e.Body.(event.Launched)
			l := *b.Launch
			l.Task = event.Inline("delete everything")
			b.Launch = &l
			e.Body = b
		}), "otherwise than it was wanted last"},
		{"not approved", remove("closed", 1), "which nobody approved"},
		{"approved by nobody", with("closed", 1, func(e *event.Event) {
			b := e.Body.(event.Closed)
			b.How, b.Reply = "ending", ""
			e.Body = b
		}), "without a reply"},
		{"never asked", func(l log) log {
			i := find(l, 1, kind("wanted"))
			e := l[i]
			launch := e.Body.(event.Wanted).Launch
			e.Fact = event.Fact{ID: "forged", Body: event.Launched{Run: "run-x", Want: e.ID, Launch: &launch, Revision: 1}}
			return append(l[:i+1:i+1], e)
		}, "without asking"},
		{"denied and launched", with("closed", 1, func(e *event.Event) {
			b := e.Body.(event.Closed)
			b.Choice = event.LaunchDeny
			e.Body = b
		}), "of which something has come already"},
		{"closed twice", insert("closed", 1, event.Closed{Gate: "launch/want/host/1/c1"}), "which is not being asked"},
		{"more than there is", with("launched", 1, func(e *event.Event) {
			b := e.Body.(event.Launched)
			n := int64(1000)
			b.Grant.Tokens = &n
			e.Body = b
		}), "beyond the session's budget"},
		{"returned twice", insert("returned", 1, event.Returned{Run: "run-x", Status: event.StatusSuccess}), "which is not going on"},
		{"returned without a status", with("returned", 1, func(e *event.Event) {
			b := e.Body.(event.Returned)
			b.Status = ""
			e.Body = b
		}), "without a status"},
		{"turns that overlap", remove("concluded", 1), "in the middle of"},
		{"a turn that is left out", with("assigned", 2, func(e *event.Event) {
			b := e.Body.(event.Assigned)
			b.Round = 7
			e.Body = b
		}), "turn 7.1 follows 1.1"},
		{"a turn about nothing", with("assigned", 1, func(e *event.Event) {
			b := e.Body.(event.Assigned)
			b.Messages = nil
			e.Body = b
		}), "with nothing to hear"},
		{"heard twice", with("told", 1, func(e *event.Event) {
			b := e.Body.(event.Told)
			b.Messages = []string{"said/1"}
			e.Body = b
		}), `"said/1" is heard twice`},
		{"heard and never said", with("told", 1, func(e *event.Event) {
			b := e.Body.(event.Told)
			b.Messages = []string{"said/9"}
			e.Body = b
		}), "which was not admitted"},
		{"heard after it was taken back", with("assigned", 2, func(e *event.Event) {
			b := e.Body.(event.Assigned)
			b.Messages = []string{"said/3"}
			e.Body = b
		}), "which was taken back"},
		{"asked about another revision", with("asked", 2, func(e *event.Event) {
			b := e.Body.(event.Asked)
			b.Revision = 5
			e.Body = b
		}), "asks about revision 5"},
		{"asked about what nobody wants", with("asked", 1, func(e *event.Event) {
			b := e.Body.(event.Asked)
			b.Ref = "nobody"
			e.Body = b
		}), "which nobody wants"},
		{"changed after it was launched", func(l log) log {
			i, j := find(l, 1, kind("amended")), find(l, 1, kind("launched"))
			e, a := l[i], l[i+1]
			l = slices.Insert(l, j+1, e, a)
			return slices.Delete(l, i, i+2)
		}, "which is not being asked about"},
		{"refused after it was launched", insert("launched", 1, event.Refused{Ref: "want/host/1/c1"}), "of which something has come already"},
		{"taken back after it was heard", with("withdrawn", 1, func(e *event.Event) {
			e.Body = event.Withdrawn{Message: "said/1"}
		}), "which was heard"},
		{"no beginning", func(l log) log { return l[1:] }, "a log begins with session_started"},
	} {
		t.Run(test.name, func(t *testing.T) {
			log := test.tamper(slices.Clone(story(t)))
			for i := range log {
				log[i].Seq = uint64(i + 1)
			}
			var all []string
			for _, p := range talk.Check(log) {
				all = append(all, p.String())
			}
			if got := strings.Join(all, "\n"); !strings.Contains(got, test.want) {
				t.Errorf("%q is not among the problems:\n%s", test.want, got)
			}
		})
	}
}

// TestCheckForged changes every decision of a sound log, one after the other: each
// time the log is not sound any more.
func TestCheckForged(t *testing.T) {
	whole := story(t)
	var s talk.Session
	for i, e := range whole {
		if !s.Decides(e.Body) {
			continue
		}
		left := slices.Delete(slices.Clone(whole), i, i+1)
		for j := range left {
			left[j].Seq = uint64(j + 1)
		}
		if i+1 < len(whole) && len(talk.Check(left)) == 0 {
			t.Errorf("without event %d (%s) the log is called sound", e.Seq, e.ID)
		}
		renamed := slices.Clone(whole)
		renamed[i].ID += "x"
		if len(talk.Check(renamed)) == 0 {
			t.Errorf("with another id for event %d (%s) the log is called sound", e.Seq, e.ID)
		}
	}
}
