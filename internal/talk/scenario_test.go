package talk_test

import (
	"flag"
	"testing"

	"conclave/internal/flow/flowtest"
	"conclave/internal/talk"
)

var update = flag.Bool("update", false, "write what the scenarios now say into their files")

// TestScenarios plays the transcripts in testdata: blocks of what happens, and
// below a line every fact that is recorded because of it, then, after an arrow,
// what the shell is asked to do, and, after an equals sign, what phase the session
// is in if that has changed. What can happen is listed in stage_test.go.
func TestScenarios(t *testing.T) {
	flowtest.Scenarios(t, *update, func() *flowtest.Stage[*talk.Session] { return newStage().Stage }, talk.Check)
}
