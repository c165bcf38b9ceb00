package event_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"conclave/internal/event"
)

// update says what a test may do to its golden file: "append" adds lines for
// new kinds and touches no other, "rewrite" writes lines anew that have gained a
// field. A line that has lost or changed one is not rewritten: what was written
// in that form must be read and written back as it was.
var update = flag.String("update", "", "append or rewrite the golden wire lines")

const kindsGolden = "testdata/kinds.golden"

// TestKindsGolden holds every kind to the wire form it was first given. There is
// one line for each, in the order of the kinds table, with a value in every
// field, so that a new field shows as well.
func TestKindsGolden(t *testing.T) {
	want := goldenLines(t)
	var got []string
	for i, kind := range event.Kinds() {
		line := wireLine(t, kind)
		got = append(got, line)
		switch {
		case i >= len(want):
			if *update == "" {
				t.Errorf("%s has no line; run with -update=append", kind)
			}
		case want[i] != line && (*update != "rewrite" || readBack(t, want[i]) != want[i]):
			t.Errorf("line %d has changed\n is  %s\n was %s", i+1, line, want[i])
		}
	}
	if len(want) > len(got) {
		t.Errorf("%d lines for %d kinds: a kind was taken away", len(want), len(got))
	}
	if *update != "" && !t.Failed() {
		if err := os.WriteFile(kindsGolden, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestGoldenLinesRead decodes every golden line and writes it back.
func TestGoldenLinesRead(t *testing.T) {
	for i, line := range goldenLines(t) {
		if got := readBack(t, line); got != line {
			t.Errorf("line %d\n was read and written as %s\n and is               %s", i+1, got, line)
		}
	}
}

func readBack(t *testing.T, line string) string {
	t.Helper()
	var e event.Event
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		t.Fatal(err)
	}
	if _, unknown := e.Body.(event.Unknown); unknown {
		t.Errorf("kind %s is not known any more", event.Kind(e.Body))
	}
	return marshal(t, e)
}

func goldenLines(t *testing.T) []string {
	t.Helper()
	p, err := os.ReadFile(kindsGolden)
	if err != nil && *update == "" {
		t.Fatal(err)
	}
	if len(p) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(p), "\n"), "\n")
}

func wireLine(t *testing.T, kind string) string {
	t.Helper()
	return marshal(t, event.Event{
		Pos: 9, Flow: "run-20261115-084210-k3f9", Seq: 7,
		At:   time.Date(2026, 11, 15, 8, 42, 10, 250_000_000, time.UTC),
		Fact: event.Fact{ID: "cause/1", Agent: "ada", Body: filled(t, kind)},
	})
}

// filled is a body of that kind with something in every field.
func filled(t *testing.T, kind string) event.Body {
	t.Helper()
	zero, err := event.DecodeBody(kind, []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	v := reflect.New(reflect.TypeOf(zero)).Elem()
	fill(v, kind)
	return v.Interface().(event.Body)
}

func fill(v reflect.Value, name string) {
	switch v.Interface().(type) {
	case json.RawMessage:
		v.SetBytes([]byte(`{"a":"<b> & c","n":1.50}`))
		return
	case event.Duration:
		v.SetInt(int64(90 * time.Second))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), v.Type().Field(i).Name)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), name)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), name)
	case reflect.Map:
		key, val := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, name)
		fill(val, name)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, val)
	case reflect.String:
		v.SetString(strings.ToLower(name))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(2 + len(name)))
	case reflect.Uint64:
		v.SetUint(1<<63 + uint64(len(name)))
	case reflect.Float64:
		v.SetFloat(0.25)
	default:
		panic(fmt.Sprintf("no value for a %s in %s", v.Type(), name))
	}
}

// marshal is an event as a line of a log.
func marshal(t *testing.T, e event.Event) string {
	t.Helper()
	p, err := e.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.ContainsRune(p, '\n') {
		t.Fatalf("more than one line: %s", p)
	}
	return string(p)
}

// TestKinds checks the table itself: no name and no type twice, and Kind finds
// its way back.
func TestKinds(t *testing.T) {
	names, types := map[string]bool{}, map[reflect.Type]string{}
	for _, kind := range event.Kinds() {
		b := filled(t, kind)
		if got := event.Kind(b); got != kind {
			t.Errorf("Kind(%T) = %q, want %q", b, got, kind)
		}
		if names[kind] {
			t.Errorf("%q is listed twice", kind)
		}
		if other, ok := types[reflect.TypeOf(b)]; ok {
			t.Errorf("%q and %q are both %T", kind, other, b)
		}
		names[kind], types[reflect.TypeOf(b)] = true, kind
	}
}

// TestKindPanics: a body outside the table is a fault of the program that wrote
// it, and is found the first time it is used.
func TestKindPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a body outside the table has a kind")
		}
	}()
	event.Kind(&event.Lost{}) // bodies are values, never pointers
}
