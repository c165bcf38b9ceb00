package claudecode_test

import (
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/claudecode"
	"conclave/internal/backend/cli/clitest"
)

// A turn that falls over, or is closed, in the middle takes nobody with it.
func TestEnds(t *testing.T) {
	t.Parallel()
	in := backend.Input{Thread: "t", Messages: []backend.Message{{From: backend.User, Text: "Begin."}}}
	t.Run("falls over", func(t *testing.T) {
		t.Parallel()
		in := in
		in.Room = clitest.NewRoom(t)
		clitest.FallsOver(t, claudecode.New(part(t, "floods", nil), ""), in, true)
	})
	t.Run("closed", func(t *testing.T) {
		t.Parallel()
		in := in
		in.Room = clitest.NewRoom(t)
		clitest.ClosedInTurn(t, claudecode.New(part(t, "floods", nil), ""), in)
	})
}
