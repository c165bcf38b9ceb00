package view_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"conclave/internal/event"
	"conclave/internal/view"
)

func timelineOf(t *testing.T, lines ...string) view.Timeline {
	t.Helper()
	var tl view.Timeline
	for _, e := range mustEvents(t, opening("")+strings.Join(lines, "\n")) {
		tl = tl.Apply(e)
	}
	return tl
}

// tools is the line of every tool item.
func tools(tl view.Timeline) string {
	var out []string
	for _, i := range tl.All(0) {
		if i.Kind == view.ItemTool {
			out = append(out, i.Line())
		}
	}
	return strings.Join(out, "\n")
}

func TestToolCalls(t *testing.T) {
	const (
		begin   = `+0s ada assigned s1 {"round":1,"take":1}`
		call    = `+1s ada called c1 {"round":1,"take":1,"call":1,"tools":[{"id":"t1","name":"shell","input":{"command":"ls"}}]}`
		own     = `+1s ada tool_called c1 {"round":1,"take":1,"tool":{"id":"t1","name":"shell","input":{"command":"ls"}}}`
		after   = `+1s ada called c2 {"round":1,"take":1,"call":1,"tools":[{"id":"t1","name":"shell","input":{"command":"ls"}}]}`
		back    = `+1s ada tool_returned r1 {"round":1,"take":1,"call":"t1","name":"shell","result":{"text":"a b","size":3}}`
		failed  = `+1s ada tool_returned r1 {"round":1,"take":1,"call":"t1","name":"shell","result":{"text":"no","size":2},"error":true}`
		cut     = `+1s ada interrupted i1 {"round":1,"take":1,"why":"x"}`
		vote    = `+1s ada called c1 {"round":1,"take":1,"call":1,"tools":[{"id":"t1","name":"vote","input":{}}]}`
		propose = `+0s ada proposed p1 {"round":1,"take":1}`
		refuse  = `+0s ada refused v1 {"ref":"p1","code":"no_vote","why":"not now"}`
		voteBad = `+0s ada tool_returned r1 {"round":1,"take":1,"call":"t1","name":"vote","result":{"text":"not now","size":7},"error":true}`
		voteOK  = `+0s ada tool_returned r1 {"round":1,"take":1,"call":"t1","name":"vote","result":{"text":"ok","size":2}}`
		again   = `+1s ada assigned s2 {"round":1,"take":2}`
		other   = `+1s ada tool_returned r2 {"round":1,"take":2,"call":"t1","name":"shell"}`
	)
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"open", []string{begin, call}, `agent1 shell {"command":"ls"} is running`},
		{"returned", []string{begin, call, back}, `agent1 shell {"command":"ls"} returned: a b`},
		{"failed", []string{begin, call, failed}, `agent1 shell {"command":"ls"} failed: no`},
		{"of a backend with its own loop", []string{begin, own, back}, `agent1 shell {"command":"ls"} returned: a b`},
		{"reported twice while open", []string{begin, own, after}, `agent1 shell {"command":"ls"} is running`},
		{"cut", []string{begin, call, cut}, `agent1 shell {"command":"ls"} has an unknown outcome`},
		{"cut and returned late", []string{begin, call, cut, again, back}, `agent1 shell {"command":"ls"} returned: a b`},
		{"the same id in another take", []string{begin, call, cut, again, other},
			`agent1 shell {"command":"ls"} has an unknown outcome` + "\n" + `agent1 shell returned`},
		{"without its call", []string{begin, back}, `agent1 shell returned: a b`},
		{"an outcome", []string{begin, vote, propose, voteOK}, ""},
		{"an outcome refused", []string{begin, vote, propose, refuse, voteBad}, ""},
		{"an outcome that failed without a verdict", []string{begin, vote, voteBad}, `agent1 vote failed: not now`},
	} {
		if got := tools(timelineOf(t, c.lines...)); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

// Every kind of the vocabulary has words of its own or is left out on purpose.
func TestEveryKindHasWords(t *testing.T) {
	hidden := map[string]bool{
		"granted": true, "proposed": true, "admitted": true, "timer_fired": true,
		"requested": true, "called": true, "wished": true, "replied": true, "held": true, "drafted": true, // shown if there is something in them
	}
	for _, k := range event.Kinds() {
		b, err := event.DecodeBody(k, []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		tl := view.Timeline{}.Apply(event.Event{Fact: event.Fact{ID: k, Agent: "ada", Body: b}})
		if hidden[k] != (tl.Len() == 0) {
			t.Errorf("%s: %d items", k, tl.Len())
		}
		for _, i := range tl.All(0) {
			if i.Kind == view.ItemUnknown {
				t.Errorf("%s is shown as %q", k, i.Line())
			}
		}
	}
}

// That somebody reads a question is not shown, and neither is the verdict on it;
// other verdicts are.
func TestHoldsAreNotShown(t *testing.T) {
	tl := timelineOf(t,
		`+0s - held in/1 {"gate":"override","on":true}`, `+0s - held in/2 {"gate":"gone"}`,
		`+0s - admitted admitted/in/1 {"ref":"in/1"}`, `+0s - refused refused/in/2 {"ref":"in/2","code":"gate","why":"no"}`,
		`+0s - refused refused/in/3 {"ref":"in/3","code":"gate","why":"not that"}`)
	var got []string
	for _, i := range tl.All(0) {
		got = append(got, i.Line())
	}
	if len(got) != 2 || !strings.Contains(got[1], "not that") { // after the beginning
		t.Errorf("shown: %q", got)
	}
}

// longLog is n tool calls of one agent, each with its result.
func longLog(n int) []event.Event {
	turn := event.Turn{Round: 1, Take: 1}
	var log []event.Event
	add := func(b event.Body) {
		at := time.Unix(int64(len(log)), 0)
		log = append(log, event.Event{Seq: uint64(len(log) + 1), At: at, Fact: event.Fact{Agent: "ada", Body: b}})
	}
	add(event.Assigned{Turn: turn})
	for range n {
		add(event.Called{Turn: turn, Tools: []event.ToolCall{{ID: "t", Name: "shell"}}})
		add(event.ToolReturned{Turn: turn, Call: "t", Name: "shell", Result: event.Inline("done")})
	}
	return log
}

// Applying an event to a long timeline takes no more memory than to a short one.
func TestTimelineApplyIsConstant(t *testing.T) {
	log := longLog(20_000)
	var tl view.Timeline
	for _, e := range log {
		tl = tl.Apply(e)
	}
	more := log[1:1001]
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, e := range more {
		tl = tl.Apply(e)
	}
	runtime.ReadMemStats(&after)
	per := (after.TotalAlloc - before.TotalAlloc) / uint64(len(more))
	if per > 4<<10 {
		t.Errorf("an event costs %d bytes on a timeline of %d items", per, tl.Len())
	}
	if got := tl.At(tl.Len() - 1); got.Tool == nil || got.Tool.State != view.ToolOK {
		t.Errorf("the last item is %q", got.Line())
	}
}

func BenchmarkTimeline(b *testing.B) {
	log := longLog(50_000)
	for b.Loop() {
		var tl view.Timeline
		for _, e := range log {
			tl = tl.Apply(e)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(log)), "ns/event")
}

func BenchmarkCard(b *testing.B) {
	log := longLog(50_000)
	for b.Loop() {
		var c view.Card
		for _, e := range log {
			c = c.Apply(e)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(log)), "ns/event")
}
