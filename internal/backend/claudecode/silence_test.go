package claudecode_test

import (
	"testing"
	"time"

	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/claudecode/claudetest"
	"conclave/internal/backend/cli/clitest"
	"conclave/internal/event"
)

// A command that says nothing is ended before its silence ends the turn, however
// short a silence the turn may have.
func TestSilentCommand(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(r claudetest.Request) backendtest.Reply {
		if claudetest.Last(r) == "wait" {
			return claudetest.Reply(claudetest.Use("Bash", map[string]any{"command": "sleep 1000", "timeout": 600_000}))
		}
		return claudetest.Say("It took too long.")
	})
	p := s.program
	p.Idle = event.Duration(10 * time.Second)
	s.agent = s.open(p)
	if got := s.say(&clitest.Steward{}, "talk", "wait"); got != "It took too long." {
		t.Errorf("said %q", got)
	}
}
