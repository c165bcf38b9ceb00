package tui

import "testing"

// A wheel that is spun has one frame drawn in a moment, not one for each notch.
func TestSpin(t *testing.T) {
	var s spin
	if s.turn(true) == nil || s.skip {
		t.Error("the first notch is not drawn at once")
	}
	for range 3 {
		if s.turn(true) != nil || !s.skip {
			t.Error("a notch in the same moment is drawn")
		}
	}
	m := &Model{spin: s}
	m.spin.last.Content = "as it was"
	if got := m.View().Content; got != "as it was" {
		t.Errorf("a frame that is skipped is drawn: %q", got)
	}
	m.update(spun{})
	if m.spin.turn(true) == nil || m.spin.skip {
		t.Error("the first notch of the next moment is not drawn")
	}
	m.update(spun{})
	for range 2 {
		if m.spin.turn(false) != nil || m.spin.skip {
			t.Error("without a terminal a notch is not drawn")
		}
	}
}
