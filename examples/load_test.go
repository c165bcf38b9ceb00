package examples_test

import (
	"path/filepath"
	"testing"

	"conclave/internal/config"
)

// Every example loads with nothing to say about it, whoever's keys are missing.
func TestExamplesLoad(t *testing.T) {
	t.Setenv("DOCS_TOKEN", "fake") // mcp.yaml hands it to a server
	files, err := filepath.Glob("*.yaml")
	if err != nil || len(files) < 9 {
		t.Fatal(files, err)
	}
	for _, p := range files {
		f, err := config.Load(p)
		if err != nil {
			t.Errorf("%s: %v", p, err)
			continue
		}
		for _, w := range append(f.Warnings, f.Notes...) {
			t.Error(w)
		}
	}
}
