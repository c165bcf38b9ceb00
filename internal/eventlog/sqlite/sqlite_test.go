package sqlite_test

import (
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"conclave/internal/eventlog"
	"conclave/internal/eventlog/eventlogtest"
	"conclave/internal/eventlog/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestLog(t *testing.T) {
	eventlogtest.Run(t, eventlogtest.Engine{New: func(t *testing.T) func() eventlog.Log {
		// A path that an unescaped URI would not survive.
		dir := filepath.Join(t.TempDir(), "a ?#%20 path", ".conclave")
		return func() eventlog.Log { return open(t, dir) }
	}})
}

func open(t *testing.T, dir string) *sqlite.Log {
	t.Helper()
	log, err := sqlite.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	return log
}
