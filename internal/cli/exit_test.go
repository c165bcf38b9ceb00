package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"

	"conclave/internal/control"
	"conclave/internal/event"
)

func TestExitCodes(t *testing.T) {
	full := &sink{err: syscall.ENOSPC}
	gone := &sink{err: syscall.EPIPE}
	for _, tt := range []struct {
		name string
		err  error
		out  *sink
		code int
		say  string
	}{
		{"success", nil, &sink{}, 0, ""},
		{"a run's end", ended(event.StatusTimeout), &sink{}, 3, ""},
		{"a failed run", ended(event.StatusError), &sink{}, 2, ""},
		{"left", outcome{exitCancelled}, &sink{}, 4, ""},
		{"usage", control.Usagef("no"), &sink{}, 1, "no"},
		{"not found", &control.NotFound{Typed: "x"}, &sink{}, 1, `there is no run "x" here`},
		{"wrapped usage", fmt.Errorf("try: %w", control.Usagef("no")), &sink{}, 1, "try: no"},
		{"taken over", fmt.Errorf("x: %w", &control.TakenOver{Flow: "f"}), &sink{}, 4, "x: " + (&control.TakenOver{Flow: "f"}).Error()},
		{"anything else", errors.New("broken"), &sink{}, 2, "broken"},
		{"an end and a failure to keep it", errors.Join(errors.New("not kept"), ended(event.StatusTimeout)), &sink{}, 3, "not kept"},
		{"an output that is full", nil, full, 2, "write to standard output: no space left on device"},
		{"a reader that has gone", fmt.Errorf("print: %w", syscall.EPIPE), gone, 0, ""},
		{"a reader that has gone from a failed run", ended(event.StatusError), gone, 2, ""},
	} {
		code, say := exitCode(tt.err, tt.out)
		if code != tt.code || say != tt.say {
			t.Errorf("%s: %d %q, want %d %q", tt.name, code, say, tt.code, tt.say)
		}
	}
}

// After a write that failed there is no other: no hole in the middle.
func TestSinkStops(t *testing.T) {
	var got bytes.Buffer
	fails := 1
	s := &sink{Writer: writer(func(p []byte) (int, error) {
		if fails--; fails == 0 {
			return 0, syscall.ENOSPC
		}
		return got.Write(p)
	})}
	for range 3 {
		if _, err := io.WriteString(s, "text"); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("error %v", err)
		}
	}
	if got.Len() > 0 {
		t.Errorf("%q was written after a failure", got.String())
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
