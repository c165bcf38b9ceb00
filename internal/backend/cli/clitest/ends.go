package clitest

import (
	"context"
	"testing"
	"time"

	"conclave/internal/backend"
)

// FallsOver has whoever reads a turn panic at its first words. The backend can take
// another turn, if again says so, and can be closed.
func FallsOver(t *testing.T, b backend.Backend, in backend.Input, again bool) {
	t.Helper()
	read := func() {
		defer func() {
			if recover() == nil {
				t.Error("the turn said nothing")
			}
		}()
		for range b.Turn(t.Context(), in, &Steward{}) {
			panic("it falls over")
		}
	}
	read()
	if again {
		read()
	}
	Closes(t, b)
}

// ClosedInTurn closes a backend when a turn has said its first words. The turn ends
// with an error.
func ClosedInTurn(t *testing.T, b backend.Backend, in backend.Input) {
	t.Helper()
	said, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		first := true
		_, err := backend.Collect(b.Turn(context.WithoutCancel(t.Context()), in, &Steward{}), func(backend.Delta) {
			if first {
				close(said)
			}
			first = false
		})
		ended <- err
	}()
	<-said
	Closes(t, b)
	if err := <-ended; err == nil {
		t.Error("the turn was whole")
	}
}

// Closes fails the test if a backend does not come to its end.
func Closes(t *testing.T, b backend.Backend) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- b.(backend.Closer).Close() }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it cannot be closed")
	}
}
