package coord_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"conclave/internal/coord"
	"conclave/internal/event"
)

// Logs of real runs, as `conclave log --json` exported them, replay to the same
// decisions for ever. A log is added here when a new version writes something
// older ones did not; none is ever changed or removed.
func TestHistory(t *testing.T) {
	files, err := filepath.Glob("../../testdata/history/*.ndjson")
	if err != nil || len(files) == 0 {
		t.Fatalf("no histories: %v", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			f, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			var log []event.Event
			lines := bufio.NewScanner(f)
			lines.Buffer(nil, 1<<20)
			for lines.Scan() {
				var e event.Event
				if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
					t.Fatal(err)
				}
				log = append(log, e)
			}
			for _, p := range coord.Check(log) {
				t.Error(p)
			}
			if _, ok := log[len(log)-1].Body.(event.Finished); !ok {
				t.Error("the log has no end")
			}
		})
	}
}
