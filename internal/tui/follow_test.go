package tui_test

import (
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/app"
	"conclave/internal/event"
	"conclave/internal/tui/robot"
)

// another is a second program on the same project, as another process has it.
func another(t testing.TB, a *program) *program {
	t.Helper()
	b, err := app.Open(filepath.Dir(a.config))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return &program{App: b, config: a.config}
}

// A window on a conversation that another process drives hears every run of it,
// and takes it up when that process leaves it.
func TestFollowAndTakeUp(t *testing.T) {
	a, first := busyPair(t)
	var c clock
	o := c.options(another(t, a))
	o.Flow = sessionOf(t, a)
	second := robot.Open(t, o, 100, 30).See("drives this; you follow it", "working")
	second.Press("esc", "esc").See("Stopping").See("The run is over", "Type below to go on")
	second.Type("Think again").Press("enter").See("turn 2", "thinking about it")
	if run := newestRun(t, a); strings.Count(second.Screen(), "thinking about it") != 2 {
		t.Errorf("of %s is heard:\n%s", run, second.Screen())
	}
	first.Close()
	second.See("this window goes on with it").Press("f5").See("driven by this window").Press("esc")
	second.Press("esc", "esc").Until("see it end", func() bool {
		return cardOf(t, a, newestRun(t, a)).Status == event.StatusCancelled
	})
}

// After something that could not begin, the answers before it are still there to
// be copied and the log to be written out.
func TestErrandsAfterNothingBegan(t *testing.T) {
	a := stage(t, pair, nil)
	r, _ := sit(t, a)
	r.Type("Which sort?").Press("enter").See("Press Ctrl+O").Press("enter").See("Final:")
	r.Type("Read @nodir/x.go").Press("enter").See("could not begin", "no such file or folder")
	r.Type("/copy").Press("enter").See("Copied.")
	if s := r.Copied(); !strings.HasPrefix(s, "Final:") {
		t.Errorf("copied %q", s)
	}
	r.Type("/export " + filepath.Join(t.TempDir(), "log.json")).Press("enter").See("Written: ")
}
