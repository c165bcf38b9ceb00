package cli

import (
	"context"
	"io"
	"strings"
	"testing"

	"conclave/internal/control"
)

// A terminal that knows no escape sequences gets lines of text.
func TestSimpleTerminal(t *testing.T) {
	open := func(string) (control.Control, func() error, error) { return nil, func() error { return nil }, nil }
	for _, simple := range []bool{false, true} {
		var got WindowOptions
		window := func(_ context.Context, _ control.Control, o WindowOptions) (string, error) {
			got = o
			return "", nil
		}
		s := Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, InTerminal: true, OutTerminal: true, Simple: simple, Size: func() (int, int) { return 80, 24 }}
		if code := Main([]string{"sort these"}, s, "test", open, window); code != 0 || got.Task != "sort these" || got.Plain != simple {
			t.Errorf("simple %v: exit code %d, opened with %+v", simple, code, got)
		}
	}
}
