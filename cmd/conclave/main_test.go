package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"conclave/internal/app"
	"conclave/internal/cli"
)

// asProgram in the environment makes this test binary the program itself.
const asProgram = "CONCLAVE_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	run := func() { os.Exit(app.Main(os.Args[1:], cli.System())) }
	if os.Getenv(asProgram) != "" {
		run()
	}
	testscript.Main(m, map[string]func(){"conclave": run})
}

// Every script drives the real program through its real entry point.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "../../testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("NO_COLOR", "1")
			return nil
		},
	})
}
