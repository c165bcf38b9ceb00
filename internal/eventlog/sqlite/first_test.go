package sqlite_test

import (
	"sync"
	"testing"

	"conclave/internal/eventlog/sqlite"
)

// Whoever comes first to a directory makes the log, and those who come at the same
// moment find it made.
func TestFirstOpenedByMany(t *testing.T) {
	for range 20 {
		dir := t.TempDir()
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				l, err := sqlite.Open(t.Context(), dir)
				if err != nil {
					t.Error(err)
					return
				}
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
}
