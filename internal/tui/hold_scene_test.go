package tui

import (
	"context"
	"errors"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
)

// Send takes what is said to a run.
func (p *holdable) Send(_ context.Context, _ event.FlowID, f event.Fact) error {
	p.said = append(p.said, f)
	return p.fail
}

// holdable is a program that takes what is said.
type holdable struct {
	*still
	said []event.Fact
	fail error
}

// holds are what was said about reading questions.
func (p *holdable) holds() string {
	out := ""
	for _, f := range p.said {
		if b, ok := f.Body.(event.Held); ok {
			out += map[bool]string{true: "+", false: "-"}[b.On]
		}
	}
	return out
}

// asked is a window in which a permission is asked for that lapses.
func asked(t *testing.T) (*scene, *holdable) {
	s := newScene(t, 80, 24, "ada")
	p := &holdable{still: s.still}
	s.c = p
	s.start("Do it", event.Defaults(event.Mode{Single: true}))
	s.on("ada", event.Assigned{Turn: one, MayAnswer: true})
	s.on("ada", event.Asked{Gate: "permission/1", Kind: event.GatePermission, Revision: 1, Title: "May agent1 (ada) use shell?",
		Choices: []event.Choice{{ID: event.PermitOnce}, {ID: event.PermitDeny}}, Default: event.PermitDeny, Wait: event.Duration(time.Minute)})
	return s, p
}

// gets gives the window a message as Bubble Tea does, and carries out what comes
// of it as far as it is about holding.
func (s *scene) gets(msg tea.Msg) {
	s.update(msg)
	s.follow(s.holding())
}

// A permission that has opened by itself goes on to lapse until somebody touches
// a key, for perhaps nobody is there; then it waits, and after the dialog is
// closed it goes on.
func TestPermissionWaitsForWhoIsThere(t *testing.T) {
	s, p := asked(t)
	s.see("Permission, 1:00 left")
	s.now = s.now.Add(time.Second)
	s.gets(tea.FocusMsg{})
	if got := p.holds(); got != "" {
		t.Errorf("said without anybody there: %s", got)
	}
	s.gets(key("up"))
	s.see("Permission, waits while you choose")
	s.gets(key("esc"))
	s.gone("while you choose")
	if got := p.holds(); got != "+-" {
		t.Errorf("said: %s", got)
	}
}

// What is meant last is said last, however long it takes to say; what was
// answered is not let go of; and a reply that was not taken is.
func TestHoldsInOrder(t *testing.T) {
	s, p := asked(t)
	s.now = s.now.Add(time.Second)
	s.update(key("up"))
	slow := s.holding()
	s.update(key("esc"))
	if cmd := s.holding(); cmd != nil {
		t.Error("two things are on their way at once")
	}
	s.follow(slow)
	s.follow(s.holding())
	if got := p.holds(); got != "+-" {
		t.Errorf("said: %s", got)
	}
	s.update(key("enter")) // opens it
	s.follow(s.holding())
	s.press(key("a"))
	s.follow(s.holding())
	if got := p.holds(); got != "+-+" {
		t.Errorf("said, with an answer on its way: %s", got)
	}
	s.closeAll()
	s.follow(s.holding())
	no := event.Refused{Ref: p.said[len(p.said)-1].ID, Why: "no"}
	s.gets(batch{items: []fed{{flow: s.flow, event: s.event(s.flow, "", no)}}})
	if got := p.holds(); got != "+-+-" {
		t.Errorf("said after the answer was refused: %s", got)
	}
}

// Where it cannot be said, the countdown is shown.
func TestHoldFails(t *testing.T) {
	s, p := asked(t)
	p.fail = errors.New("the disk is full")
	s.now = s.now.Add(time.Second)
	s.gets(key("up"))
	s.see("Permission, 0:59 left", "The question does not wait: the disk is full")
	s.gets(key("up"))
	if got := p.holds(); got != "+" {
		t.Errorf("said: %s", got)
	}
}
