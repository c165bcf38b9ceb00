package event_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"conclave/internal/event"
)

// TestUnknownKinds: a fact of a newer version is written back byte for byte.
func TestUnknownKinds(t *testing.T) {
	for _, body := range []string{
		`{}`, `null`, `[]`, `3`, `"text"`,
		`{"z":1,"a":2,"a":3}`,                     // order and doubles are kept
		`{"n":123456789012345678901234567890.50}`, // numbers are not numbers of ours
		`{"html":"<b> & </b>","escaped":"\u003cb\u003e"}`,
		`{"u":"\u2028 and ` + "\u2028" + `","é":"` + "é" + `"}`,
		`{"deep":{"list":[{"x":null},[true,false]]}}`,
	} {
		line := `{"v":1,"pos":4,"flow":"run-1","seq":2,"at":"2026-11-15T08:42:10Z","id":"x/1","agent":"a","kind":"from_the_future","body":` + body + `}`
		var e event.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		want := event.Unknown{Kind: "from_the_future", Raw: []byte(body)}
		if !reflect.DeepEqual(e.Body, event.Body(want)) {
			t.Errorf("%s was read as %+v", body, e.Body)
		}
		if got := marshal(t, e); got != line {
			t.Errorf("%s was written back as\n%s", line, got)
		}
	}
}

// TestUnknownBody: the body alone is kept as it stands, white space included, and
// shares nothing with what it was read from.
func TestUnknownBody(t *testing.T) {
	raw := []byte("{ \"a\" : [ 1 ] }\n")
	b, err := event.DecodeBody("later", raw)
	if err != nil {
		t.Fatal(err)
	}
	copy(raw, "XXXXXX")
	got, err := event.EncodeBody(b)
	if err != nil {
		t.Fatal(err)
	}
	if want := "{ \"a\" : [ 1 ] }\n"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if event.Kind(b) != "later" {
		t.Errorf("its kind is %q", event.Kind(b))
	}
}

// TestRefusedLines lists what is no event at all.
func TestRefusedLines(t *testing.T) {
	for name, test := range map[string]struct{ line, want string }{
		"newer version":                    {`{"v":2,"flow":"f","seq":1,"at":"2026-11-15T08:42:10Z","id":"i","kind":"lost","body":{}}`, "wire version 2"},
		"newer version of an unknown kind": {`{"v":2,"flow":"f","seq":1,"at":"2026-11-15T08:42:10Z","id":"i","kind":"new","body":{}}`, "wire version 2"},
		"no version":                       {`{"flow":"f","seq":1,"at":"2026-11-15T08:42:10Z","id":"i","kind":"lost","body":{}}`, "wire version 0"},
		"negative version":                 {`{"v":-1,"flow":"f","seq":1,"at":"2026-11-15T08:42:10Z","id":"i","kind":"lost","body":{}}`, "wire version -1"},
		"not JSON":                         {`{"v":1`, "unexpected end"},
		"not an object":                    {`[]`, "decode event"},
		"body of another shape":            {`{"v":1,"flow":"f","seq":3,"at":"2026-11-15T08:42:10Z","id":"i","kind":"lost","body":[]}`, "event 3 of f: decode lost"},
		"body with another type":           {`{"v":1,"flow":"f","seq":3,"at":"2026-11-15T08:42:10Z","id":"i","kind":"resumed","body":{"down":"soon"}}`, "decode resumed"},
		"no body":                          {`{"v":1,"flow":"f","seq":3,"at":"2026-11-15T08:42:10Z","id":"i","kind":"lost"}`, "decode lost"},
		"no time":                          {`{"v":1,"flow":"f","seq":3,"at":"noon","id":"i","kind":"lost","body":{}}`, "noon"},
		"no year":                          {`{"v":1,"flow":"f","seq":3,"at":"0000-01-01T00:00:00+23:59","id":"i","kind":"lost","body":{}}`, "year -1"},
		"negative number":                  {`{"v":1,"flow":"f","seq":-3,"at":"2026-11-15T08:42:10Z","id":"i","kind":"lost","body":{}}`, "seq"},
	} {
		t.Run(name, func(t *testing.T) {
			e := event.Event{Seq: 77}
			err := e.UnmarshalJSON([]byte(test.line))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want one with %q", err, test.want)
			}
			if e.Seq != 77 || e.Body != nil {
				t.Errorf("a refused line has changed the event: %+v", e)
			}
		})
	}
}

// TestEncodeFails: what JSON cannot hold is an error with the kind in it.
func TestEncodeFails(t *testing.T) {
	nan := event.Proposed{Outcomes: []event.Outcome{{Answer: &event.Answer{Similarity: math.NaN()}}}}
	if _, err := event.EncodeBody(nan); err == nil || !strings.Contains(err.Error(), "encode proposed") {
		t.Errorf("error is %v", err)
	}
	if _, err := (event.Event{Fact: event.Fact{Body: nan}}).MarshalJSON(); err == nil {
		t.Error("the event was written all the same")
	}
	late := event.Event{At: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC), Fact: event.Fact{Body: event.TimerFired{}}}
	if _, err := late.MarshalJSON(); err == nil {
		t.Error("a year of five digits was written")
	}
}

// TestTimesAreUTC: where the writer stood is not part of the fact.
func TestTimesAreUTC(t *testing.T) {
	e := event.Event{
		Flow: "f", Seq: 1, At: time.Date(2026, 11, 15, 10, 0, 0, 1000, time.FixedZone("CET", 3600)),
		Fact: event.Fact{ID: "i", Body: event.TimerFired{}},
	}
	if got := marshal(t, e); !strings.Contains(got, `"at":"2026-11-15T09:00:00.000001Z"`) {
		t.Error(got)
	}
}

// FuzzDecode: whatever is read without an error can be written, and reads again
// as the same.
func FuzzDecode(f *testing.F) {
	for _, line := range []string{
		`{"v":1,"pos":4,"flow":"run-1","seq":2,"at":"2026-11-15T08:42:10.5Z","id":"x/1","agent":"a","kind":"future","body":{"a": 1, "b":"<>"}}`,
		`{"v":1,"flow":"run-1","seq":1,"at":"2026-11-15T08:42:10+02:00","id":"x","kind":"resumed","body":{"down":"1h3m","epoch":3}}`,
		`{"v":1,"flow":"f","seq":1,"at":"2026-11-15T08:42:10Z","id":"i","kind":"lost","body":null}`,
		`{"v":1,"flow":"f","seq":1,"at":"0000-01-01T00:00:00+23:59","id":"i","kind":"lost","body":{}}`,
		`{"v":1,"flow":"f","seq":1,"at":"2026-11-15T08:42:10Z","id":"i","kind":"called","body":{"tools":[{"id":"1","input":{"x": [1,2]}}]}}`,
		`{"v":1,"flow":"f","seq":1,"at":"2026-11-15T08:42:10Z","id":"i","kind":"proposed","body":{"outcomes":[{"vote":{"for":"agent1"}},{}]}}`,
		`{"v":1,"flow":"f","seq":1,"at":"2026-11-15T08:42:10Z","id":"i","kind":"","body":7}`,
		`{"v":2}`, `{`, `null`, ``,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		var e, again event.Event
		if json.Unmarshal(p, &e) != nil || e.Body == nil {
			return
		}
		first, err := e.MarshalJSON()
		if err != nil {
			t.Fatalf("was read and cannot be written: %v", err)
		}
		if err := json.Unmarshal(first, &again); err != nil {
			t.Fatalf("was written and cannot be read: %v\n%s", err, first)
		}
		second, err := again.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if string(first) != string(second) {
			t.Errorf("not stable\n%s\n%s", first, second)
		}
		if again.Seq != e.Seq || again.ID != e.ID || !again.At.Equal(e.At) || event.Kind(again.Body) != event.Kind(e.Body) {
			t.Errorf("%+v was read back as %+v", e, again)
		}
	})
}
