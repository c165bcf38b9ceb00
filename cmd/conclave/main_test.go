package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"conclave/internal/app"
	"conclave/internal/cli"
	"conclave/internal/sandbox/landlock"
)

// asProgram in the environment makes this test binary the program itself.
const asProgram = "CONCLAVE_TEST_AS_PROGRAM"

// quickExit keeps the race detector from sleeping a second before each of many
// processes ends.
const quickExit = "atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	landlock.Child() // as the program does
	run := func() { os.Exit(app.Main(os.Args[1:], cli.System())) }
	if os.Getenv(asProgram) != "" {
		run()
	}
	_ = os.Setenv("GORACE", quickExit)
	testscript.Main(m, map[string]func(){"conclave": run})
}
