package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
)

// foot is the last line of the screen.
func (p *play) footLine() string {
	lines := strings.Split(strings.TrimRight(p.Model.View().Content, "\n"), "\n")
	all := strings.Split(p.screen(), "\n")
	return all[len(lines)-1]
}

// What stands on a card is what the keys do from where the focus is: Enter with
// nothing typed opens the run that goes on, or the newest one that is in view.
//
// IM-13.2
func TestCardKeys(t *testing.T) {
	p, _ := desk(t, 100, 40)
	p.launched()
	p.see("[Open] (Enter)  [Cancel] (Esc)")
	p.press(key("z"))
	p.see("[Open] (F6, Enter)") // Enter says what is typed
	p.press(tea.KeyPressMsg{Code: tea.KeyBackspace})
	p.press(key("enter"))
	p.see("[Back]", "Run: Which sorting")
	p.press(key("esc"))
	p.gone("[Back]")
	p.press(key("f6"))
	p.see("[Open] (Enter)  [Cancel] (x)")
	p.press(key("up"))
	p.see("[Open]  [Cancel] (x)") // another entry is selected
	p.press(key("esc"))
	p.ended(event.StatusSuccess)
	p.words("All agree.")
	p.chair(event.Concluded{Turn: p.turn()})
	p.see("[Open] (Enter)")
	p.press(key("enter"))
	p.see("[Back]")
	p.press(key("esc"))
	for range 40 {
		p.asked("Go on")
		p.words("Going on.")
		p.chair(event.Concluded{Turn: p.turn()})
	}
	p.gone("[Open]")
	if p.press(key("enter")); p.past != nil {
		t.Error("a run that nobody sees is opened")
	}
}

// A question that waits comes before a run that could be opened.
func TestCardKeysWhileAQuestionWaits(t *testing.T) {
	p, _ := desk(t, 100, 40)
	p.launched()
	p.ended(event.StatusSuccess)
	want := p.wants("w2", "Another")
	p.asksFor(want)
	p.see("[Open] (F6, Enter)")
	p.press(key("enter"))
	p.see("Launch this run?")
}

// What Esc does is said wherever one is.
func TestEscapeIsCalledWhatItDoes(t *testing.T) {
	p, _ := desk(t, 100, 30)
	says := func(want string) {
		t.Helper()
		p.now = p.now.Add(time.Minute) // no notice
		if got := p.footLine(); !strings.Contains(got, want) {
			t.Errorf("the footer is %q, not %q:\n%s", got, want, p.screen())
		}
	}
	p.asked("Hello")
	says("Esc stop max")
	p.words("Good day.")
	p.chair(event.Concluded{Turn: p.turn()})
	p.launched()
	says("Esc cancel the run…")
	p.click("[Open]")
	says("Esc back")
	for _, c := range "/cancel " {
		p.press(key(string(c)))
	}
	p.press(key("enter"))
	p.see("Cancel the run?", "Which sorting")
	if len(p.program.sent) > 0 {
		t.Errorf("sent before it was asked: %v", p.sentBodies())
	}
	p.press(key("esc"), key("esc"))
	p.ended(event.StatusSuccess)
	p.chair(event.Concluded{Turn: p.turn()})
	p.driver.stop, p.driver.flow = nil, ""
	p.press(key("alt+q"))
	says("Esc back")
}

// Below a dialog nothing is offered that it does not take.
func TestFootBelowADialog(t *testing.T) {
	p, _ := desk(t, 100, 40)
	p.proposed()
	p.see("a approve", "Esc later")
	p.gone("Ctrl+D leave")
	if got := p.footLine(); got != "" {
		t.Errorf("below the dialog stands %q", got)
	}
}

// A card says who won where there was something to win, and that a run is ending
// while its conversation does not know yet.
func TestCardWords(t *testing.T) {
	for _, c := range []struct {
		name   string
		agents []event.AgentID
		status event.Status
		won    bool
	}{
		{"three", []event.AgentID{"ada", "bob", "eve"}, event.StatusSuccess, true},
		{"one", []event.AgentID{"bob"}, event.StatusSuccess, false},
		{"cancelled", []event.AgentID{"ada", "bob"}, event.StatusCancelled, false},
	} {
		p := rehearse(t, 100, 40, "none")
		p.asked("Please")
		launch := event.Launch{Task: event.Inline(question), Agents: c.agents}
		p.talk(event.Launched{Run: p.flow, Purpose: event.PurposeTask, Want: p.wants("w1", question), Launch: &launch})
		p.start(question, event.Rules{})
		p.on("", event.Finished{Status: c.status, Answer: event.Inline(bobs), Winner: "bob"})
		p.see("ending")
		p.gone("running, ", "finished")
		p.talk(event.Returned{Run: p.flow, Status: c.status, Answer: event.Inline(bobs), Winner: "bob"})
		if got := strings.Contains(p.screen(), "bob won"); got != c.won {
			t.Errorf("%s: that bob won is said: %v\n%s", c.name, got, p.screen())
		}
		var out strings.Builder
		(&plain{m: p.Model, ctx: t.Context(), out: &out}).news()
		if got := strings.Contains(out.String(), "bob won"); got != c.won {
			t.Errorf("%s: as lines: %v\n%s", c.name, got, &out)
		}
	}
}

// Who looks at a run goes on looking at it when another one begins, and is told.
func TestRunBeginsWhileAnotherIsLookedAt(t *testing.T) {
	p, _ := desk(t, 100, 40)
	p.cardOpened()
	first := p.flow
	p.ended(event.StatusSuccess)
	p.press(key("alt+2"))
	p.see("Let me compare.")
	p.words("Another one.")
	want := p.wants("w2", "Sort it all again")
	p.flow = "run-2"
	launch := event.Launch{Task: event.Inline("Sort it all again"), Agents: []event.AgentID{"ada", "bob", "eve"}}
	p.talk(event.Launched{Run: p.flow, Purpose: event.PurposeTask, Want: want, Launch: &launch})
	p.see("[Back]", "Run: Which sorting", "Let me compare.", "Another run has begun: Sort it all again.", "Esc goes back")
	p.start("Sort it all again", event.Rules{})
	p.on("ada", event.Assigned{Turn: one, MayAnswer: true})
	p.see("Run: Which sorting", "Let me compare.")
	if p.past == nil || p.past.id != first || p.story.id != "run-2" || p.story.seq != 2 {
		t.Errorf("seen is %+v, and what goes on is %+v", p.past, p.story)
	}
	p.press(key("esc"))
	p.see("● Run: Sort it all again", "[Open] (Enter)")
	p.press(key("enter"))
	p.see("Run: Sort it all again", "[Back]")
	if !p.runTakes() {
		t.Error("what is typed does not go to the run that is opened")
	}
}

// Who approves second is told in words what was decided, and by whom.
func TestLateApproval(t *testing.T) {
	for choice, say := range map[string]string{
		event.LaunchApprove: "This run was already decided: approved by ann.",
		event.LaunchDeny:    "This run was already decided: not approved by ann.",
	} {
		p, b := desk(t, 100, 40)
		want := p.proposed()
		p.now = p.now.Add(time.Minute)
		p.press(key("a"))
		mine := b.sent[len(b.sent)-1]
		p.talk(event.Closed{Gate: "launch/" + want, Choice: choice, How: "reply", By: "ann", Reply: "hers"})
		p.talk(mine.Body)
		p.talk(event.Refused{Ref: mine.ID, Code: "gate", Why: `"launch/want/max/1/w1" is already answered (by ann): approve.`})
		p.see(say)
		p.gone("launch/want")
	}
}

// What is held and what is pinned is counted as people count.
func TestCountedWords(t *testing.T) {
	p := rehearse(t, 100, 40, "none")
	p.launched()
	for _, s := range []string{"one", "two", "three", "four"} {
		p.hold(s)
	}
	p.see("1 more is held")
	p.hold("five")
	p.see("2 more are held")
}

// A search in a text says that it finds nothing.
func TestReaderFindsNothing(t *testing.T) {
	p := rehearse(t, 100, 40, "none")
	p.press(tea.KeyPressMsg{Code: tea.KeyF1}, key("/"))
	p.letters("leave")
	p.gone("nothing fits that")
	p.letters("xyzzy")
	p.see("search: leavexyzzy  (nothing fits that)")
}

// A command that cannot be given says why when it is chosen from the menu, and
// what is typed next is apart from it.
func TestMenuSaysWhyNot(t *testing.T) {
	p := rehearse(t, 100, 40, "none")
	p.interactive()
	p.letters("/pin")
	p.press(key("enter"))
	p.see("Nothing was said yet; say something first.")
	p.letters("it")
	p.see("❯ /pin it")
}
