package tui

import (
	"testing"

	"conclave/internal/event"
	"conclave/internal/live"
	"conclave/internal/view"
)

// words are what is being said.
func (s *speech) words() string {
	out := ""
	for i := range s.parts {
		out += s.parts[i].text.String()
	}
	return out
}

// Live text and events come by different ways. Whatever the order, what an event
// has said is not said live as well, and what it has not said is; who is told
// anew hears nothing twice.
func TestSpeech(t *testing.T) {
	say := func(call int, text string) live.Delta {
		return live.Delta{Agent: "ada", Turn: one, Call: call, Kind: live.Text, Text: text}
	}
	anew := func(call int, text string) live.Delta {
		d := say(call, text)
		d.Anew = true
		return d
	}
	end := func(call int) live.Delta {
		return live.Delta{Agent: "ada", Turn: one, Call: call, Kind: live.End}
	}
	called := func(call int) event.Body { return event.Called{Turn: one, Call: call} }
	two := event.Turn{Round: 1, Take: 2}
	for _, tt := range []struct {
		name  string
		steps []any
		want  string
	}{
		{"while it is said", []any{say(1, "a"), say(1, "b")}, "ab"},
		{"the call has ended, its event is not there", []any{say(1, "a"), end(1)}, "a"},
		{"the event is there", []any{say(1, "a"), end(1), called(1)}, ""},
		{"the event was quicker", []any{called(1), say(1, "a"), end(1)}, ""},
		{"the next call was quicker than the event", []any{say(1, "a"), end(1), say(2, "b"), called(1), say(2, "c")}, "bc"},
		{"told anew", []any{say(1, "a"), say(1, "b"), anew(1, "abc"), say(1, "d")}, "abcd"},
		{"told anew too late", []any{called(1), anew(1, "abc"), end(1), say(2, "d")}, "d"},
		{"the turn has failed", []any{say(1, "a"), event.Failed{Turn: one}, say(1, "b")}, ""},
		{"the next take", []any{event.Failed{Turn: one}, live.Delta{Agent: "ada", Turn: two, Call: 1, Text: "x"}}, "x"},
		{"a driver that does not count calls", []any{say(0, "a"), called(1), say(0, "b")}, "b"},
		{"only an end", []any{end(1)}, ""},
	} {
		s := newStory("run-1")
		for i, x := range tt.steps {
			switch x := x.(type) {
			case live.Delta:
				s.hear(x)
			case event.Body:
				e := event.Event{Flow: "run-1", Seq: uint64(i + 1), Fact: event.Fact{Agent: "ada", Body: x}}
				s.apply(e, e)
			}
		}
		if got := s.speech("ada").words(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// The text of a call is drawn by itself, whatever was said in the one before.
func TestSpeechOfTwoCalls(t *testing.T) {
	s := newScene(t, 80, 24, "ada")
	s.start("Do it", event.Defaults(event.Mode{Single: true}))
	s.on("ada", event.Assigned{Turn: one, MayAnswer: true})
	s.tab = 1
	hear := func(call int, text string) {
		s.Update(batch{items: []fed{{flow: s.flow, delta: &live.Delta{Flow: s.flow, Agent: "ada", Turn: one, Call: call, Kind: live.Text, Text: text}}}})
	}
	hear(1, "Merge sort.")
	s.see("Merge sort.")
	hear(2, "Heap sort.")
	s.see("Heap sort.")
	s.gone("Merge sort.")
	if l, _ := s.story.card.Agent("ada"); l.State != view.StateWorking {
		t.Errorf("it is %s", l.State)
	}
}

// The words of a run may be there before the event that launches it.
func TestWordsBeforeTheRun(t *testing.T) {
	s := newScene(t, 80, 24, "ada")
	s.utter("ada", live.Text, "It begins ")
	s.utter("ada", live.Text, "like this.")
	s.start("Do it", event.Defaults(event.Mode{Single: true}))
	s.on("ada", event.Assigned{Turn: one, MayAnswer: true})
	s.tab = 1
	s.see("It begins like this.")
}
