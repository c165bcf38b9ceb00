package tui

import (
	"fmt"
	"os"
	"testing"
)

// What is handed to an editor that never comes to run is kept for its writer: here it
// goes with everything else the tests leave.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "tui") // short, for the names of sockets
	if err == nil {
		err = os.Setenv("TMPDIR", dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "a folder for the tests:", err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}
