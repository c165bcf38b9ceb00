package backend_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/event"

	"github.com/google/go-cmp/cmp"
)

// stream yields deltas, then the error if there is one.
func stream(err error, deltas ...backend.Delta) iter.Seq2[backend.Delta, error] {
	return func(yield func(backend.Delta, error) bool) {
		for _, d := range deltas {
			if !yield(d, nil) {
				return
			}
		}
		if err != nil {
			yield(backend.Delta{}, err)
		}
	}
}

func TestCollect(t *testing.T) {
	call := event.ToolCall{ID: "1", Name: "look"}
	done := backend.Done{Stop: "tools", Usage: event.Usage{Input: 3}, Native: []byte("n")}
	said := []backend.Delta{{Thinking: "a"}, {Text: "b"}, {Thinking: "c"}, {Call: &call}, {Text: "d"}}
	partial := backend.Reply{Text: "bd", Thinking: "ac", Calls: []event.ToolCall{call}}
	whole := partial
	whole.Done = done
	broken := &backend.Error{Kind: backend.Overloaded, Message: "busy"}

	for _, tt := range []struct {
		name   string
		stream iter.Seq2[backend.Delta, error]
		want   backend.Reply
		kind   backend.ErrorKind
	}{
		{"whole", stream(nil, append(said, backend.Delta{Done: &done})...), whole, ""},
		{"what follows Done is not read", stream(broken, append(said, backend.Delta{Done: &done}, backend.Delta{Text: "x"})...), whole, ""},
		{"cut", stream(nil, said...), partial, backend.Truncated},
		{"failed", stream(broken, said...), partial, backend.Overloaded},
		{"nothing at all", stream(nil), backend.Reply{}, backend.Truncated},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var live []backend.Delta
			got, err := backend.Collect(tt.stream, func(d backend.Delta) { live = append(live, d) })
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if (err == nil) != (tt.kind == "") || err != nil && backend.KindOf(err) != tt.kind {
				t.Errorf("error %v, want kind %q", err, tt.kind)
			}
			again, _ := backend.Collect(stream(nil, live...), nil)
			if diff := cmp.Diff(got, again); diff != "" {
				t.Errorf("live deltas do not add up to the reply: %s", diff)
			}
		})
	}
}

func TestKindOf(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want backend.ErrorKind
	}{
		{fmt.Errorf("turn: %w", &backend.Error{Kind: backend.Auth}), backend.Auth},
		{fmt.Errorf("turn: %w", context.DeadlineExceeded), backend.TimedOut},
		{context.Canceled, backend.Broken},
		{errors.New("x"), backend.Broken},
		{&backend.Error{Kind: backend.Unreachable, Err: context.DeadlineExceeded}, backend.Unreachable},
	} {
		if got := backend.KindOf(tt.err); got != tt.want {
			t.Errorf("KindOf(%v) = %s, want %s", tt.err, got, tt.want)
		}
	}
}

func TestArguments(t *testing.T) {
	for written, want := range map[string]string{
		"":             "{}",
		`{"a": 1}`:     `{"a": 1}`,
		`{"a": `:       `"{\"a\": "`,
		"plain":        `"plain"`,
		`"a string"`:   `"a string"`,
		`{"a":1}{"b"}`: `"{\"a\":1}{\"b\"}"`,
	} {
		if got := string(backend.Arguments(written)); got != want {
			t.Errorf("Arguments(%q) = %s, want %s", written, got, want)
		}
	}
}

// What was used when a turn failed comes with its error.
func TestSpent(t *testing.T) {
	broken, used := &backend.Error{Kind: backend.Overloaded, Message: "busy"}, event.Usage{Input: 5}
	got, err := backend.Collect(stream(&backend.Spent{Usage: used, Err: broken}, backend.Delta{Text: "a"}), nil)
	if got.Text != "a" || got.Usage != used || err != error(broken) {
		t.Errorf("said %q with %+v, %v", got.Text, got.Usage, err)
	}
}
