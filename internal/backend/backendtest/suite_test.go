package backendtest

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"conclave/internal/backend"
)

// problems runs the whole suite against one fault.
func problems(t *testing.T, owns bool, f fault) []string {
	var out []string
	for _, c := range cases() {
		if c.scene.OwnsLoop && !owns {
			continue
		}
		p := &player{scene: c.scene, owns: owns, fault: f, busy: new(atomic.Int32)}
		for _, problem := range c.problems(t.Context(), p) {
			out = append(out, c.scene.Name+": "+problem)
		}
		if n := p.busy.Load(); n != 0 {
			t.Fatalf("%s: %d turns are still going on", c.scene.Name, n)
		}
	}
	return out
}

func TestFaultless(t *testing.T) {
	Run(t, func(_ *testing.T, s Scene) backend.Backend {
		return &player{scene: s, busy: new(atomic.Int32)}
	})
	if found := problems(t, true, none); len(found) > 0 {
		t.Errorf("owning its loop:\n%s", strings.Join(found, "\n"))
	}
}

// TestNotices has the suite notice every fault it is there for.
func TestNotices(t *testing.T) {
	both := []fault{doneTwice, textAfterDone, noDone, emptyDelta, twoFields, afterError, deltaWithError, deaf, wrongError,
		losesText, fakesDone, mixesThinking, sameID, noID, rawJSON, dropsResults, dropsSystem, dropsTools, dropsHistory,
		noUsage, wrongKind, noRetry, plainError, truncates}
	for owns, faults := range map[bool][]fault{
		false: append([]fault{reorders, callsHost, wrongStop}, both...),
		true:  append([]fault{ignoresEnd, yieldsCalls}, both...),
	} {
		for _, f := range faults {
			t.Run(fmt.Sprintf("owns=%v/%s", owns, f), func(t *testing.T) {
				found := problems(t, owns, f)
				if len(found) == 0 {
					t.Error("nothing noticed")
				}
				t.Log(strings.Join(found[:min(2, len(found))], "\n"))
			})
		}
	}
}
