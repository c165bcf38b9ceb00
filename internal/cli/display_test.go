package cli

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-runewidth"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/live"
	"conclave/internal/view"
)

// In any terminal the display fits, and what matters most is there.
func TestBelowFits(t *testing.T) {
	card := view.Card{}
	for i := range 4 {
		card.Agents = append(card.Agents, view.AgentLine{
			ID: event.AgentID(fmt.Sprintf("somebody-with-a-long-name-%d", i)), Label: event.Label(fmt.Sprintf("agent%d", i+1)),
			State: view.StateWorking, Round: 3, Answers: 2,
		})
	}
	for width := 1; width < 120; width += 7 {
		for height := 1; height < 12; height++ {
			tm := &terminal{card: card, saying: speeches{}, id: "run-20261115-084210-k3f9"}
			tm.saying.hear(live.Delta{Agent: card.Agents[0].ID}, strings.Repeat("言葉 ", 50))
			lines := tm.below(width, height)
			if len(lines) > height {
				t.Errorf("%d lines in a height of %d", len(lines), height)
			}
			for _, l := range lines {
				if w := runewidth.StringWidth(l); w > max(width-1, 3) {
					t.Errorf("%q takes %d of %d columns", l, w, width)
				}
			}
			if !strings.Contains(strings.Join(lines, "\n"), "0:00") && width > 8 {
				t.Errorf("no clock in %dx%d: %q", width, height, lines)
			}
		}
	}
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		text    string
		columns int
		want    []string
	}{
		{"one two three", 20, []string{"one two three"}},
		{"one two three", 7, []string{"one two", "three"}},
		{"one two three", 4, []string{"one", "two", "thr…"}},
		{"言葉 言葉", 5, []string{"言葉", "言葉"}},
		{"", 5, []string{""}},
	} {
		if diff := cmp.Diff(tt.want, wrap(tt.text, tt.columns)); diff != "" {
			t.Errorf("%q in %d columns (-want +got):\n%s", tt.text, tt.columns, diff)
		}
	}
}

// Words and events come by different ways. Whatever the order, each word is
// shown with its own turn.
func TestSpeechOfTwoTurns(t *testing.T) {
	first, next := event.Turn{Round: 1, Take: 1}, event.Turn{Round: 2, Take: 1}
	say := func(turn event.Turn, text string) live.Delta {
		return live.Delta{Agent: "ada", Turn: turn, Kind: live.Text, Text: text}
	}
	ends := func(turn event.Turn) event.Event {
		return event.Event{Seq: 1, Fact: event.Fact{Agent: "ada", Body: event.Called{Turn: turn}}}
	}
	for name, steps := range map[string][]any{
		"in order":    {say(first, "one two"), ends(first), say(next, "three"), ends(next)},
		"words early": {say(first, "one two"), say(next, "three"), ends(first), ends(next)},
	} {
		var out strings.Builder
		p := &plain{out: &out, tokens: true, said: speeches{}, feed: feed{text: func(event.Content) (string, error) { return "", nil }}}
		for _, s := range steps {
			switch s := s.(type) {
			case live.Delta:
				p.delta(s)
			case event.Event:
				p.event(s)
			}
		}
		if want := "          ada » one two\n          ada » three\n"; out.String() != want {
			t.Errorf("%s:\n%swant\n%s", name, out.String(), want)
		}
	}
}

// Within a turn each word is shown with its own call, once, though the event may
// be quicker than the words, and whoever begins to listen is told them anew.
func TestSpeechOfTwoCalls(t *testing.T) {
	turn := event.Turn{Round: 1, Take: 1}
	say := func(call int, text string) live.Delta {
		return live.Delta{Agent: "ada", Turn: turn, Call: call, Kind: live.Text, Text: text}
	}
	anew := say(1, "one two")
	anew.Anew = true
	end := live.Delta{Agent: "ada", Turn: turn, Call: 1, Kind: live.End}
	called := func(call int) event.Event {
		return event.Event{Fact: event.Fact{Agent: "ada", Body: event.Called{Turn: turn, Call: call}}}
	}
	for name, steps := range map[string][]any{
		"in order":       {say(1, "one two"), end, called(1), say(2, "three"), called(2)},
		"words early":    {say(1, "one two"), end, say(2, "three"), called(1), called(2)},
		"words late":     {say(1, "one two"), called(1), say(1, "one two"), end, say(2, "three"), called(2)},
		"told anew":      {say(1, "one"), anew, called(1), say(2, "three"), called(2)},
		"told anew late": {say(1, "one two"), called(1), anew, end, say(2, "three"), called(2)},
	} {
		s, got := speeches{}, ""
		for _, x := range steps {
			switch x := x.(type) {
			case live.Delta:
				_, earlier := s.hear(x, x.Text)
				got += earlier
			case event.Event:
				got += s.ended(x)
			}
		}
		if got != "one twothree" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestCutLine(t *testing.T) {
	long := strings.Repeat("word ", 30)
	for _, tt := range []struct {
		text, line, rest string
		ok               bool
	}{
		{"one", "", "", false},
		{"one\ntwo", "one", "two", true},
		{long, long[:99], long[100:], true},
		{strings.Repeat("x", 130), strings.Repeat("x", 100), strings.Repeat("x", 30), true},
		{strings.Repeat("言", 40), strings.Repeat("言", 33), strings.Repeat("言", 7), true},
	} {
		line, rest, ok := cutLine(tt.text)
		if ok != tt.ok || ok && (line != tt.line || rest != tt.rest) {
			t.Errorf("%q is cut into %q and %q (%v)", tt.text, line, rest, ok)
		}
	}
}

// A tool call has one line, when it is known what came of it.
func TestFeedTellsToolsOnce(t *testing.T) {
	turn := event.Turn{Round: 1, Take: 1}
	f := feed{everything: true, text: func(event.Content) (string, error) { return "", nil }}
	var got []string
	take := func(items []view.Item) {
		for _, i := range items {
			got = append(got, i.Line())
		}
	}
	for n, b := range []event.Body{
		event.Assigned{Turn: turn, MayAnswer: true},
		event.Called{Turn: turn, Tools: []event.ToolCall{{ID: "a", Name: "look"}, {ID: "b", Name: "wait"}}},
		event.ToolReturned{Turn: turn, Call: "a", Name: "look", Result: event.Inline("nothing")},
	} {
		take(f.take(event.Event{Seq: uint64(n + 1), Fact: event.Fact{Agent: "ada", Body: b}}))
	}
	take(f.rest())
	want := []string{"ada begins round 1, to answer", "ada look returned: nothing", "ada wait is running"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A question is shown whole, however long it is and however small the terminal:
// nobody allows what they could not read.
func TestQuestionIsShownWhole(t *testing.T) {
	var out strings.Builder
	tm := &terminal{out: &out, size: func() (int, int) { return 40, 5 }, saying: speeches{}}
	long := "    curl " + strings.Repeat("a", 300) + "; rm   -rf everything"
	tm.ask("May agent1 use shell?\n" + long + "\nAllow it with: …")
	if !strings.Contains(out.String(), long) {
		t.Errorf("shown is %q", out.String())
	}
}

// What is asked about may be too large for its event.
func TestLargeQuestion(t *testing.T) {
	w := newWatch(&env{}, texts{blobs: map[event.Hash]string{"blob": "shell: run a command\n    rm -rf /\n"}}, "run-1", show{})
	got := w.asks(t.Context(), event.Asked{Gate: "permission/x", Title: "May agent1 use shell?", Text: event.Content{Blob: "blob", Size: 5000}})
	if !strings.Contains(got, "rm -rf /") || !strings.Contains(got, "conclave approve run-1 "+sign("permission/x")) {
		t.Errorf("asked is %q", got)
	}
}

// Where several things are asked for, the one that is meant has to be named.
func TestWhichQuestion(t *testing.T) {
	open := []view.Gate{
		{Asked: event.Asked{Gate: "one", Title: "May agent1 use shell?", Text: event.Inline("    make")}},
		{Asked: event.Asked{Gate: "two", Title: "May agent2 use shell?", Text: event.Inline("    rm -rf /")}},
	}
	e := &env{}
	if _, err := e.among(t.Context(), texts{}, "run-1", open, nil); err == nil || !strings.Contains(err.Error(), sign("two")+": May agent2 use shell?\n      rm -rf /") {
		t.Errorf("answered unseen: %v", err)
	}
	if g, err := e.among(t.Context(), texts{}, "run-1", open, []string{"run-1", sign("two")}); err != nil || g.Gate != "two" {
		t.Errorf("%v, %v", g, err)
	}
	if g, err := e.among(t.Context(), texts{}, "run-1", open[:1], nil); err != nil || g.Gate != "one" {
		t.Errorf("%v, %v", g, err)
	}
	if _, err := e.among(t.Context(), texts{}, "run-1", open[:1], []string{"run-1", sign("two")}); err == nil {
		t.Error("another question than the one that was named is answered")
	}
}

// texts is a program that knows some texts and nothing else.
type texts struct {
	control.Control
	blobs map[event.Hash]string
}

func (c texts) Text(_ context.Context, v event.Content) (string, error) {
	return v.Text + c.blobs[v.Blob], nil
}
