package mcpserve

import (
	"fmt"
	"testing"
)

// However many runs a client has launched, no more of its session's log is read
// for the next one than was recorded since the last.
func TestLaunchesReadWhatIsNew(t *testing.T) {
	w := newWorld()
	tr, _, _ := serve(t, w, Options{})
	c := connect(t, tr, nil)
	const launches = 30
	for n := range launches {
		if got := use(t, c, "launch_run", map[string]any{"task": fmt.Sprintf("task %d", n)}); got["status"] != "success" {
			t.Fatalf("got %v", got)
		}
	}
	written := 0
	for range w.log.Read(t.Context(), "session-1", 1) {
		written++
	}
	if got := int(w.reads.Load()); written < launches || got > written {
		t.Errorf("%d events were read of a log of %d", got, written)
	}
}
