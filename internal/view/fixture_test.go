package view_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/internal/event"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// A fixture is a log to fold and the file that says what it folds to.
type fixture struct {
	name   string
	golden string
	log    []event.Event
}

// fixtures are the logs written by hand in testdata, and the recorded ones of
// the whole program if there are any.
func fixtures(t testing.TB) []fixture {
	t.Helper()
	var out []fixture
	add := func(pattern, golden string, parse func(string) ([]event.Event, error)) {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			src, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			log, err := parse(string(src))
			if err != nil {
				t.Fatalf("%s: %v", f, err)
			}
			name := strings.TrimSuffix(filepath.Base(f), filepath.Ext(f))
			out = append(out, fixture{name, filepath.Join(golden, name+".txt"), log})
		}
	}
	add("testdata/*.log", "testdata/golden", parseLog)
	if len(out) == 0 {
		t.Fatal("no fixtures in testdata")
	}
	add("../../testdata/history/*.ndjson", "testdata/history-golden", parseNDJSON)
	add("../../testdata/history/sessions/*.ndjson", "testdata/history-golden", parseNDJSON)
	return out
}

// parseLog reads a log as a person writes it. After "flow ID" and "at TIME",
// each fact is
//
//	+DELAY AGENT KIND ID BODY
//
// where "-" is no agent and BODY is JSON that goes on over indented lines. The
// sequence number and the time are stamped here. "#" begins a comment.
func parseLog(src string) ([]event.Event, error) {
	var flow event.FlowID
	var now time.Time
	var log []event.Event
	for _, line := range strings.Split(strings.ReplaceAll(src, "\n ", " "), "\n") {
		f := columns(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case f[0] == "flow":
			flow = event.FlowID(f[1])
		case f[0] == "at":
			at, err := time.Parse(time.RFC3339, f[1])
			if err != nil {
				return nil, err
			}
			now = at
		case f[4] != "":
			delay, err := time.ParseDuration(strings.TrimPrefix(f[0], "+"))
			if err != nil {
				return nil, err
			}
			body, err := event.DecodeBody(f[2], []byte(f[4]))
			if err != nil {
				return nil, err
			}
			now = now.Add(delay)
			e := event.Event{Flow: flow, Seq: uint64(len(log) + 1), At: now, Fact: event.Fact{ID: f[3], Body: body}}
			if f[1] != "-" {
				e.Agent = event.AgentID(f[1])
			}
			log = append(log, e)
		default:
			return nil, fmt.Errorf("not a fact: %q", line)
		}
	}
	return log, nil
}

// columns cuts a line at white space into four words and the rest.
func columns(line string) (out [5]string) {
	for i := range 4 {
		out[i], line, _ = strings.Cut(strings.TrimLeft(line, " "), " ")
	}
	out[4] = strings.TrimLeft(line, " ")
	return out
}

// parseNDJSON reads an exported log.
func parseNDJSON(src string) ([]event.Event, error) {
	var log []event.Event
	lines := bufio.NewScanner(strings.NewReader(src))
	lines.Buffer(nil, len(src)+1)
	for lines.Scan() {
		var e event.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(log)+1, err)
		}
		log = append(log, e)
	}
	return log, lines.Err()
}

// mustEvents is parseLog for a log inside a test.
func mustEvents(t *testing.T, src string) []event.Event {
	t.Helper()
	log, err := parseLog(src)
	if err != nil {
		t.Fatal(err)
	}
	return log
}
