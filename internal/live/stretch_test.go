package live

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/event"
)

// heard is what somebody hears who listens for a moment.
func heard(h *Hub) []Delta {
	deltas, stop := h.Listen()
	stop()
	var out []Delta
	for d := range deltas {
		out = append(out, d)
	}
	return out
}

// Whoever begins to listen is given what is being said from its beginning, in few
// pieces; of calls that have ended, and of flows that nobody drives, nothing.
func TestListenInTheMiddle(t *testing.T) {
	var h Hub
	turn := event.Turn{Round: 1, Take: 1}
	say := func(kind Kind, text string) Delta {
		return Delta{Flow: "run-1", Agent: "a", Turn: turn, Call: 1, Kind: kind, Text: text}
	}
	for _, d := range []Delta{say(Thinking, "H"), say(Thinking, "m."), say(Text, "We"), say(Text, "ll"), say(Tool, "read"), say(Tool, "write")} {
		h.Publish(d)
	}
	first := say(Thinking, "Hm.")
	first.Anew = true
	if diff := cmp.Diff([]Delta{first, say(Text, "Well"), say(Tool, "read"), say(Tool, "write")}, heard(&h)); diff != "" {
		t.Errorf("in the middle (-want +got):\n%s", diff)
	}
	next := Delta{Flow: "run-1", Agent: "a", Turn: turn, Call: 2, Kind: Text, Text: "Again", Anew: true}
	h.Publish(Delta{Flow: "run-1", Agent: "a", Turn: turn, Call: 2, Kind: Text, Text: "Again"})
	if diff := cmp.Diff([]Delta{next}, heard(&h)); diff != "" {
		t.Errorf("in the next call, the end of the last one got lost (-want +got):\n%s", diff)
	}
	h.Publish(say(End, ""))
	if got := heard(&h); got != nil || len(h.said) > 0 {
		t.Errorf("after the end: %v, kept: %v", got, h.said)
	}
	h.Publish(next)
	h.Forget("run-1")
	if got := heard(&h); got != nil {
		t.Errorf("after the driver's end: %v", got)
	}
}

// However much is said, in however small or large pieces, no more than so much
// is kept, and it is the end of it, whole characters, with a mark before it.
func TestKeptIsBounded(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var h Hub
		var all strings.Builder
		for all.Len() < 5*keep {
			text := strings.Repeat("言葉 ", 1+rng.IntN(1<<rng.IntN(12)))
			all.WriteString(text)
			kind := Text
			if rng.IntN(50) == 0 {
				kind = Thinking
			}
			h.Publish(Delta{Flow: "f", Agent: "a", Call: 1, Kind: kind, Text: text})
			if s := h.said["f"]["a"]; s.size > keep && len(s.pieces[len(s.pieces)-1].text) < keep {
				t.Fatalf("seed %d: %d bytes are kept", seed, s.size)
			}
		}
		got, room := "", 0
		for i, d := range heard(&h) {
			if d.Anew != (i == 0) {
				t.Errorf("seed %d: piece %d is anew: %v", seed, i, d.Anew)
			}
			got += d.Text
			room += piece
		}
		rest, marked := strings.CutPrefix(got, cutMark)
		if !marked || !strings.HasSuffix(all.String(), rest) || !utf8.ValidString(rest) || len(rest)+room > keep || len(rest) < keep/4 {
			t.Errorf("seed %d: %d bytes of %d, marked: %v", seed, len(rest), all.Len(), marked)
		}
	}
}

// Thousands of tools take no more room than words do.
func TestManyPieces(t *testing.T) {
	var h Hub
	for i := range 100_000 {
		h.Publish(Delta{Flow: "f", Agent: "a", Call: 1, Kind: Tool, Text: fmt.Sprint(i)})
	}
	if n := len(heard(&h)); n == 0 || n > keep/piece {
		t.Errorf("%d pieces are kept", n)
	}
}

// Whoever comes at whatever moment misses nothing and hears nothing twice.
func TestListenAtAnyMoment(t *testing.T) {
	var h Hub
	const words = 200
	want := ""
	for i := range words {
		want += fmt.Sprintf("%d ", i)
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			deltas, stop := h.Listen()
			defer stop()
			got := ""
			for d := range deltas {
				if got += d.Text; d.Kind == Tool {
					break
				}
			}
			if got != want+"done" {
				t.Errorf("heard %q", got)
			}
		})
	}
	for i := range words {
		h.Publish(Delta{Flow: "f", Agent: "a", Call: 1, Kind: Text, Text: fmt.Sprintf("%d ", i)})
	}
	h.Publish(Delta{Flow: "f", Agent: "a", Call: 1, Kind: Tool, Text: "done"})
	wg.Wait()
}

// Has tells text that an event has said from text that none has.
func TestPlace(t *testing.T) {
	turn := func(round, take int) event.Turn { return event.Turn{Round: round, Take: take} }
	called, _ := Said(event.Event{Fact: event.Fact{Body: event.Called{Turn: turn(2, 1), Call: 3}}})
	failed, _ := Said(event.Event{Fact: event.Fact{Body: event.Failed{Turn: turn(2, 1)}}})
	if _, ok := Said(event.Event{Fact: event.Fact{Body: event.ToolReturned{}}}); ok {
		t.Error("a tool's result says what an agent has said")
	}
	for _, tt := range []struct {
		turn           event.Turn
		call           int
		called, failed bool
	}{
		{turn(1, 9), 9, true, true},
		{turn(2, 0), 9, true, true},
		{turn(2, 1), 3, true, true},
		{turn(2, 1), 4, false, true},
		{turn(2, 1), 0, false, true}, // of a driver that does not count
		{turn(2, 2), 1, false, false},
		{turn(3, 1), 1, false, false},
	} {
		d := Delta{Turn: tt.turn, Call: tt.call}
		if a, b := called.Has(d), failed.Has(d); a != tt.called || b != tt.failed {
			t.Errorf("%s call %d: said by the call: %v, by the failure: %v", tt.turn, tt.call, a, b)
		}
	}
}

// BenchmarkPublish is what a word costs with many agents and nobody listening.
func BenchmarkPublish(b *testing.B) {
	var h Hub
	var agents []event.AgentID
	for i := range 1000 {
		agents = append(agents, event.AgentID(fmt.Sprint("agent", i)))
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		h.Publish(Delta{Flow: "run", Agent: agents[i%len(agents)], Call: 1, Kind: Text, Text: "word "})
	}
}
