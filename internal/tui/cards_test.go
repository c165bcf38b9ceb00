package tui

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

const poem = "# Sorting\n\nUse **merge sort**: it is *stable*.\n\n- halves the list\n- sorts each half\n- merges them\n\n```go\nsort.SliceStable(a, less)\n```\n"

// everything is a run with every kind of card in ada's lane.
func everything(s *scene) {
	s.start("Which sort is best?", event.Rules{})
	s.on("ada", event.Assigned{Turn: one, MayAnswer: true})
	s.on("bob", event.Assigned{Turn: one, MayAnswer: true})
	s.on("ada", event.Called{Turn: one, Call: 1, Window: 1000, Usage: event.Usage{Input: 300, Output: 120},
		Thinking: event.Inline("First I look.\nThen I think.\nThen I compare.\nIn the end I know."), Text: event.Inline("I will **look** at it.")})
	s.call("ada", "c1", "read", map[string]any{"path": "/very/long/path/to/some/file/deep/down/in/the/tree/of/the/project/sort.go"}, "package sort\n\nfunc Sort() {}\n", false)
	s.on("ada", event.Told{Turn: one, Note: "news", Seen: event.Seen{"bob": 1}})
	s.call("ada", "c2", "read", map[string]any{"path": "a.go"}, "1\n2\n3", false)
	s.call("ada", "c3", "search", map[string]any{"pattern": "func .*Sort"}, "a.go:1", false)
	s.call("ada", "c4", "search", map[string]any{"pattern": "less"}, "nothing", true)
	s.on("ada", event.Noticed{Turn: one, Text: "the server git is not there"})
	s.call("ada", "c5", "mcp__git__log", map[string]any{"n": 3, "path": "."}, "\x1b[31mcommit 1\x1b[0m\r\ncommit 2", false)
	s.on("ada", event.Compacted{Turn: one, Messages: 12, Before: 9000, After: 800, Summary: event.Inline("what was said so far")})
	s.call("ada", "c6", "shell", map[string]any{"command": "go test ./..."}, "…", false)
	s.on("", event.Messaged{Text: event.Inline("mind stability"), By: "you"})
	s.on("ada", event.Failed{Turn: one, Code: "rate_limited", Message: "too many requests"})
	s.on("ada", event.Answered{Turn: one, Proposal: "p1", Revision: 1, Content: event.Inline(poem)})
	s.on("bob", event.Answered{Turn: one, Proposal: "p2", Revision: 1, Content: event.Inline("Quicksort.")})
	s.on("bob", event.Assigned{Turn: event.Turn{Round: 2, Take: 1}, MayAnswer: true, MayVote: true, Seen: event.Seen{"ada": 1, "bob": 1}})
	s.on("ada", event.Assigned{Turn: event.Turn{Round: 2, Take: 1}, MayAnswer: true, MayVote: true, Seen: event.Seen{"ada": 1, "bob": 1}})
	s.on("bob", event.Voted{Turn: event.Turn{Round: 2, Take: 1}, Proposal: "p3", For: "ada", Reason: "It is right about stability.", Seen: event.Seen{"ada": 1, "bob": 1}})
	s.on("ada", event.Refused{Ref: "p4", Code: "too_similar", Why: "the answer is the one you gave"})
	s.on("ada", event.Interrupted{Turn: event.Turn{Round: 2, Take: 1}, Why: "news"})
	s.on("", event.WrapUpRequested{By: "you"})
	s.on("ada", event.Assigned{Turn: event.Turn{Round: 2, Take: 2}, MayVote: true, Seen: event.Seen{"ada": 1, "bob": 1}})
	s.on("ada", event.Voted{Turn: event.Turn{Round: 2, Take: 2}, Proposal: "p5", For: "ada", Reason: "Mine.", Seen: event.Seen{"ada": 1, "bob": 1}})
	s.on("", event.Unknown{Kind: "hologram", Raw: []byte(`{"x":1}`)})
	s.on("", event.Chosen{Winner: "ada", How: "votes", Tally: map[event.AgentID]int{"ada": 2, "bob": 0}, Margin: 2, Order: []event.AgentID{"ada", "bob"}})
	s.on("", event.Asked{Gate: "g1", Kind: event.GateOverride, Title: "Another winner?", Choices: []event.Choice{{ID: "ada"}, {ID: "bob"}}})
	s.on("", event.Closed{Gate: "g1", Choice: "ada", How: "reply"})
	s.on("ada", event.Presenting{Turn: event.Turn{Round: 3, Take: 1}, Draft: "ada", Revision: 1, Strategy: event.WinnerPresent})
	s.on("ada", event.Written{Turn: event.Turn{Round: 3, Take: 1}, Total: 2, Changes: []event.Change{{Path: "docs/sort.md", Kind: "new"}, {Path: "a.go", Kind: "modified"}}})
	s.on("ada", event.Presented{Turn: event.Turn{Round: 3, Take: 1}, Content: event.Inline(poem)})
	s.on("", event.Finished{Status: event.StatusSuccess, StoppedBy: event.StoppedByVotes, Answer: event.Inline(poem), Winner: "ada", Presenter: "ada"})
}

// Every kind of card, narrow and wide, folded and open.
func TestCards(t *testing.T) {
	for _, w := range []int{40, 80, 120} {
		s := newScene(t, w, 24, "ada", "bob")
		everything(s)
		s.openTab(1)
		golden(t, fmt.Sprintf("cards-%d", w), strings.Join(s.lines(w), "\n")+"\n")
		s.foldAll()
		golden(t, fmt.Sprintf("cards-%d-open", w), strings.Join(s.lines(w), "\n")+"\n")
	}
}

// The window in three sizes: all together, one agent, side by side where there is
// room. TM-13.3
func TestScreens(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 12}, {200, 50}} {
		name := fmt.Sprintf("%dx%d", size[0], size[1])
		s := newScene(t, size[0], size[1], "ada", "bob")
		golden(t, "welcome-"+name, s.upper())
		everything(s)
		golden(t, "all-"+name, s.upper())
		s.openTab(1)
		golden(t, "agent-"+name, s.upper())
		if size[0] >= 2*splitWidth {
			s.press(key("alt+s"))
			golden(t, "split-"+name, s.upper())
		}
	}
}

// Whatever models, tools and people write, no line is longer than the window and
// nothing of it reaches the terminal raw.
func TestNoLineIsTooLong(t *testing.T) {
	pieces := []string{"word ", "日本語", "👩‍👩‍👧‍👦", "שלום עולם ", "e\u0301", "\x1b[31mred\x1b[0m", "\x1b]0;title\a", "\t", "\n", "\r\n", "averylongwordwithoutanyblankinit",
		"| a | b |\n|---|---|\n| 1 | 2 |\n", "```\ncode\n```\n", "- item\n", "\u202e", "\u0600", "# head\n", "{\"a\":[1,2]}", "\x00", "\xff"}
	r := rand.New(rand.NewPCG(1, 2))
	random := func() string {
		var s strings.Builder
		for range r.IntN(40) {
			s.WriteString(pieces[r.IntN(len(pieces))])
		}
		return s.String()
	}
	s := newScene(t, 80, 24, "ada", "bob")
	s.start(random(), event.Rules{})
	x := s.laneOf("ada")
	kindsOfItems := []view.ItemKind{view.ItemStarted, view.ItemRound, view.ItemThinking, view.ItemText, view.ItemTool, view.ItemNews, view.ItemAnswer,
		view.ItemVote, view.ItemLost, view.ItemGate, view.ItemPresented, view.ItemFinal, view.ItemMessage, view.ItemUnknown, "another"}
	for range 3000 {
		it := view.Item{Kind: kindsOfItems[r.IntN(len(kindsOfItems))], Title: random(), Detail: event.Inline(random()), Ref: random(), Agent: "ada", Label: event.Label(random()), At: noon}
		if it.Kind == view.ItemTool {
			it.Tool = &view.ToolUse{Name: []string{"read", "shell", "mcp__a__b", random()}[r.IntN(4)], Input: random(), State: view.ToolRunning}
			if r.IntN(2) == 0 {
				it.Tool.Input = fmt.Sprintf(`{"path":%q,"other":%q}`, strings.ToValidUTF8(random(), ""), "x")
			}
		}
		w := 1 + r.IntN(100)
		for _, l := range (placed{x, itemEntry{it}}).Lines(w) {
			if n := text.Width(l); n > w {
				t.Fatalf("a %s is %d cells wide in a lane of %d: %q", it.Kind, n, w, l)
			}
			if strings.ContainsAny(strings.ReplaceAll(l, "\x1b[", ""), "\x1b\r\n\x00\a\u202e") {
				t.Fatalf("a %s has control characters: %q", it.Kind, l)
			}
		}
	}
}

// itemEntry is an item that is in no timeline.
type itemEntry struct{ it view.Item }

func (e itemEntry) key() string         { return "item" }
func (e itemEntry) version() uint64     { return 0 }
func (e itemEntry) plain(*Model) string { return e.it.Title }
func (e itemEntry) draw(b brush) []string {
	if k, ok := kinds[e.it.Kind]; ok {
		return k(b, e.it)
	}
	return b.note(e.it)
}

// Every mark takes one cell, or columns would not stand below each other.
func TestMarksTakeOneCell(t *testing.T) {
	for name, p := range purposes {
		if text.Width(p.mark) != 1 {
			t.Errorf("the mark of %s is %d cells wide", name, text.Width(p.mark))
		}
	}
	for kind, k := range marks {
		if text.Width(k.mark) != 1 {
			t.Errorf("the mark of %s is %d cells wide", kind, text.Width(k.mark))
		}
	}
}

// A row says that it has changed when it would draw something else, and only
// then: a cache that is wrong shows what is not so.
func TestVersionsAreExact(t *testing.T) {
	s := newScene(t, 80, 24, "ada", "bob")
	s.start("task", event.Rules{})
	s.on("ada", event.Assigned{Turn: one, MayAnswer: true})
	s.openTab(1)
	x := s.laneOf("ada")
	drawn := map[string]map[uint64]string{}
	check := func(what string) {
		t.Helper()
		x.sync()
		for i := range x.Len() {
			p := x.At(i).(placed)
			got := strings.Join(p.Lines(80), "\n")
			if drawn[p.Key()] == nil {
				drawn[p.Key()] = map[uint64]string{}
			}
			if was, ok := drawn[p.Key()][p.Version()]; ok && was != got {
				t.Errorf("%s: %s has changed and does not say so:\n%s\n%s", what, p.Key(), was, got)
			}
			drawn[p.Key()][p.Version()] = got
		}
	}
	check("begun")
	for i := range 6 {
		s.call("ada", fmt.Sprint("c", i), "shell", map[string]any{"command": fmt.Sprint("cmd", i)}, "…", false)
		check("called")
	}
	s.now = s.now.Add(5e9)
	check("time")
	for _, i := range []int{3, 0, 5, 1} {
		s.on("ada", event.ToolReturned{Turn: one, Call: fmt.Sprint("c", i), Name: "shell", Result: event.Inline("out"), Error: i == 0})
		check("returned")
	}
	s.on("ada", event.Answered{Turn: one, Proposal: "p1", Revision: 1, Content: event.Inline(strings.Repeat("line\n\n", 30))})
	check("answered")
	s.on("ada", event.ToolReturned{Turn: one, Call: "c2", Name: "shell", Result: event.Inline("late")})
	check("returned late")
	s.on("ada", event.Assigned{Turn: event.Turn{Round: 2, Take: 1}, MayAnswer: true})
	s.on("ada", event.Answered{Turn: event.Turn{Round: 2, Take: 1}, Proposal: "p2", Revision: 2, Content: event.Inline("short")})
	check("answered again")
	s.foldAll()
	check("opened")
	s.o.NoColor = false
	for _, name := range []string{"dark", "light", "contrast", "none"} {
		s.setTheme(name)
		check(name)
	}
	s.dark = false
	s.setTheme("contrast")
	check("contrast on light")
	s.inList = true
	for i := range x.Len() {
		x.list.Select(i)
		check("selected")
	}
	s.Update(tea.WindowSizeMsg{Width: 80, Height: 10})
	check("low")
}
