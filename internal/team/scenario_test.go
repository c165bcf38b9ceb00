package team_test

import (
	"flag"
	"testing"

	"conclave/internal/flow/flowtest"
	"conclave/internal/team"
)

var update = flag.Bool("update", false, "write what the scenarios now say into their files")

// TestScenarios plays the transcripts in testdata: blocks of what happens, and
// below a line every fact that is recorded because of it, then, after an arrow,
// what the shell is asked to do, and, after an equals sign, what anybody does who
// did something else before. What can happen is listed in stage_test.go.
//
// SR-01 SR-02 SR-03 SR-06 SR-08 SR-11
func TestScenarios(t *testing.T) { flowtest.Scenarios(t, *update, newStage, team.Check) }
