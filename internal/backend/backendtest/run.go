// Package backendtest is the meaning of the backend seam: scenes that every
// engine has to play.
//
// An engine's test is
//
//	func TestSeam(t *testing.T) {
//		backendtest.Run(t, func(t *testing.T, s backendtest.Scene) backend.Backend { … })
//	}
//
// where the function builds a backend whose other side behaves as the scene
// says: a script, or an engine pointed at a fake server on the loopback.
package backendtest

import (
	"context"
	"fmt"
	"testing"

	"conclave/internal/backend"

	"go.uber.org/goleak"
)

// A Maker builds a backend that plays a scene. Whatever it starts it ends in a
// cleanup of t; after that no goroutine may be left. A scene that the engine's
// protocol cannot express is skipped with t.Skip and a reason.
type Maker func(t *testing.T, s Scene) backend.Backend

// Run plays every scene.
func Run(t *testing.T, make Maker) {
	for _, c := range cases() {
		t.Run(c.scene.Name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			t.Cleanup(func() { goleak.VerifyNone(t, before) }) // the last cleanup of all
			b := make(t, c.scene)
			if c.scene.OwnsLoop && !b.Traits().OwnsLoop {
				t.Skip("about backends that own their loop")
			}
			for _, problem := range c.problems(t.Context(), b) {
				t.Error(problem)
			}
		})
	}
}

// A testcase is a scene and what has to be true of a backend that plays it.
type testcase struct {
	scene Scene
	check func(*checker)
}

// problems plays the scene and returns everything that was not as it should be.
func (c testcase) problems(ctx context.Context, b backend.Backend) []string {
	k := &checker{ctx: ctx, backend: b, scene: c.scene}
	c.check(k)
	return k.found
}

// A checker collects what is wrong. It is used by one goroutine at a time.
type checker struct {
	ctx     context.Context
	backend backend.Backend
	scene   Scene
	found   []string
}

func (k *checker) errorf(format string, args ...any) {
	k.found = append(k.found, fmt.Sprintf(format, args...))
}

func equal[T comparable](k *checker, what string, got, want T) {
	if got != want {
		k.errorf("%s is %v, want %v", what, clip(got), clip(want))
	}
}

// clip keeps a message readable.
func clip(v any) string {
	s := fmt.Sprintf("%#v", v)
	if len(s) > 200 {
		return fmt.Sprintf("%s… (%d bytes)", s[:200], len(s))
	}
	return s
}
