package tui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/view"
)

// Keys come faster than frames: what is chosen is right before it is drawn.
func TestKeysBeforeFrames(t *testing.T) {
	s := newScene(t, 80, 24, "ada", "bob")
	s.start("task", event.Rules{})
	s.open(&ask{where: atLeaving, title: "Leave?"})
	s.press(key("up"), key("enter"))

	s.talk(event.SessionStarted{Kind: event.SessionCoordinate})
	p := &planReview{gate: "plan", revision: 1, view: planLines, note: newField(""), comment: newField("")}
	s.session.Turns = view.ListOf(view.SessionTurn{Plan: &view.SessionPlan{ID: "plan", Revisions: []event.Planned{{Plan: "plan", Revision: 1, Text: event.Inline("one\ntwo")}}}})
	s.screens = []Screen{p}
	s.press(key("up"), key("c"), key("x"), key("enter"))
	if len(p.comments) != 1 || p.comments[0].quote != "one" {
		t.Errorf("the comments are %+v", p.comments)
	}
}

// A question that opens under somebody's fingers takes nothing of what they go on
// typing, however long that takes.
func TestTypingIntoAQuestion(t *testing.T) {
	s := newScene(t, 80, 24, "ada")
	s.start("task", event.Rules{})
	s.ask("permission/1", event.GatePermission)
	if s.top() == nil {
		t.Fatal("the question did not open by itself")
	}
	for _, c := range "do it again, and read all of it" {
		s.now = s.now.Add(300 * time.Millisecond)
		s.press(tea.KeyPressMsg{Code: c, Text: string(c)})
	}
	s.now = s.now.Add(300 * time.Millisecond)
	s.press(key("enter"))
	if n := len(s.still.sent); n != 0 {
		t.Errorf("%+v was sent", s.still.sent)
	}
	if p := s.top().(*permission); p.writing {
		t.Error("a refusal is being written")
	}
	s.now = s.now.Add(time.Second)
	s.press(key("a"))
	if n := len(s.still.sent); n != 1 {
		t.Errorf("%d answers were sent", n)
	}
}

// An answer that could not be sent can be given again; one that was sent is not
// sent twice.
func TestAnswerOnce(t *testing.T) {
	s := newScene(t, 80, 24, "ada")
	s.start("task", event.Rules{})
	s.ask("permission/1", event.GatePermission)
	s.now = s.now.Add(time.Minute)
	s.still.fail = errors.New("the disk is full")
	s.press(key("a"))
	s.see("Not answered: the disk is full")
	s.still.fail = nil
	s.press(key("a"), key("a"), key("r"))
	if n := len(s.still.sent); n != 1 {
		t.Fatalf("%d answers were sent", n)
	}
	s.on("", event.Closed{Gate: "permission/1", Choice: event.PermitOnce, How: "reply", Reply: s.still.sent[0].ID, By: by})

	s.ask(event.GateOverride, event.GateOverride)
	s.press(key("enter"), key("enter"), key("enter"))
	if n := len(s.still.sent); n != 2 {
		t.Errorf("%d answers were sent", n)
	}
}

// Answers that cross with what is heard of them are each known as our own.
func TestOwnAnswers(t *testing.T) {
	s := newScene(t, 80, 24, "ada")
	s.start("task", event.Rules{})
	s.ask("permission/1", event.GatePermission)
	s.ask("permission/2", event.GatePermission)
	s.now = s.now.Add(time.Minute)
	s.press(key("a"), key("tab"))
	s.now = s.now.Add(time.Minute)
	s.press(key("a"))
	for i, f := range s.still.sent {
		b := f.Body.(event.Replied)
		s.on("", event.Closed{Gate: b.Gate, Choice: b.Choice, How: "reply", Reply: f.ID, By: by})
		if got := s.notice.text; !strings.Contains(got, "Decided") {
			t.Errorf("answer %d: %q", i+1, got)
		}
	}
}

// A question of a run that has ended is not taken for one of the next, which may
// have the same name.
func TestQuestionOfAnotherRun(t *testing.T) {
	s := newScene(t, 80, 24, "ada", "bob")
	s.start("task", event.Rules{})
	s.ask(event.GateOverride, event.GateOverride)
	s.decide(s.gates()[0])
	s.on("", event.Finished{Status: event.StatusCancelled})
	if s.top() != nil {
		t.Error("a question without anybody who asks stays open")
	}
	s.flow = "run-2"
	s.start("another task", event.Rules{})
	s.ask(event.GateOverride, event.GateOverride)
	if s.top() != nil {
		t.Error("the question is the one of the run before")
	}
}

// Esc twice is Esc and nothing else in between.
func TestEscTwice(t *testing.T) {
	s := newScene(t, 80, 24, "ada")
	s.start("task", event.Rules{})
	s.press(key("esc"), key("x"), tea.KeyPressMsg{Code: tea.KeyBackspace}, key("esc"))
	if n := len(s.still.sent); n != 0 {
		t.Errorf("%+v was sent", s.still.sent)
	}
	s.press(key("esc"))
	if n := len(s.still.sent); n != 1 {
		t.Errorf("%d were sent", n)
	}
}

// Names mean who bears them in the run that goes on, whatever else is looked at;
// an id comes before a label.
func TestNamesWhileLookingBack(t *testing.T) {
	s := newScene(t, 100, 24, "agent2", "agent1") // labels are agent1, agent2
	s.start("task", event.Rules{})
	if a, _ := s.agentNamed("agent1"); a != "agent1" {
		t.Errorf("agent1 is taken for %s", a)
	}
	past := newStory("run-0")
	past.card.Agents = []view.AgentLine{{ID: "agent2", Label: "agent7"}, {ID: "cyd", Label: "agent1"}}
	s.past, s.tab, s.to = past, 2, currentTab
	if a, ok := s.agentNamed("cyd"); ok {
		t.Errorf("%s is not in the run", a)
	}
	if a := s.target(); a != "" {
		t.Errorf("messages go to %s, who is not in the run", a)
	}
	if got := s.nameOf("agent2"); got != "agent7 (agent2)" {
		t.Errorf("in the run that is shown agent2 is called %s", got)
	}
}

// Pictures cannot be sent to agents at work; nothing of what was typed is lost.
func TestPicturesWhileRunning(t *testing.T) {
	s := newScene(t, 80, 24, "ada")
	s.start("task", event.Rules{})
	s.input.SetText("look at this ")
	s.input.AddImage("cat.png")
	s.press(key("enter"))
	if n := len(s.still.sent); n != 0 {
		t.Errorf("%+v was sent without the picture", s.still.sent)
	}
	s.see("look at this", "cat.png", "picture")
}

// What a window shows first holds until all events are there: nothing runs
// backwards.
func TestSnapshotHolds(t *testing.T) {
	s := newScene(t, 80, 24, "ada")
	s.start("task", event.Rules{})
	s.story.until = 5
	s.story.card.Status = event.StatusSuccess
	s.story.seq = 0
	s.seq[s.flow] = 0
	s.on("", event.RunStarted{Spec: event.RunSpec{Task: event.Inline("task")}})
	if s.busy() || !s.story.over() {
		t.Error("a run that is over begins again")
	}
}

// ask has a question asked.
func (s *scene) ask(gate, kind string) {
	s.on("", event.Asked{Gate: gate, Kind: kind, Title: "May it?", Revision: 1, Default: "ada", Choices: []event.Choice{
		{ID: event.PermitOnce}, {ID: event.PermitRun}, {ID: event.PermitAlways}, {ID: event.PermitDeny}, {ID: "ada"}, {ID: "bob"}}})
}

func (p *still) Send(_ context.Context, _ event.FlowID, f event.Fact) error {
	if p.fail == nil {
		p.sent = append(p.sent, f)
	}
	return p.fail
}

// What was said to a run that ended before it heard comes back.
func TestMessagesToARunThatEnds(t *testing.T) {
	s := newScene(t, 80, 24, "ada")
	s.start("task", event.Rules{})
	for _, words := range []string{"one", "two", "three"} {
		s.input.SetText(words)
		s.press(key("enter"))
	}
	s.on("", event.Admitted{Ref: s.still.sent[0].ID})
	s.on("", event.Finished{Status: event.StatusSuccess})
	s.see("two", "three", "ended before it heard")
	if got := s.input.Text(); got != "two\nthree" {
		t.Errorf("%q comes back", got)
	}
}

// A message that arrives when the run is over comes back as well.
func TestMessageAfterTheEnd(t *testing.T) {
	s := newScene(t, 80, 24, "ada")
	s.start("task", event.Rules{})
	s.input.SetText("late")
	cmd := s.update(key("enter"))
	s.on("", event.Finished{Status: event.StatusSuccess})
	s.follow(cmd)
	if got := s.input.Text(); got != "late" {
		t.Errorf("%q comes back", got)
	}
}

// Nothing of one conversation is left when the window turns to another.
func TestTurnedToAnother(t *testing.T) {
	s := newScene(t, 80, 24, "ada")
	s.start("task", event.Rules{})
	s.talk(event.SessionStarted{Kind: event.SessionCoordinate})
	s.review = &planReview{gate: "plan"}
	s.to, s.leaving, s.unheard = "ada", true, []unheard{{"messaged/1", "words"}}
	s.past = newStory("run-0")
	s.feed.follow("run-0")
	s.vacate()
	if s.review != nil || s.to != "" || s.leaving || s.unheard != nil || s.past != nil || len(s.feed.flow)+len(s.feed.ears) > 0 {
		t.Errorf("left are %+v, %+v", s.conversation, s.feed.flow)
	}
}

// An earlier run is not followed any more when the next one begins.
func TestLookingBackWhenARunBegins(t *testing.T) {
	s := newScene(t, 80, 24, "ada")
	s.start("task", event.Rules{})
	s.past = newStory("run-0")
	s.feed.follow("run-0")
	s.talk(event.SessionStarted{Kind: event.SessionCoordinate})
	s.talk(event.Launched{Run: "run-2", Purpose: event.PurposeAnswer})
	if s.feed.flow["run-0"] != nil {
		t.Error("it is still followed")
	}
}
