//go:build linux

package docker

import (
	"io"
	"testing"

	"github.com/moby/moby/client"

	"conclave/internal/sandbox"
)

// BenchmarkExec is a command in a box; the floor is Docker's own exec of it,
// which does not wait for what the command left behind.
func BenchmarkExec(b *testing.B) {
	box := open(b, engine(b), spec(b))
	b.Run("box", func(b *testing.B) {
		for b.Loop() {
			p, err := box.Start(b.Context(), sandbox.Command{Argv: []string{"true"}})
			check(b, err)
			if exit, err := p.Wait(); exit != 0 || err != nil {
				b.Fatal(exit, err)
			}
		}
	})
	b.Run("floor", func(b *testing.B) {
		for b.Loop() {
			made, err := box.api.ExecCreate(b.Context(), box.id, client.ExecCreateOptions{AttachStdout: true, AttachStderr: true, Cmd: []string{"true"}})
			check(b, err)
			a, err := box.api.ExecAttach(b.Context(), made.ID, client.ExecAttachOptions{})
			check(b, err)
			_, err = io.Copy(io.Discard, a.Reader)
			check(b, err)
			a.Close()
			if exit, err := box.exit(made.ID); exit != 0 || err != nil {
				b.Fatal(exit, err)
			}
		}
	})
}

// BenchmarkOpen is a box that replaces another.
func BenchmarkOpen(b *testing.B) {
	e, s := engine(b), spec(b)
	for b.Loop() {
		open(b, e, s)
	}
}
