//go:build linux

package bwrap

import (
	"os"
	"testing"

	"conclave/internal/sandbox"
	"conclave/internal/sandbox/sandboxtest"
)

func TestMain(m *testing.M) { sandboxtest.Main(m) }

func TestBwrap(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T) sandbox.Engine { return &Engine{Procs: t.TempDir(), Boxes: t.TempDir()} }, sandboxtest.Traits{
		NoProcs: os.Getuid() == 0,
	})
}
