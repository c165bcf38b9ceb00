package claudecode_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// The test is also the program: with a part to play it is a Claude Code that behaves
// as no real one can be made to.
func TestMain(m *testing.M) {
	if part := os.Getenv(partVar); part != "" {
		play(part)
		return
	}
	goleak.VerifyTestMain(m)
}
