package coord_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// Millions of small values live for one run only: collecting them less often
// saves a third of the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
