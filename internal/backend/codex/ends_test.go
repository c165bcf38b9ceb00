package codex_test

import (
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/cli/clitest"
)

// A turn that falls over, or is closed, in the middle takes nobody with it.
func TestEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, backend.Backend, backend.Input){
		"falls over": func(t *testing.T, b backend.Backend, in backend.Input) { clitest.FallsOver(t, b, in, false) },
		"closed":     clitest.ClosedInTurn,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSeat(t, "itself", scene(backendtest.Reply{Parts: says("Wait.").Parts, Hang: true}), 0)
			end(t, s.Backend, backend.Input{Room: s.room, Thread: "talk", Messages: []backend.Message{user("hello")}})
		})
	}
}
