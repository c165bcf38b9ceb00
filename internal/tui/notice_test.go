package tui

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
)

// A notice goes by itself, or with the next key that is not the same breath.
func TestNoticeGoes(t *testing.T) {
	s := newScene(t, 80, 24, "ada", "bob")
	s.notify("Something was saved.")
	s.now = s.now.Add(100 * time.Millisecond)
	s.press(key("x"))
	s.see("Something was saved.")
	s.now = s.now.Add(300 * time.Millisecond)
	s.press(key("y"))
	s.gone("Something was saved.")
	s.notify("Something was saved.")
	s.now = s.now.Add(6 * time.Second)
	s.gone("Something was saved.")
}

// What to do stands at the end of a notice: it is not cut off.
func TestNoticeWraps(t *testing.T) {
	for _, h := range []int{12, 24} {
		s := newScene(t, 40, h, "ada", "bob")
		s.notify("The run stands still for a long while. F9 goes on.")
		s.see("The run stands still for", "F9 goes on.")
	}
}

// What a dialog decides with is seen, whatever else the window has to say.
func TestNoticeAboveKeys(t *testing.T) {
	for _, w := range []int{40, 80} {
		s := newScene(t, w, 12, "ada", "bob")
		s.start("Sort.", event.Rules{})
		s.confirm("Stop ada?", "It will not act again.", func(*Model) tea.Cmd { return nil })
		s.notify("Something else has happened meanwhile, which is told in many words.")
		s.see("Something else has", "Esc close")
	}
}

// A mode that was chosen is no news once a run has begun.
func TestNoticeOfModes(t *testing.T) {
	s := newScene(t, 80, 24, "ada", "bob")
	s.press(key("alt+e"))
	s.see("Refinement is off")
	s.talk(event.SessionStarted{})
	s.talk(event.Launched{Run: s.flow})
	s.gone("Refinement is off")
}

// Ctrl+C leaves only if it is meant.
func TestLeaveTwice(t *testing.T) {
	s := newScene(t, 80, 24, "ada", "bob")
	leaves := func() bool {
		cmd := s.update(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl})
		if cmd == nil {
			return false
		}
		_, quits := cmd().(tea.QuitMsg)
		return quits
	}
	if leaves() {
		t.Fatal("left at once")
	}
	s.see("Press Ctrl+C again to leave")
	s.now = s.now.Add(4 * time.Second)
	if leaves() {
		t.Fatal("left at a key that came too late")
	}
	s.now = s.now.Add(time.Second)
	if !leaves() {
		t.Fatal("not left")
	}
}
