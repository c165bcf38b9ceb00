package cli

import (
	"context"
	"errors"
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
		if code := Main([]string{"sort these"}, s, "test", open, window, nil, nil); code != 0 || got.Task != "sort these" || got.Plain != simple {
			t.Errorf("simple %v: exit code %d, opened with %+v", simple, code, got)
		}
	}
}

// staff is a program that has an agent to be talked to, unless its configuration
// is missing.
type staff struct{ control.Control }

func (staff) Team(_ context.Context, config string) (control.Team, error) {
	if config != "" {
		return control.Team{}, errors.New("there is no such file")
	}
	return control.Team{Interactive: &control.Interactive{}}, nil
}

// Who says how the window is to be, and has no terminal for it, is told what to
// do instead; the bare command prints its help.
func TestWindowWithoutTerminal(t *testing.T) {
	open := func(string) (control.Control, func() error, error) { return staff{}, func() error { return nil }, nil }
	window := func(context.Context, control.Control, WindowOptions) (string, error) { return "", nil }
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{nil, 0, ""}, {[]string{"--config", "missing.yaml"}, 1, "with the same flags\n"}, {[]string{"--plan"}, 1, "with the same flags\n"},
		{[]string{"--new"}, 1, `with the same flags; or to the agent you talk to: conclave sessions say --new "what you want"`},
		{[]string{"sort these"}, 1, `conclave run "sort these"; or to the agent you talk to: conclave sessions say --new "sort these"`},
		{[]string{"--coordinate", "sort these"}, 1, "conclave run \"sort these\"\n"},
	} {
		var said strings.Builder
		s := Streams{In: strings.NewReader(""), Out: io.Discard, Err: &said, Size: func() (int, int) { return 80, 24 }}
		if code := Main(c.args, s, "test", open, window, nil, nil); code != c.code || !strings.Contains(said.String(), c.want) {
			t.Errorf("%q: exit code %d, %s", c.args, code, &said)
		}
	}
}

// What a window is opened with: the newest conversation goes on, a task or --new
// begins another, and who asks for a mode of coordination gets coordination.
// IM-06.3, IM-06.6
func TestWindowOnAConversation(t *testing.T) {
	for _, c := range []struct {
		args        []string
		interactive bool
		fresh       bool
	}{
		{nil, true, false},
		{[]string{"--new"}, true, true},
		{[]string{"sort these"}, true, true},
		{[]string{"--config", "other.yaml"}, true, false},
		{[]string{"--config", "other.yaml", "--new"}, true, true},
		{[]string{"--coordinate"}, false, false},
		{[]string{"--plan"}, false, false},
		{[]string{"--quick", "sort these"}, false, true},
		{[]string{"resume"}, true, false},
	} {
		var got WindowOptions
		open := func(string) (control.Control, func() error, error) { return nil, func() error { return nil }, nil }
		window := func(_ context.Context, _ control.Control, o WindowOptions) (string, error) {
			got = o
			return "", nil
		}
		s := Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, InTerminal: true, OutTerminal: true, Size: func() (int, int) { return 80, 24 }}
		if code := Main(c.args, s, "test", open, window, nil, nil); code != 0 || got.Interactive != c.interactive || got.New != c.fresh {
			t.Errorf("%q: exit code %d, opened with %+v", c.args, code, got)
		}
	}
}
