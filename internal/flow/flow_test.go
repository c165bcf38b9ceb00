package flow_test

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"conclave/internal/event"
	"conclave/internal/flow"
)

// echo is a decider small enough to see through: it admits every reply, does
// something about each, and is over when it was cancelled.
type echo struct {
	due      []event.Fact
	done     bool
	steps    int
	restless bool // never comes to rest
}

type act struct{ on string }

func (a act) Key() string { return a.on }

func (d *echo) Due() []event.Fact {
	if len(d.due) == 0 {
		return nil
	}
	return d.due[:1]
}

func (d *echo) Step(e event.Event) flow.Ready {
	d.steps++
	var do []flow.Command
	switch b := e.Body.(type) {
	case event.Replied:
		d.due = append(d.due, event.Fact{ID: "admitted/" + e.ID, Body: event.Admitted{Ref: e.ID}})
	case event.CancelRequested:
		d.due = append(d.due, event.Fact{ID: "finished", Body: event.Finished{Status: event.StatusCancelled}})
	case event.Admitted:
		if !d.restless && len(d.due) > 0 {
			d.due = d.due[1:]
		}
		do = append(do, act{b.Ref}, flow.Tell{Work: b.Ref, Note: "go"})
	case event.Finished:
		d.due, d.done = nil, true
		do = append(do, flow.Stop{Work: "all"})
	}
	return flow.Ready{Record: d.Due(), Do: do}
}

func (d *echo) Pending() []flow.Command     { return nil }
func (d *echo) Wake() (t time.Time, b bool) { return }
func (d *echo) Done() bool                  { return d.done }

// sorter is an echo that knows its own decisions.
type sorter struct{ echo }

func (*sorter) Hears(event.Body) bool { return true }

func (*sorter) Decides(b event.Body) bool {
	switch b.(type) {
	case event.Admitted, event.Finished:
		return true
	}
	return false
}

// stamper numbers facts from 1, a second apart.
func stamper() func(event.Fact) event.Event {
	var seq uint64
	return func(f event.Fact) event.Event {
		seq++
		return event.Event{Flow: "f", Seq: seq, At: time.Unix(int64(seq), 0).UTC(), Fact: f}
	}
}

func reply(id string) event.Fact  { return event.Fact{ID: id, Body: event.Replied{Gate: "g"}} }
func cancel(id string) event.Fact { return event.Fact{ID: id, Body: event.CancelRequested{}} }

func ids(log []event.Event) string {
	var out []string
	for _, e := range log {
		out = append(out, fmt.Sprintf("%d:%s", e.Seq, e.ID))
	}
	return strings.Join(out, " ")
}

// TestAdvance: what an input leads to is recorded before the next input is
// looked at, commands come in the order of what gave rise to them, and nothing
// follows the end.
func TestAdvance(t *testing.T) {
	d := &echo{}
	log, do := flow.Advance(d, stamper(), reply("r1"), reply("r2"), cancel("c"), reply("late"))
	if got, want := ids(log), "1:r1 2:admitted/r1 3:r2 4:admitted/r2 5:c 6:finished"; got != want {
		t.Errorf("recorded %s\nwant     %s", got, want)
	}
	want := []flow.Command{
		act{"r1"}, flow.Tell{Work: "r1", Note: "go"}, act{"r2"}, flow.Tell{Work: "r2", Note: "go"}, flow.Stop{Work: "all"},
	}
	if !reflect.DeepEqual(do, want) {
		t.Errorf("asked for %v\nwant      %v", do, want)
	}
	for i, key := range []string{"r1", "r1", "r2", "r2", "all"} {
		if do[i].Key() != key {
			t.Errorf("command %d is about %q, want %q", i, do[i].Key(), key)
		}
	}
	if log, do := flow.Advance(d, stamper(), reply("later")); len(log)+len(do) > 0 {
		t.Errorf("after the end: %v, %v", log, do)
	}
}

// TestAdvanceDue: what was due before, because a log was cut, comes first, and
// no input is needed for it.
func TestAdvanceDue(t *testing.T) {
	cut := stamper()
	for _, inputs := range [][]event.Fact{nil, {reply("r2")}} {
		d := &echo{}
		flow.Fold(d, []event.Event{cut(reply("r1"))})
		if d.steps != 1 {
			t.Fatalf("folding one event took %d steps", d.steps)
		}
		log, _ := flow.Advance(d, stamper(), inputs...)
		want := "1:admitted/r1"
		if len(inputs) > 0 {
			want += " 2:r2 3:admitted/r2"
		}
		if got := ids(log); got != want {
			t.Errorf("recorded %s, want %s", got, want)
		}
	}
}

// TestAdvanceRestless: a decider that does not come to rest is stopped before
// it has filled the memory.
func TestAdvanceRestless(t *testing.T) {
	defer func() {
		if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "no end of decisions") {
			t.Errorf("recovered %v", r)
		}
	}()
	flow.Advance(&echo{restless: true}, stamper(), reply("r"))
}

// TestReplay: a log that was written is sound, and one that was changed is
// reported with the number of the event where it shows.
func TestReplay(t *testing.T) {
	sound := func() []event.Event {
		log, _ := flow.Advance(&echo{}, stamper(), reply("r1"), reply("r2"), cancel("c"))
		return log
	}
	forged := event.Event{Seq: 3, Fact: event.Fact{ID: "admitted/x", Body: event.Admitted{Ref: "x"}}}
	for _, test := range []struct {
		name   string
		tamper func([]event.Event) []event.Event
		want   string // in the error; empty for none
	}{
		{"untouched", func(l []event.Event) []event.Event { return l }, ""},
		{"cut", func(l []event.Event) []event.Event { return l[:3] }, ""},
		{"decision left out", func(l []event.Event) []event.Event { return append(l[:1:1], l[2:]...) }, "event 3 is replied r2"},
		{"input left out", func(l []event.Event) []event.Event { return l[1:] }, "event 2 is admitted admitted/r1"},
		{"other body", func(l []event.Event) []event.Event { l[3].Body = event.Admitted{Ref: "r9"}; return l }, "event 4 is"},
		{"other kind", func(l []event.Event) []event.Event { l[3].Body = event.Refused{Ref: "r2"}; return l }, "event 4 is refused"},
		{"other id", func(l []event.Event) []event.Event { l[3].ID = "x"; return l }, "event 4 is"},
		{"other agent", func(l []event.Event) []event.Event { l[3].Agent = "ada"; return l }, "event 4 is"},
		{"swapped", func(l []event.Event) []event.Event { l[0], l[1] = l[1], l[0]; return l }, "event 2 is"},
		{"forged", func(l []event.Event) []event.Event { return append(l[:2:2], forged) }, "event 3 is admitted admitted/x {\"ref\":\"x\"}, which nothing"},
		{"after the end", func(l []event.Event) []event.Event {
			return append(l, event.Event{Seq: 7, Fact: reply("late")})
		}, "event 7 (replied) follows the end"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := flow.Replay(&sorter{}, test.tamper(sound()))
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
	if err := flow.Replay(&echo{}, append(sound()[:2:2], forged)); err != nil {
		t.Errorf("a decider that does not know its decisions takes it for an input: %v", err)
	}
}

// TestSame: facts are the same when their wire forms are.
func TestSame(t *testing.T) {
	fact := func(b event.Body) event.Fact { return event.Fact{ID: "i", Agent: "a", Body: b} }
	for _, test := range []struct {
		name string
		a, b event.Fact
		want bool
	}{
		{"equal", fact(event.Lost{Code: "x"}), fact(event.Lost{Code: "x"}), true},
		{"nil and empty", fact(event.Assigned{Seen: nil}), fact(event.Assigned{Seen: event.Seen{}}), true},
		{"white space in JSON", fact(event.ToolCalled{Tool: event.ToolCall{Input: []byte(`{"a": 1}`)}}), fact(event.ToolCalled{Tool: event.ToolCall{Input: []byte(`{"a":1}`)}}), true},
		{"body", fact(event.Lost{Code: "x"}), fact(event.Lost{Code: "y"}), false},
		{"kind", fact(event.Admitted{Ref: "x"}), fact(event.Granted{Request: "x"}), false},
		{"id", fact(event.Lost{}), event.Fact{ID: "j", Agent: "a", Body: event.Lost{}}, false},
		{"agent", fact(event.Lost{}), event.Fact{ID: "i", Agent: "b", Body: event.Lost{}}, false},
		{"unknown", fact(event.Unknown{Kind: "k", Raw: []byte("1")}), fact(event.Unknown{Kind: "k", Raw: []byte("1")}), true},
		{"unknown kinds", fact(event.Unknown{Kind: "k", Raw: []byte("1")}), fact(event.Unknown{Kind: "l", Raw: []byte("1")}), false},
		{"what cannot be written", fact(unwritable()), fact(unwritable()), false},
	} {
		if got := flow.Same(test.a, test.b); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
	due := &echo{due: []event.Fact{fact(unwritable())}}
	if err := flow.Replay(due, []event.Event{{Seq: 1, Fact: reply("r")}}); err == nil || !strings.Contains(err.Error(), "NaN") {
		t.Errorf("a decision that cannot be written is reported as %v", err)
	}
}

// unwritable is a body that JSON cannot hold.
func unwritable() event.Body {
	return event.Proposed{Outcomes: []event.Outcome{{Answer: &event.Answer{Similarity: math.NaN()}}}}
}
