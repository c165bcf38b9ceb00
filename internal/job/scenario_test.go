package job_test

import (
	"flag"
	"testing"

	"conclave/internal/flow/flowtest"
	"conclave/internal/job"
)

var update = flag.Bool("update", false, "write what the scenarios now say into their files")

// TestScenarios plays the transcripts in testdata: blocks of what happens, and
// below a line every fact that is recorded because of it, then, after an arrow,
// what the shell is asked to do, and, after an equals sign, whether the job works,
// is frozen or over if that has changed. What can happen is listed in stage_test.go.
//
// IP-02 IP-03 IP-04 IP-05 IP-07 IP-11
func TestScenarios(t *testing.T) { flowtest.Scenarios(t, *update, newStage, job.Check) }
