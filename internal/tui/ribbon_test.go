package tui

import (
	"fmt"
	"testing"

	"conclave/internal/event"
)

// Who was stopped by a person is not lost, and a run that stands still says so.
func TestStoppedAndPaused(t *testing.T) {
	s := newScene(t, 100, 24, "ada", "bob")
	s.start("Sort.", event.Rules{})
	s.on("bob", event.Assigned{Turn: one})
	s.on("", event.PauseRequested{By: "you"})
	s.on("", event.Admitted{Ref: fmt.Sprintf("%s-%d", s.flow, s.seq[s.flow])})
	s.see(" paused · ")
	s.on("ada", event.Lost{Code: event.LostStopped, Message: "it was stopped by you"})
	s.see("agent1 was stopped.", "was stopped by you")
	s.press(key("alt+1"))
	s.see("agent1 (ada) · stopped by you")
	s.gone("lost")
}
