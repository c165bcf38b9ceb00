package tui

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"conclave/internal/event"
	"conclave/internal/live"
)

// long is a run of 10,000 rows of each of five agents, who all are speaking.
func long(b testing.TB, w, h, rows int) *scene {
	s := newScene(b, w, h, "ada", "bob", "cyd", "dan", "eve")
	s.start("task", event.Rules{})
	var items []fed
	add := func(a event.AgentID, body event.Body) {
		items = append(items, fed{flow: s.flow, event: s.event(s.flow, a, body)})
	}
	for _, a := range s.still.team.Agents {
		add(a.ID, event.Assigned{Turn: one, MayAnswer: true})
	}
	for i := range rows {
		for _, a := range s.still.team.Agents {
			switch i % 3 {
			case 0:
				add(a.ID, event.Called{Turn: one, Call: i, Text: event.Inline(fmt.Sprintf("Paragraph **%d** of what I have to say about `it`.\n\n- one\n- two\n", i))})
			case 1:
				id := fmt.Sprint("c", i)
				add(a.ID, event.ToolCalled{Turn: one, Tool: event.ToolCall{ID: id, Name: "shell", Input: []byte(`{"command":"go test ./..."}`)}})
				add(a.ID, event.ToolReturned{Turn: one, Call: id, Name: "shell", Result: event.Inline("ok\nmore\n")})
			default:
				add(a.ID, event.Told{Turn: one, Note: "news", Seen: event.Seen{"ada": i}})
			}
		}
	}
	s.Update(batch{items: items})
	return s
}

// One frame while five agents speak, 200 tokens a second each, drawn 30 times a
// second: 7 tokens of each have come. The budget is 8 ms in 99 of 100.
func BenchmarkFrame(b *testing.B) {
	for _, c := range []struct {
		name string
		w, h int
		tab  int
		both bool
	}{{"all", 120, 40, 0, false}, {"agent", 120, 40, 1, false}, {"split", 250, 60, 1, true}} {
		b.Run(c.name, func(b *testing.B) {
			s := long(b, c.w, c.h, 10_000)
			s.openTab(c.tab)
			s.split = c.both
			s.Model.View()
			took := make([]time.Duration, 0, b.N)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				var items []fed
				for _, a := range s.still.team.Agents {
					for j := range 7 {
						word := " token"
						if (i*7+j)%40 == 0 {
							word = ".\n\nNext **part**:"
						}
						items = append(items, fed{flow: s.flow, delta: &live.Delta{Flow: s.flow, Agent: a.ID, Turn: one, Kind: live.Text, Text: word}})
					}
				}
				if i%300 == 299 { // the turn goes on with what was said
					for _, a := range s.still.team.Agents {
						items = append(items, fed{flow: s.flow, event: s.event(s.flow, a.ID, event.Called{Turn: one, Text: event.Inline("said")})})
					}
				}
				s.now = s.now.Add(33 * time.Millisecond)
				start := time.Now()
				s.Update(batch{items: items})
				s.Model.View()
				took = append(took, time.Since(start))
			}
			b.StopTimer()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
		})
	}
}

// A frame costs what is to be seen, not what there is: rows that are out of sight
// are not drawn.
func TestFrameDrawsTheWindow(t *testing.T) {
	s := long(t, 80, 24, 2000)
	s.openTab(1)
	s.Model.View()
	x := s.laneOf("ada")
	if n := x.Len(); n < 2000 {
		t.Fatalf("the lane has %d rows", n)
	}
	few := testing.AllocsPerRun(20, func() {
		s.lanes.changed()
		s.Model.View()
	})
	short := long(t, 80, 24, 60)
	short.openTab(1)
	short.Model.View()
	less := testing.AllocsPerRun(20, func() {
		short.lanes.changed()
		short.Model.View()
	})
	if few > 1.2*less+20 {
		t.Errorf("a frame takes %v allocations with 2000 rows and %v with 60", few, less)
	}
}
