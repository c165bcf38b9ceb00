//go:build linux

package landlock

import (
	"testing"

	"conclave/internal/sandbox"
	"conclave/internal/sandbox/sandboxtest"
)

func TestMain(m *testing.M) { sandboxtest.Main(m, Child) }

func TestLandlock(t *testing.T) {
	open := func(t *testing.T) sandbox.Engine {
		return &Engine{Self: sandboxtest.Program(t, false), Procs: t.TempDir(), Boxes: t.TempDir()}
	}
	sandboxtest.Run(t, open, sandboxtest.Traits{Modes: true, Crowded: true, NoUnix: true, NoProcs: true})
}
