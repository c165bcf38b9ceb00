package claudecode

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/policy"

	"github.com/google/go-cmp/cmp"
)

// A cell is a room that is only looked at.
type cell struct {
	backend.Room
	readOnly, boxed bool
}

func (c cell) Dir() string    { return "/ws" }
func (c cell) ReadOnly() bool { return c.readOnly }
func (c cell) Boxed() bool    { return c.boxed }

func TestActions(t *testing.T) {
	for _, c := range []struct {
		tool, input string
		kind        policy.Kind
		target      string
	}{
		{"Bash", `{"command":"ls | wc","description":"count"}`, policy.Command, "ls | wc"},
		{"Write", `{"file_path":"/ws/a/b.txt","content":"x"}`, policy.Write, "/ws/a/b.txt"},
		{"Edit", `{"file_path":"../b.txt"}`, policy.Write, "/b.txt"},
		{"NotebookEdit", `{"notebook_path":"n.ipynb"}`, policy.Write, "/ws/n.ipynb"},
		{"Read", `{"file_path":"/etc/passwd"}`, policy.Read, "/etc/passwd"},
		{"Grep", `{"pattern":"x"}`, policy.Read, "/ws"},
		{"Glob", `{"pattern":"*","path":"sub"}`, policy.Read, "/ws/sub"},
		{"WebFetch", `{"url":"https://example.com","prompt":"?"}`, policy.URL, "https://example.com"},
		{"WebSearch", `{"query":"go"}`, policy.URL, "go"},
		{"Read", `{"file_path":7}`, policy.Read, "/ws"},
		{"OfTomorrow", `not JSON`, policy.Other, "OfTomorrow"},
	} {
		got := action(cell{boxed: true}, c.tool, json.RawMessage(c.input))
		want := policy.Action{Tool: c.tool, Kind: c.kind, Target: c.target, Dir: "/ws", Boxed: true, Input: c.input}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s %s: %s", c.tool, c.input, diff)
		}
	}
}

// Every tool that may change something is one that is asked for, and where nothing
// may be changed it is not there.
func TestOwnTools(t *testing.T) {
	has := func(c cell, tool string) bool { return slices.Contains(ownTools(c), tool) }
	for tool := range acts {
		if tool == "MultiEdit" {
			continue // of older versions
		}
		if !has(cell{}, tool) {
			t.Errorf("%s is missing", tool)
		}
	}
	if has(cell{readOnly: true}, "Write") || has(cell{readOnly: true}, "Bash") || !has(cell{readOnly: true}, "Read") {
		t.Errorf("in a room where nothing may be changed: %v", ownTools(cell{readOnly: true}))
	}
	if ro := (cell{readOnly: true, boxed: true}); has(ro, "Edit") || !has(ro, "Bash") {
		t.Errorf("and which is a box: %v", ownTools(ro))
	}
	for _, tool := range []string{"Task", "Agent", "AskUserQuestion", "ExitPlanMode"} {
		if has(cell{}, tool) {
			t.Errorf("%s is among them", tool)
		}
	}
}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		line line
		want backend.ErrorKind
	}{
		{line{Status: 401}, backend.Auth},
		{line{Status: 403}, backend.Auth},
		{line{Status: 400, Result: "API Error: 400 messages: at least one message is required"}, backend.Invalid},
		{line{Status: 400, Result: "Prompt is too long · the request is ~208310 tokens"}, backend.TooLong},
		{line{Status: 413}, backend.TooLong},
		{line{Status: 429, Result: "API Error: Request rejected (429) · cannot connect"}, backend.RateLimited},
		{line{Status: 529}, backend.Overloaded},
		{line{Status: 500}, backend.Overloaded},
		{line{Result: "API Error: Unable to connect to API (ECONNREFUSED)"}, backend.Unreachable},
		{line{Result: "Request timed out"}, backend.TimedOut},
		{line{Result: "Not logged in · Please run /login"}, backend.Auth},
		{line{Subtype: "error_max_turns"}, backend.Broken},
		{line{Subtype: "error_during_execution", Errors: []string{"something odd"}}, backend.Broken},
	} {
		got := failure(c.line)
		if got.Kind != c.want || got.Error() == "" {
			t.Errorf("%+v: %s %v, want %s", c.line, got.Kind, got, c.want)
		}
	}
}

// Lines of tomorrow are read as far as they are known; what is no object is none.
func TestParse(t *testing.T) {
	l, ok := parse([]byte(`{"type":"result","is_error":true,"api_error_status":"none","usage":[],"result":"words","new":{}}`))
	if !ok || l.Type != "result" || !l.IsError || l.Result != "words" {
		t.Errorf("%v %+v", ok, l)
	}
	for _, p := range []string{`{"type":`, `["type"]`, `warning`, `"text"`} {
		if l, ok := parse([]byte(p)); ok {
			t.Errorf("%s is a line: %+v", p, l)
		}
	}
}

// What somebody says is never a command to the program.
func TestUserLine(t *testing.T) {
	for said, want := range map[string]string{"/clear": " /clear", "see /tmp": "see /tmp", "": ""} {
		if got := userLine("id", said, nil)["message"].(object)["content"]; got != want {
			t.Errorf("%q is said as %q", said, got)
		}
	}
	p, err := json.Marshal(userLine("id", "See.", []backend.Image{{Type: "image/png", Data: []byte("png")}}))
	if err != nil || !strings.Contains(string(p), `"data":"cG5n"`) || !strings.Contains(string(p), `"text":"See."`) {
		t.Errorf("%s, %v", p, err)
	}
}

// The whole of a block adds only what its pieces have not said.
func TestRest(t *testing.T) {
	for _, c := range []struct{ pieces, whole, want string }{
		{"Hel", "Hello", "lo"}, {"Hello", "Hello", ""}, {"", "Hello", "Hello"}, {"So far", "Another try", "Another try"},
	} {
		var b strings.Builder
		b.WriteString(c.pieces)
		if got := rest(&b, c.whole); got != c.want || b.Len() > 0 {
			t.Errorf("%q then %q: %q", c.pieces, c.whole, got)
		}
	}
}

// Messages that nothing keeps apart are kept apart.
func TestOutlet(t *testing.T) {
	var got strings.Builder
	o := &outlet{yield: func(d backend.Delta, _ error) bool { got.WriteString(d.Text); return true }}
	for _, s := range []string{"I look.", "Found ", "it. ", "Done", "\nreally."} {
		o.apart = s != "it. "
		o.text(s)
	}
	if want := "I look.\n\nFound it. Done\nreally."; got.String() != want {
		t.Errorf("%q", got.String())
	}
}
