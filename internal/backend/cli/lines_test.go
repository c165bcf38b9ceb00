package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Lines of any length come whole, blank ones not at all, and the last one counts
// though nothing ends it.
func TestReadLines(t *testing.T) {
	long := strings.Repeat("é", 3<<20)
	var got []string
	err := readLines(strings.NewReader("one\n\n  \r\ntwo\r\n"+long+"\nlast"), maxLine, func(p []byte) { got = append(got, string(p)) })
	if diff := cmp.Diff([]string{"one", "two", long, "last"}, got); err != nil || diff != "" {
		t.Errorf("%v, %.200s", err, diff)
	}
}

// What was heard stays what it was when more is read.
func TestLinesAreTheHearers(t *testing.T) {
	var got [][]byte
	if err := readLines(strings.NewReader(strings.Repeat("a\nb\n", 50_000)), maxLine, func(p []byte) { got = append(got, p) }); err != nil {
		t.Fatal(err)
	}
	for i, p := range got {
		if want := string("ab"[i%2]); string(p) != want {
			t.Fatalf("line %d has become %q", i, p)
		}
	}
}

// endless is a line without an end.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.n += len(p)
	return len(p), nil
}

func TestEndlessLine(t *testing.T) {
	const limit = 1 << 20
	e := &endless{}
	if err := readLines(e, limit, func([]byte) { t.Error("it was heard") }); err != errLongLine || e.n > 2*limit {
		t.Errorf("%v after %d bytes", err, e.n)
	}
}

// Whatever is sent is one line with one object; anything else is not sent.
func TestLine(t *testing.T) {
	p, err := Line(map[string]string{"text": "two\nlines\r\u2028"})
	if err != nil || bytes.Count(p, []byte("\n")) != 1 || !json.Valid(p) {
		t.Errorf("%q, %v", p, err)
	}
	for _, v := range []any{nil, "text", 7, []int{1}, math.NaN(), map[string]any{"f": func() {}}, json.RawMessage("{"), json.RawMessage("")} {
		if p, err := Line(v); err == nil {
			t.Errorf("%v became the line %q", v, p)
		}
	}
}

// sink keeps what is written and tells when it is closed.
type sink struct {
	bytes.Buffer
	closed chan struct{}
}

func (s *sink) Close() error { close(s.closed); return nil }

// What is in the queue when it is closed is still written, in order; after that
// nothing gets in.
func TestQueue(t *testing.T) {
	q, s := newQueue(), &sink{closed: make(chan struct{})}
	for _, l := range []string{"a\n", "b\n"} {
		if err := q.add([]byte(l)); err != nil {
			t.Fatal(err)
		}
	}
	go q.write(s, nil)
	if err := q.add([]byte("c\n")); err != nil {
		t.Fatal(err)
	}
	q.close()
	<-s.closed
	if got := s.String(); got != "a\nb\nc\n" {
		t.Errorf("written was %q", got)
	}
	if err := q.add([]byte("d\n")); err != ErrClosed {
		t.Errorf("adding then: %v", err)
	}
}

// A queue whose reader is gone does not hold anybody up.
func TestQueueOfNobody(t *testing.T) {
	q, gone := newQueue(), make(chan struct{})
	r, w := io.Pipe()
	r.Close()
	done := make(chan struct{})
	go func() { defer close(done); q.write(w, gone) }()
	_ = q.add([]byte("a\n"))
	<-done
	if err := q.add([]byte("b\n")); err != ErrClosed {
		t.Errorf("adding then: %v", err)
	}
}
