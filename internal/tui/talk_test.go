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
	"conclave/internal/project"
	"conclave/internal/view"
)

// sentBodies are the bodies of what was sent, newest last.
func (p *play) sentBodies() []event.Body {
	var out []event.Body
	for _, f := range p.program.sent {
		out = append(out, f.Body)
	}
	return out
}

func (p *play) lastSent(t testing.TB) event.Fact {
	t.Helper()
	if len(p.program.sent) == 0 {
		t.Fatal("nothing was sent")
	}
	return p.program.sent[len(p.program.sent)-1]
}

// line is the number of the first line of the screen with a text, -1 if there is
// none, and the column in which it begins.
func (p *play) line(s string) (y, x int) {
	for i, l := range strings.Split(p.screen(), "\n") {
		if at := strings.Index(l, s); at >= 0 {
			return i, len([]rune(l[:at]))
		}
	}
	return -1, -1
}

func (p *play) click(s string) {
	p.Helper()
	y, x := p.line(s)
	if y < 0 {
		p.Fatalf("%q is not on the screen:\n%s", s, p.screen())
	}
	p.do(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
}

// What the agent says stands at the left and what the person says at the right, in
// one column without tabs or switches, and stays there.
//
// IM-14.1 IM-14.2 IM-08.2
func TestConversationIsAChat(t *testing.T) {
	p := rehearse(t, 80, 40, "none")
	p.chatted()
	for _, l := range []struct {
		words string
		left  bool
	}{{"What is in the data folder?  ", false}, {"One file, sample.csv", true}, {"nearly sorted data?  ", false}, {"All three agree", true}} {
		y, x := p.line(strings.TrimSpace(l.words))
		if !l.left { // the title of the conversation is at the right too
			y, x = p.line(strings.TrimSpace(l.words) + " ")
		}
		if y < 0 || l.left != (x < 5) {
			t.Errorf("%q is at column %d of line %d:\n%s", l.words, x, y, p.screen())
		}
	}
	p.see("[Coordinate]")
	p.gone("Plan: off", " All  ", "Refine:")
	// However much is said afterwards, it is still there.
	for i := range 5 {
		p.asked(fmt.Sprintf("Question %d", i))
		p.words(fmt.Sprintf("Answer %d", i))
		p.chair(event.Concluded{Turn: p.turn()})
	}
	all := strings.Join(p.lines(80), "\n")
	for _, s := range []string{"What is in the data folder?", "Question 0", "Question 4"} {
		if !strings.Contains(all, s) {
			t.Errorf("%q is not in the conversation any more:\n%s", s, all)
		}
	}
}

// Whoever speaks with a command is the person at the terminal; somebody else has a name.
func TestWhoSpeaks(t *testing.T) {
	p := rehearse(t, 80, 24, "none")
	p.staffed(event.SessionRules{})
	for i, by := range []string{"conclave sessions say", "ann"} {
		id := p.told(event.Said{Text: event.Inline("from " + by), By: by})
		p.chair(event.Assigned{Turn: event.Turn{Round: i + 1, Take: 1}, Messages: []string{id}})
		p.chair(event.Concluded{Turn: event.Turn{Round: i + 1, Take: 1}})
	}
	p.see("you · ", "from conclave sessions say", "ann · ", "from ann")
	p.gone("conclave sessions say · ")
}

// A run is a card between what the agent says before it and after it, and tells
// how it stands.
//
// IM-13.1 IM-14.4
func TestRunCardStandsBetweenMessages(t *testing.T) {
	p := rehearse(t, 80, 40, "none")
	p.launched()
	p.see("● Run: Which sorting algorithm", "running, working · ada, bob, eve · round 1", "$0.0090", "[Open]", "[Cancel]")
	was := p.screen()
	p.now = p.now.Add(time.Minute)
	if p.screen() == was {
		t.Error("the time of a run that goes on stands still")
	}
	p.ended(event.StatusSuccess)
	p.words("All three agree.")
	before, _ := p.line("That is worth several")
	card, _ := p.line("✓ Run: Which sorting")
	after, _ := p.line("All three agree")
	if before < 0 || before >= card || card >= after {
		t.Errorf("the card is not between: %d %d %d\n%s", before, card, after, p.screen())
	}
	p.see("done · bob won", "Use insertion sort")
	p.gone("[Cancel]")
}

// A card opens the run, by key and by a click, and Esc goes back.
func TestRunCardOpens(t *testing.T) {
	p := rehearse(t, 80, 40, "none")
	p.launched()
	p.click("[Open]")
	if p.chatting() || p.shown() == nil {
		t.Fatal("the run is not shown")
	}
	p.see("● ada", "bob")
	p.press(key("esc"))
	p.see("That is worth several opinions")
	p.press(key("f6"), key("enter"))
	if p.chatting() {
		t.Errorf("Enter does not open the run:\n%s", p.screen())
	}
	p.press(key("esc"))
	// The run goes on being followed.
	p.on("eve", event.Answered{Turn: one, Proposal: "x9", Revision: 1, Content: event.Inline("Smoothsort.")})
	if got := p.story.card.Answers; got != 2 {
		t.Errorf("%d answers are known after looking at the run", got)
	}
}

// A run can be cancelled from its card, by a click and by Esc, and is asked about
// first.
func TestRunCardCancels(t *testing.T) {
	for name, ask := range map[string]func(p *play){
		"click": func(p *play) { p.click("[Cancel]") },
		"esc":   func(p *play) { p.press(key("esc")) },
		"x":     func(p *play) { p.press(key("f6"), key("x")) },
	} {
		t.Run(name, func(t *testing.T) {
			p := rehearse(t, 80, 40, "none")
			want := p.launched()
			ask(p)
			p.see("Cancel the run?")
			if len(p.program.sent) > 0 {
				t.Fatalf("sent before it was asked: %v", p.sentBodies())
			}
			p.press(key("y"))
			if got := p.lastSent(t).Body; got != (event.Withdrawn{Message: want, By: by}) {
				t.Errorf("sent %#v", got)
			}
		})
	}
}

// The context bar has the project or that there is none, how the run stands, and
// the button; while a run goes on it says about what.
//
// IM-09.1 IM-09.2 IM-09.3 IM-08.1
func TestContextBar(t *testing.T) {
	bar := func(p *play) string {
		for l := range strings.SplitSeq(p.screen(), "\n") {
			if strings.Contains(l, "[Coordinate]") {
				return l
			}
		}
		t.Fatalf("there is no context bar:\n%s", p.screen())
		return ""
	}
	has := func(p *play, words ...string) {
		t.Helper()
		for _, w := range words {
			if got := bar(p); !strings.Contains(got, w) {
				t.Errorf("%q is not in %q", w, got)
			}
		}
	}
	p := rehearse(t, 120, 30, "none")
	p.interactive()
	has(p, "No project", "Idle")
	p.launched()
	has(p, "No project", "Running: Which sorting algorithm should")
	if s := p.session.ModeState(); !s.Interactive || s.Session == nil || s.Run != p.flow || s.Approval {
		t.Errorf("the state of the mode is %+v", s)
	}
	p.ended(event.StatusSuccess)
	has(p, "Complete: Which sorting", "chat $0.01", "runs $0.0090")
	p.chair(event.Concluded{Turn: p.turn()})
	p.told(event.Opened{Project: "sorting", By: by})
	p.told(event.Waived{On: true, By: by})
	has(p, "Project: sorting", "Idle", "auto-approve", "context 6%")
	p.asked("Again")
	p.asksFor(p.wants("w9", "Sort more"))
	has(p, "Waiting for your approval")
	for _, size := range [][2]int{{40, 12}, {80, 24}, {200, 50}} {
		p.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		has(p, "Waiting for")
		fits(t, "context bar", p.Model.View().Content, size[0], size[1])
	}
}

// Typing while a run goes on holds the words: they are seen with what becomes of
// them, and can be taken back into the input or removed.
func TestTypingDuringARunIsHeld(t *testing.T) {
	p := rehearse(t, 100, 30, "none")
	p.launched()
	p.letters("And mind equal keys.")
	p.see("❯ And mind equal keys.")
	p.press(key("enter"))
	f := p.lastSent(t)
	if said, ok := f.Body.(event.Said); !ok || said.Text.Text != "And mind equal keys." {
		t.Fatalf("sent %#v", f.Body)
	}
	id := p.hold("And mind equal keys.")
	p.see("✉ And mind equal keys. – held until the run ends")

	p.press(key("up"))
	back := p.lastSent(t)
	if back.Body != (event.Withdrawn{Message: id, By: by}) {
		t.Fatalf("sent %#v", back.Body)
	}
	if p.input.Text() != "" {
		t.Fatal("the words are in the input before it is certain that nobody hears them")
	}
	p.fact(back)
	if got := p.input.Text(); got != "And mind equal keys." {
		t.Errorf("%q is in the input", got)
	}
	p.gone("✉")

	p.input.Clear()
	p.hold("Never mind.")
	p.press(key("alt+z"))
	p.fact(p.lastSent(t))
	p.gone("✉ Never mind.")
	if got := p.input.Text(); got != "" {
		t.Errorf("%q is in the input", got)
	}
}

// fact is one that was sent, taken in and admitted.
func (p *play) fact(f event.Fact) {
	p.now = p.now.Add(time.Second)
	e := p.event("session", "", f.Body)
	e.ID = f.ID
	p.Update(batch{items: []fed{{flow: "session", event: e}}})
	p.talk(event.Admitted{Ref: f.ID})
}

// What the agent has heard before it could be taken back stays said.
func TestTakenBackTooLate(t *testing.T) {
	p := rehearse(t, 100, 30, "none")
	p.launched()
	p.hold("And mind equal keys.")
	p.press(key("up"))
	p.talk(event.Refused{Ref: p.lastSent(t).ID, Code: "late", Why: "it was heard already"})
	if got := p.input.Text(); got != "" {
		t.Errorf("%q is in the input", got)
	}
	p.see("it was heard already")
}

// Where the configuration closes the input while a run goes on, it says so, and
// nothing typed is lost.
//
// IM-14.3
func TestInputIsClosedDuringARun(t *testing.T) {
	p := rehearse(t, 100, 30, "none")
	p.staffed(event.SessionRules{Disabled: true})
	p.launched()
	p.see("Closed while a run goes on")
	p.letters("Hello")
	p.press(key("enter"))
	if len(p.program.sent) != 0 {
		t.Errorf("sent %v", p.sentBodies())
	}
	if got := p.input.Text(); got != "Hello" {
		t.Errorf("%q is in the input", got)
	}
	p.ended(event.StatusSuccess)
	p.press(key("enter"))
	if said, ok := p.lastSent(t).Body.(event.Said); !ok || said.Text.Text != "Hello" {
		t.Errorf("sent %v", p.sentBodies())
	}
}

// Words that are refused come back into the input.
func TestRefusedWordsComeBack(t *testing.T) {
	p := rehearse(t, 100, 30, "none")
	p.staffed(event.SessionRules{})
	p.letters("Hello")
	p.press(key("enter"))
	p.talk(event.Refused{Ref: p.lastSent(t).ID, Code: "busy", Why: "not now"})
	if got := p.input.Text(); got != "Hello" {
		t.Errorf("%q is in the input", got)
	}
	p.see("not now")
}

// Esc twice stops the agent and keeps what it has done.
func TestEscStopsTheAgent(t *testing.T) {
	p := rehearse(t, 80, 24, "none")
	p.answering()
	p.press(key("esc"))
	if len(p.program.sent) != 0 {
		t.Fatalf("one Esc has sent %v", p.sentBodies())
	}
	p.see("Esc again stops max")
	p.press(key("esc"))
	if got := p.lastSent(t).Body; got != (event.CancelRequested{By: by}) {
		t.Errorf("sent %#v", got)
	}
}

// What the agent says is seen while it comes, and once when the fact is there.
func TestAgentIsHeardWhileItSpeaks(t *testing.T) {
	p := rehearse(t, 80, 24, "none")
	p.asked("Tell me about Timsort.")
	p.see("max is at work")
	p.murmur(live.Text, "Timsort is a **merge")
	p.murmur(live.Text, " sort**.")
	p.see("• Timsort is a merge sort.")
	p.gone("is at work")
	p.words("Timsort is a **merge sort**.")
	if n := strings.Count(p.screen(), "Timsort is a merge sort."); n != 1 {
		t.Errorf("it is said %d times:\n%s", n, p.screen())
	}
}

// Pins: the key, the commands, and that they are seen.
func TestPins(t *testing.T) {
	p := rehearse(t, 80, 30, "none")
	p.asked("Mind equal keys.")
	said := p.words("I will.")
	p.chair(event.Concluded{Turn: p.turn()})
	p.say("pin")
	pin := p.lastSent(t)
	if pin.Body != (event.Pinned{Message: said, On: true, By: by}) {
		t.Fatalf("sent %#v", pin.Body)
	}
	p.fact(pin)
	p.see("◈ I will.", "pinned")
	p.press(key("f6"), key("p"))
	if got := p.lastSent(t).Body; got != (event.Pinned{Message: said, By: by}) {
		t.Errorf("sent %#v", got)
	}
	p.press(key("k"), key("p"))
	if got, ok := p.lastSent(t).Body.(event.Pinned); !ok || !got.On || got.Message == said {
		t.Errorf("sent %#v", got)
	}
	p.press(key("esc"))
	p.say("unpin")
	if got := p.lastSent(t).Body; got != (event.Pinned{Message: said, By: by}) {
		t.Errorf("sent %#v", got)
	}
}

// The summary that takes the place of what was said is seen when it is asked for.
func TestCompactionIsSeen(t *testing.T) {
	p := rehearse(t, 80, 30, "none")
	p.compacted()
	p.see("Earlier messages were put into fewer words", "1 pinned stays", "Mind that the data")
	p.gone("sorting must be stable")
	p.click("Earlier messages")
	p.see("sorting must be stable")
}

// Commands of a conversation with one agent are facts of it.
func TestTalkCommands(t *testing.T) {
	p, b := desk(t, 80, 30)
	b.projects = []project.Project{{Name: "garden"}, {Name: "sorting"}}
	p.asked("Hello")
	for _, c := range []struct {
		line string
		want event.Body
	}{
		{"auto-approve on", event.Waived{On: true, By: by}},
		{"auto-approve off", event.Waived{By: by}},
		{"auto-approve", event.Waived{On: true, By: by}},
		{"project sorting", event.Opened{Project: "sorting", By: by}},
		{"project none", event.Opened{By: by}},
		{"rename Sorting", event.Renamed{Title: "Sorting", By: by}},
	} {
		p.program.sent = nil
		p.say(c.line)
		if got := p.lastSent(t).Body; got != c.want {
			t.Errorf("/%s sends %#v", c.line, got)
		}
	}
	p.program.sent = nil
	p.say("project")
	p.see("No project. /project NAME opens one")
	// One that is not there is not opened.
	p.say("project sortign")
	p.see("There is no project sortign; the nearest is sorting", "ask max: create the project sortign.")
	if len(p.program.sent) > 0 {
		t.Errorf("sent %v", p.sentBodies())
	}
}

// A conversation of thousands of turns costs what a short one costs: what has not
// changed is not made again.
func TestLongConversation(t *testing.T) {
	p := rehearse(t, 80, 24, "none")
	p.staffed(event.SessionRules{})
	const n = 3000
	var items []fed
	add := func(a event.AgentID, b event.Body) string {
		e := p.event("session", a, b)
		items = append(items, fed{flow: "session", event: e})
		return e.ID
	}
	for i := range n {
		id := add("", event.Said{Text: event.Inline(fmt.Sprintf("Question %d", i)), By: by})
		add("", event.Admitted{Ref: id})
		turn := event.Turn{Round: i + 1, Take: 1}
		add("max", event.Assigned{Turn: turn, Messages: []string{id}})
		add("max", event.Called{Turn: turn, Call: 1, Text: event.Inline(fmt.Sprintf("Answer %d", i))})
		add("max", event.Concluded{Turn: turn})
	}
	p.Update(batch{items: items})
	p.see(fmt.Sprintf("Answer %d", n-1))
	x := p.laneOf("")
	before := slices.Clone(x.before)
	p.asked("One more")
	p.see("One more", "is at work")
	after := p.laneOf("").before
	if len(after) != len(before)+1 {
		t.Fatalf("%d rows became %d", len(before), len(after))
	}
	for i := range before[:2*(n-1)] {
		if before[i] != after[i] {
			t.Fatalf("row %d was made again", i)
		}
	}
	p.press(key("home"))
	p.see("Question 0", "further down")
	p.words("A word.")
	p.see("Question 0") // it does not follow
	if view.SessionChatting != p.session.State() {
		t.Errorf("the state is %s", p.session.State())
	}
}
