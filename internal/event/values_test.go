package event_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"conclave/internal/event"
)

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		`"1m30s"`: 90 * time.Second, `"0s"`: 0, `"-2s"`: -2 * time.Second, `"1h0m0.5s"`: time.Hour + 500*time.Millisecond,
	} {
		var d event.Duration
		if err := json.Unmarshal([]byte(text), &d); err != nil || time.Duration(d) != want {
			t.Errorf("%s was read as %v, %v", text, d, err)
		}
		if p, err := json.Marshal(d); err != nil || string(p) != text {
			t.Errorf("%v was written as %s, %v, want %s", want, p, err, text)
		}
	}
	for _, text := range []string{`"90"`, `"soon"`, `90`, `""`} {
		var d event.Duration
		if err := json.Unmarshal([]byte(text), &d); err == nil {
			t.Errorf("%s was read as %v", text, d)
		}
	}
}

func TestMoney(t *testing.T) {
	for m, want := range map[event.Money]string{
		0: "$0.00", event.Dollar: "$1.00", 1_234_567: "$1.23", 10_000: "$0.01", 1_500: "$0.0015",
		-event.Dollar: "$-1.00", -1_500: "$-0.0015", 9_999: "$0.0100", 1_000_000_000_000: "$1000000.00",
	} {
		if got := m.String(); got != want {
			t.Errorf("Money(%d) is %s, want %s", int64(m), got, want)
		}
	}
}

func TestUsage(t *testing.T) {
	u := event.Usage{Input: 100, Cached: 80, Output: 20, Reasoning: 15, Cost: 7}
	if got := u.Tokens(); got != 120 {
		t.Errorf("%d tokens: cached and reasoned ones are part of the others", got)
	}
	if got, want := u.Amount(), (event.Amount{Tokens: 120, Cost: 7}); got != want {
		t.Errorf("amount %+v, want %+v", got, want)
	}
	want := event.Usage{Input: 101, Cached: 82, Output: 23, Reasoning: 19, Cost: 12}
	if got := u.Add(event.Usage{Input: 1, Cached: 2, Output: 3, Reasoning: 4, Cost: 5}); got != want {
		t.Errorf("sum %+v, want %+v", got, want)
	}
}

func TestBudgetLimited(t *testing.T) {
	var none int64
	var free event.Money
	for want, b := range map[bool][]event.Budget{
		false: {{}},
		true:  {{Tokens: &none}, {Cost: &free}, {Tokens: &none, Cost: &free}}, // zero is a ceiling
	} {
		for _, b := range b {
			if b.Limited() != want {
				t.Errorf("%+v: limited is %v", b, !want)
			}
		}
	}
}

func TestContent(t *testing.T) {
	long := strings.Repeat("é", event.InlineMax)
	for s, size := range map[string]int{"": 0, "abc": 3, "é": 2, long: 2 * event.InlineMax} {
		c := event.Inline(s)
		if c.Text != s || c.Size != size || c.Blob != "" || c.Empty() != (size == 0) {
			t.Errorf("Inline of %d bytes is %d bytes, empty %v, blob %q", len(s), c.Size, c.Empty(), c.Blob)
		}
	}
	if c := (event.Content{Blob: event.HashOf([]byte("x")), Size: 1}); c.Empty() {
		t.Error("a blob is no text")
	}
	if c := (event.Content{}); !c.Empty() {
		t.Error("the zero value is a text")
	}
	if got, want := event.HashOf([]byte("abc")), event.Hash("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"); got != want {
		t.Errorf("hash of abc is %s, want %s", got, want)
	}
}

func TestTurn(t *testing.T) {
	turn := event.Turn{Round: 3, Take: 12}
	if turn.String() != "3.12" || turn.Key("ada") != "turn/ada/3.12" {
		t.Errorf("%s, %s", turn, turn.Key("ada"))
	}
	for name, want := range map[string]bool{"vote": true, "new_answer": true, "": false, "voted": false, "shell": false} {
		if event.IsOutcome(name) != want {
			t.Errorf("IsOutcome(%q) is %v", name, !want)
		}
	}
}

func TestSeenCovers(t *testing.T) {
	for _, test := range []struct {
		s, t event.Seen
		want bool
	}{
		{nil, nil, true},
		{event.Seen{"a": 1}, nil, true},
		{nil, event.Seen{"a": 1}, false},
		{event.Seen{"a": 1}, event.Seen{"a": 1}, true},
		{event.Seen{"a": 1}, event.Seen{"a": 2}, false},
		{event.Seen{"a": 3, "b": 1}, event.Seen{"a": 2}, true},
		{event.Seen{"a": 3}, event.Seen{"a": 2, "b": 1}, false},
		{nil, event.Seen{"a": 0}, true},
	} {
		if got := test.s.Covers(test.t); got != test.want {
			t.Errorf("%v covers %v: %v", test.s, test.t, got)
		}
	}
}

func TestWritable(t *testing.T) {
	read, write := event.ContextPath{Path: "docs"}, event.ContextPath{Path: "src", Write: true}
	for want, paths := range map[bool][][]event.ContextPath{false: {nil, {read}}, true: {{write}, {read, write}}} {
		for _, p := range paths {
			if got := (event.RunSpec{ContextPaths: p}).Writable(); got != want {
				t.Errorf("%+v: writable is %v", p, got)
			}
		}
	}
}

// TestNumbersSurvive: counters and seeds use all 64 bits.
func TestNumbersSurvive(t *testing.T) {
	in := event.RunStarted{Seed: math.MaxUint64, Rules: event.Defaults(event.Mode{})}
	p, err := event.EncodeBody(in)
	if err != nil {
		t.Fatal(err)
	}
	out, err := event.DecodeBody("run_started", p)
	if err != nil {
		t.Fatal(err)
	}
	if got := out.(event.RunStarted).Seed; got != math.MaxUint64 {
		t.Errorf("seed %d", got)
	}
}

func TestParseMoney(t *testing.T) {
	for in, want := range map[string]event.Money{
		"2.50": 2_500_000, "$2": 2_000_000, "0": 0, ".5": 500_000, "3.": 3_000_000, " 0.000001 ": 1, "123456789012": 123456789012000000,
	} {
		if got, err := event.ParseMoney(in); got != want || err != nil {
			t.Errorf("%q is %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "$", ".", "-1", "1e3", "1,50", "2.5.0", "0.0000001", "9999999999999", "NaN", "two"} {
		if got, err := event.ParseMoney(in); err == nil {
			t.Errorf("%q is taken for %d", in, got)
		}
	}
}
