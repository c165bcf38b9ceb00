package host

import (
	"testing"

	"conclave/internal/sandbox"
	"conclave/internal/sandbox/sandboxtest"
)

func TestMain(m *testing.M) { sandboxtest.Main(m) }

func TestHost(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T) sandbox.Engine { return &Engine{Procs: t.TempDir(), Boxes: t.TempDir()} }, sandboxtest.Traits{
		Unconfined: true, Strays: true, NoMemory: true, NoProcs: true,
	})
}
