package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/live"
	"conclave/internal/view"
)

// What is said shows as it comes, and the fact that ends it does not move a line.
func TestLiveWordsBecomeFacts(t *testing.T) {
	s := newScene(t, 60, 24, "ada", "bob")
	s.start("task", event.Rules{})
	s.on("ada", event.Assigned{Turn: one, MayAnswer: true})
	s.utter("ada", live.Thinking, "Let me see.\nOne\nTwo\nThree\nFour")
	s.utter("ada", live.Text, "It is **so")
	s.utter("ada", live.Text, "rted** now.")
	s.see("agent1 (ada) works", "rted")
	s.gone("Three")
	s.openTab(1)
	s.see("∴ thinks", "Four", "• It is sorted now.")
	before := s.lines(60)
	s.on("ada", event.Called{Turn: one, Call: 1, Thinking: event.Inline("Let me see.\nOne\nTwo\nThree\nFour"), Text: event.Inline("It is **sorted** now.")})
	if after := s.lines(60); !slices.Equal(before, after) {
		t.Errorf("the fact looks different:\n%s\n---\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
	s.openTab(0)
	s.see("agent1 (ada) works")
	s.gone("agent2 (bob) works")
}

// A tool that runs shows for how long, and what became of it.
func TestToolTimeTicks(t *testing.T) {
	s := newScene(t, 60, 24, "ada")
	s.start("task", event.Rules{})
	s.on("ada", event.Assigned{Turn: one, MayAnswer: true})
	s.openTab(1)
	s.call("ada", "c1", "shell", map[string]any{"command": "make"}, "…", false)
	s.now = s.now.Add(12 * time.Second)
	s.see("● $ shell  make  0:12")
	s.now = s.now.Add(time.Minute)
	s.see("● $ shell  make  1:12")
	s.on("ada", event.ToolReturned{Turn: one, Call: "c1", Name: "shell", Result: event.Inline("no such target"), Error: true})
	s.see("✗ $ shell  make  1:13", "no such target")
}

// Who has scrolled up begins there, and not with what is out of sight.
func TestSelectWhereScrolled(t *testing.T) {
	s := newScene(t, 80, 24, "ada", "bob")
	everything(s)
	s.openTab(1)
	s.see("Final answer")
	s.press(key("home"))
	s.gone("Final answer")
	s.press(key("f6"))
	s.see("▌┃ Which sort is best?")
	s.press(key("i"), key("f6"))
	s.see("▌Type below to go on.")
}

// Entries are selected, opened, read, copied and found from the keyboard.
func TestSelectOpenReadFind(t *testing.T) {
	s := newScene(t, 80, 24, "ada", "bob")
	everything(s)
	s.openTab(1)
	s.press(key("f6"))
	s.see("▌━━ Final answer")
	s.press(key("/"))
	for _, r := range "FUNC .*sort" {
		s.press(key(string(r)))
	}
	s.press(key("enter"))
	s.see("▌✗ read a file, searched 2 times", `Found "FUNC .*sort"`)
	s.gone("⌕ search")
	s.press(key("enter"))
	s.see("✗ ⌕ search  less")
	s.press(key("space"))
	s.gone("⌕ search")
	s.press(key("enter"), key("enter"))
	s.see("pattern: func .*Sort", "a.go:1")
	s.press(key("esc"))
	s.press(key("n"))
	s.see("▌✗ read a file, searched 2 times")
	s.lanes.sought = "nowhere to be found"
	s.press(key("N"))
	s.see("is not in this timeline")
	s.press(key("z"))
	s.see("Everything is open.", "⌕ search  less")
	s.press(key("home"), key("space"))
	s.see("There is no more to it than is shown.", "▌┃ you")
	s.press(key("esc"))
	if s.inList {
		t.Error("Esc does not go back to the input")
	}
}

// A click on the first line of an entry opens it.
func TestClickOpens(t *testing.T) {
	s := newScene(t, 80, 40, "ada", "bob")
	everything(s)
	s.openTab(1)
	s.screen()
	s.lane().Top()
	for y, l := range strings.Split(s.screen(), "\n") {
		if strings.Contains(l, "searched 2 times") {
			s.do(tea.MouseClickMsg{X: 5, Y: y, Button: tea.MouseLeft})
			break
		}
	}
	s.see("✗ ⌕ search  less")
	if s.inList {
		t.Error("opening with the mouse takes the keyboard away from the input")
	}
}

// The conversation goes on: what was said and what came of it stands before the
// run that goes on, and an earlier run can be looked at.
func TestConversation(t *testing.T) {
	s := newScene(t, 80, 30, "ada", "bob")
	s.still.past = []event.Event{{Flow: "run-1"}}
	s.talk(event.SessionStarted{Kind: event.SessionCoordinate})
	said := func(id, words, run string) {
		s.seq["session"]++
		s.id = "session"
		e := event.Event{Flow: "session", Seq: s.seq["session"], At: s.now, Fact: event.Fact{ID: id, Body: event.Said{Text: event.Inline(words), By: "you"}}}
		s.Update(batch{items: []fed{{flow: "session", event: e}}})
		s.see(words, "being taken up")
		s.talk(event.Admitted{Ref: id})
		s.flow = event.FlowID(run)
		s.talk(event.Launched{Run: s.flow, Purpose: event.PurposeAnswer, Said: id})
	}
	said("s1", "first question", "run-1")
	s.start("first question", event.Rules{})
	s.gone("being taken up")
	s.on("ada", event.Assigned{Turn: one, MayAnswer: true})
	s.on("ada", event.Answered{Turn: one, Proposal: "p", Revision: 1, Content: event.Inline("draft of it")})
	s.on("", event.Finished{Status: event.StatusSuccess, Answer: event.Inline("the **first** answer"), Winner: "ada"})
	if n := strings.Count(s.screen(), "┃ first question"); n != 1 {
		t.Errorf("the question stands there %d times:\n%s", n, s.screen())
	}
	s.talk(event.Returned{Run: "run-1", Status: event.StatusSuccess, Answer: event.Inline("the **first** answer"), Winner: "ada"})
	said("s2", "second question", "run-2")
	s.start("second question", event.Rules{})
	golden(t, "conversation", strings.Join(s.lines(80), "\n")+"\n")

	// Enter on what came of the first shows its run.
	s.press(key("f6"), key("home"), key("j"), key("enter"))
	if s.past == nil || s.past.id != "run-1" {
		t.Fatalf("the earlier run is not shown:\n%s", s.screen())
	}
	s.see("An earlier run", "first question")
	s.gone("second question")
	s.flow, s.seq["run-1"] = "run-1", 0
	s.on("", event.RunStarted{Spec: event.RunSpec{Task: event.Inline("first question"), Seats: []event.Seat{{Agent: "ada", Label: "agent1"}}}})
	s.on("ada", event.Answered{Turn: one, Proposal: "p", Revision: 1, Content: event.Inline("draft of it")})
	s.see("agent1.1 (ada) answers", "draft of it")
	s.press(key("esc"))
	s.see("second question")
	s.gone("draft of it")
}

// TM-04.1, TM-04.2: with one agent at work the others are greyed, and a click on
// a tab chooses who that is.
func TestSingleModeTabs(t *testing.T) {
	s := newScene(t, 80, 24, "ada", "bob", "eve")
	everything(s)
	s.modes.Single = true
	s.see("★ ada", "(· bob", "(· eve")
	x := strings.Index(strings.SplitN(s.screen(), "\n", 2)[0], "bob")
	s.do(tea.MouseClickMsg{X: x, Y: 0, Button: tea.MouseLeft})
	if s.single() != "bob" {
		t.Errorf("%s works alone, and bob was chosen", s.single())
	}
	s.see("(★ ada", "(· eve")
	s.gone("(· bob")
}

// After a run of one agent the others still have their tabs, and one of them can
// be chosen for what is said next.
func TestSingleRunKeepsTheTeam(t *testing.T) {
	s := newScene(t, 80, 24, "ada", "bob", "eve")
	s.modes = event.Modes{Single: true, Agent: "bob"}
	s.watch(s.flow, view.Snapshot{})
	s.on("", event.RunStarted{Rules: event.Rules{Single: true}, Spec: event.RunSpec{Task: event.Inline("x"), Seats: []event.Seat{{Agent: "bob", Label: "agent1"}}}})
	if tab := s.tabFor(s.modes); tab != 2 {
		t.Errorf("the run of bob is looked at in tab %d", tab)
	}
	s.on("", event.Finished{Status: event.StatusSuccess, Answer: event.Inline("x"), Winner: "bob"})
	s.see("(○ ada", "★ bob", "(○ eve")
	s.press(key("alt+3"))
	if s.single() != "eve" {
		t.Errorf("%s works alone, and eve was chosen", s.single())
	}
	s.see("┃ x") // what eve's lane has is the conversation
}

// More agents than fit: the open tab is always to be seen, and the others can be
// reached.
func TestManyTabs(t *testing.T) {
	var names []event.AgentID
	for i := range 12 {
		names = append(names, event.AgentID(fmt.Sprintf("agent-number-%d", i)))
	}
	s := newScene(t, 40, 12, names...)
	s.start("task", event.Rules{})
	for i := range 13 {
		s.openTab(i)
		top := strings.SplitN(s.screen(), "\n", 2)[0]
		cells := s.tabCells(40)
		if !strings.Contains(top, strings.TrimSpace(cells[i].words)) {
			t.Errorf("tab %d is not to be seen: %q", i, top)
		}
	}
}

// Side by side takes two agents and the room for them, and says so; Tab goes from
// column to column.
func TestSplit(t *testing.T) {
	s := newScene(t, 99, 24, "ada", "bob")
	s.press(key("alt+s"))
	s.see("There is no run yet")
	everything(s)
	s.press(key("alt+s"))
	s.see("Too narrow for two agents side by side: that takes 100 columns, and here are 99.")
	s.Update(tea.WindowSizeMsg{Width: 100, Height: 24})
	s.press(key("alt+s"))
	s.see("★ agent1 (ada)  done", "· agent2 (bob)  done")
	if s.active() != "ada" {
		t.Errorf("the column of %q has the focus", s.active())
	}
	s.press(key("tab"))
	if s.active() != "bob" {
		t.Errorf("after Tab the column of %q has the focus", s.active())
	}
	s.press(key("tab"))
	if s.active() != "ada" {
		t.Errorf("after Tab again the column of %q has the focus", s.active())
	}
	s.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	s.gone("agent2 (bob)  done")
	s.Update(tea.WindowSizeMsg{Width: 100, Height: 24})
	s.press(key("alt+s"))
	s.see("One agent at a time.")
}

// TM-13.3, TM-13.4, TM-13.5: what was written stands below the answer, a few by
// name, many by number and list, none not at all.
func TestFilesWrittenFooter(t *testing.T) {
	end := func(n int) *scene {
		s := newScene(t, 100, 40, "ada")
		s.start("task", event.Rules{Single: true})
		w := event.Written{Turn: one, Total: n}
		for i := range n {
			w.Changes = append(w.Changes, event.Change{Path: fmt.Sprintf("file-%d.go", i), Kind: "new"})
		}
		if n > 5 {
			w.List = "/logs/context_path_writes.txt"
		}
		if n > 0 {
			s.on("ada", w)
		}
		s.on("", event.Finished{Status: event.StatusSuccess, Answer: event.Inline("done"), Winner: "ada"})
		return s
	}
	end(0).gone("written to context paths")
	few := end(5)
	few.see("Files written to context paths:", "  file-0.go (new)", "  file-4.go (new)")
	many := end(6)
	many.see("6 files written to context paths; see /logs/context_path_writes.txt")
	if lines := strings.Join(many.lines(100), "\n"); strings.Contains(lines[strings.Index(lines, "Final answer"):], "file-5.go") {
		t.Errorf("many files are named one by one:\n%s", lines)
	}
}

// How the answer was come to is said with it.
func TestVerdicts(t *testing.T) {
	three := map[event.AgentID]int{"ada": 2, "bob": 1}
	for _, c := range []struct {
		name   string
		chosen *event.Chosen
		end    event.Finished
		want   []string
	}{
		{"votes", &event.Chosen{Winner: "ada", How: "votes", Tally: three}, event.Finished{Status: event.StatusSuccess, Winner: "ada", Answer: event.Inline("x")}, []string{"Final answer", "agent1 (ada) won 2–1"}},
		{"override", &event.Chosen{Winner: "ada", How: "votes", Tally: three}, event.Finished{Status: event.StatusSuccess, Winner: "bob", Answer: event.Inline("x")}, []string{"agent2 (bob) was picked by a person instead of agent1 (ada)"}},
		{"only", &event.Chosen{Winner: "bob", How: "only"}, event.Finished{Status: event.StatusSuccess, Winner: "bob", Answer: event.Inline("x")}, []string{"Agreed without a vote: agent2 (bob) had the only answer"}},
		{"timeout", nil, event.Finished{Status: event.StatusTimeout, StoppedBy: event.StoppedByDeadline, Error: "one minute is over"}, []string{"The run is over", "Out of time: one minute is over", "Answers so far: agent1.1"}},
		{"cancelled", &event.Chosen{Winner: "ada", How: "newest"}, event.Finished{Status: event.StatusCancelled, Winner: "ada", Answer: event.Inline("partly")}, []string{"Cancelled. This is what there was.", "partly"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t, 100, 30, "ada", "bob")
			s.start("task", event.Rules{})
			s.on("ada", event.Assigned{Turn: one, MayAnswer: true})
			s.on("ada", event.Answered{Turn: one, Proposal: "p", Revision: 1, Content: event.Inline("draft")})
			if c.chosen != nil {
				s.on("", *c.chosen)
			}
			s.on("", c.end)
			s.see(c.want...)
		})
	}
}

// TM-03.4: a run that carries out a plan says so, and where the plan is.
func TestExecutingPlanIsShown(t *testing.T) {
	s := newScene(t, 100, 30, "ada", "bob")
	s.watch(s.flow, view.Snapshot{})
	s.on("", event.RunStarted{Spec: event.RunSpec{Task: event.Inline("x"), Plan: ".conclave/plans/p1", Seats: []event.Seat{{Agent: "ada", Label: "agent1"}}}})
	s.see("Executing plan .conclave/plans/p1")
}

// Someone who reads further up is not disturbed, and is told of what comes.
func TestReadingUpStaysPut(t *testing.T) {
	s := newScene(t, 80, 24, "ada", "bob")
	s.start("task", event.Rules{})
	for i := range 40 {
		s.on("", event.Messaged{Text: event.Inline(fmt.Sprint("message ", i)), By: "you"})
	}
	s.see("message 39")
	s.lane().Page(-1)
	body := func() string { return strings.Join(strings.Split(s.screen(), "\n")[4:14], "\n") }
	s.screen()
	before := body()
	for i := range 3 {
		s.on("", event.Messaged{Text: event.Inline(fmt.Sprint("later ", i)), By: "you"})
	}
	if after := body(); after != before {
		t.Errorf("the window has moved:\n%s\n---\n%s", before, after)
	}
	s.see("3 new below")
}
