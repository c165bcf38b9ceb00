package app

import (
	"os"
	"strings"
	"testing"

	"conclave/internal/control"
)

// Without git no job is begun: who wants one is told what to install.
func TestJobNeedsGit(t *testing.T) {
	a := bureau(t, "")
	t.Setenv("PATH", t.TempDir())
	_, err := a.NewJob(t.Context(), control.JobRequest{Description: "Compare the offers.", Config: a.project + "/team.yaml"})
	if err == nil || !strings.Contains(err.Error(), "install git") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(a.state("jobs")); err == nil {
		t.Error("something was done")
	}
}

// The last words of a driver are its last message, however many lines it has and
// whatever it failed of before.
func TestLastWords(t *testing.T) {
	a := bureau(t, "")
	if got := a.LastWords("job-1"); got != "" {
		t.Errorf("of nobody: %q", got)
	}
	if err := os.MkdirAll(a.state("runs", "job-1"), 0o755); err != nil {
		t.Fatal(err)
	}
	for log, want := range map[string]string{
		"": "", "panic: x\n": "",
		"conclave: one\nconclave: two\nNothing is lost.\n":                  "two\nNothing is lost.",
		strings.Repeat("conclave: before\n", 2000) + "conclave: the last\n": "the last",
	} {
		if err := os.WriteFile(a.state("runs", "job-1", "driver.log"), []byte(log), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := a.LastWords("job-1"); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
