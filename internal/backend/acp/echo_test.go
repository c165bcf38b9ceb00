package acp_test

import (
	"strings"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/acp"
	"conclave/internal/backend/cli/clitest"
)

// A program that only sends back what it is told is no agent, and is named.
func TestEcho(t *testing.T) {
	s := seat{Backend: acp.New(backend.Program{Provider: "acp", Command: []string{"cat"}}, ""), room: clitest.NewRoom(t)}
	defer s.close()
	_, err := s.say(t.Context(), &clitest.Steward{}, user("hello"))
	if backend.KindOf(err) != backend.Invalid || !strings.Contains(err.Error(), "cat does not speak the Agent Client Protocol") {
		t.Errorf("ended with %v", err)
	}
}
