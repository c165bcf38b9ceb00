package script_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/script"
	"conclave/internal/event"
)

// load is a script of testdata, played without delays.
func load(t *testing.T, name string) backend.Backend {
	t.Helper()
	s, err := script.Load(filepath.Join("testdata", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return script.New(s, script.Options{Pace: new(0.0)})
}

// once has b speak and describes it, the error included.
func once(t *testing.T, b backend.Backend, in backend.Input, h backend.ToolHost) string {
	t.Helper()
	r, err := backend.Collect(b.Turn(t.Context(), in, h), nil)
	out := describe(r)
	if err != nil {
		out += fmt.Sprintf(" error %s: %v", backend.KindOf(err), err)
	}
	return strings.TrimSpace(out)
}

func TestCarefulExample(t *testing.T) {
	b := load(t, "careful")
	if m := b.Traits().Model; m != "script:careful" {
		t.Errorf("model %q", m)
	}
	for _, tt := range []struct {
		in   backend.Input
		want string
	}{
		{backend.Input{Messages: []backend.Message{prompt()}, Tools: outcomes},
			`think "Let me look." new_answer {"content":"My first answer to: Sort these."} stop tools`},
		{three(),
			`say "I have read agent1 and agent3." new_answer {"content":"Insert.\nagent1 adds: Use a heap.\nagent3 adds: Merge the runs that are there, whatever they are.\n\n"} stop tools`},
		{backend.Input{Messages: three().Messages, Tools: outcomes[1:]},
			`vote {"agent_id":"agent3","reason":"It is the most complete.","ranking":["agent3","agent1","agent2"]} stop tools`},
		{backend.Input{Messages: three().Messages},
			`say "Final: Sort these.\nInsert.\n" stop end`},
	} {
		if got := once(t, b, tt.in, nil); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

func TestToolsExample(t *testing.T) {
	b := load(t, "tools")
	in := backend.Input{Messages: []backend.Message{prompt()}, Tools: outcomes}
	const asks = `say "Looking." read_file {"path":"notes/todo.md","lines":[1,20],"strict":true,"note":null,"weight":1.5} stop tools`
	for range 2 { // the same input, the same reply
		if got := once(t, b, in, nil); got != asks {
			t.Fatalf("got  %s\nwant %s", got, asks)
		}
	}
	for failed, want := range map[bool]string{
		false: `new_answer {"content":"It says: buy milk"} stop tools`,
		true:  `new_answer {"content":"I could not read it: buy milk\nand bread"} stop tools`,
	} {
		next := in
		next.Messages = append(next.Messages[:1:1], assistant("Looking."), result(failed, "buy milk\nand bread"))
		if got := once(t, b, next, nil); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestMisbehavingExample(t *testing.T) {
	b := load(t, "misbehaving")
	for task, want := range map[string]string{
		"two votes":       `vote {"agent_id":"agent1","reason":"One."} vote {"agent_id":"agent2","reason":"Two."} stop tools`,
		"vote and answer": `vote {"agent_id":"agent1","reason":"Theirs."} new_answer {"content":"Mine after all."} stop tools`,
		"vote for nobody": `vote {"agent_id":"agent99","reason":"Who?"} stop tools`,
		"unknown tool":    `launch_rockets {} stop tools`,
		"broken JSON":     `new_answer "{\"content\": \"unfinis" stop tools`,
		"wrong shape":     `vote ["agent1"] stop tools`,
		"empty answer":    `new_answer {"content":""} stop tools`,
		"only talk":       `say "I would rather not decide." stop end`,
		"silence":         `stop end`,
		"too long":        `say "And then" stop length`,
		"overloaded":      `say "Half a" error overloaded: busy with overloaded`,
		"no key":          `error auth: as the script says`,
		"cut off":         `think "Hm." say "Half a" error truncated: the reply ended before it was complete`,
		"repeats itself":  `new_answer {"content":"Insert."} stop tools`,
		"something else":  `error invalid: script misbehaving: no step fits model call 1 (own answers: 1, peers' answers: 2, presenting: false)`,
	} {
		in := three()
		in.Messages[0].Text = strings.Replace(in.Messages[0].Text, "Sort these.", task, 1)
		if got := once(t, b, in, nil); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", task, got, want)
		}
	}
}

// A desk answers an agent that owns its loop.
type desk struct {
	results []backend.ToolResult // one for each call, in order
	calls   []event.ToolCall
}

func (d *desk) result(c event.ToolCall) backend.ToolResult {
	d.calls = append(d.calls, c)
	return d.results[len(d.calls)-1]
}

func TestCLIExample(t *testing.T) {
	for _, tt := range []struct {
		name    string
		results []backend.ToolResult
		want    string
		usage   event.Usage
	}{
		{"told to end", []backend.ToolResult{{Text: "a.go"}, {Text: "accepted", End: true}},
			`say "Step one. Saw a.go. " stop end`, event.Usage{Input: 300, Cached: 90, Output: 30, Reasoning: 5, Cost: 30_000}},
		{"goes on when refused", []backend.ToolResult{{Text: "a.go"}, {Text: "too short", Error: true}},
			`say "Step one. Saw a.go. Refused: too short" stop end`, event.Usage{Input: 301, Cached: 90, Output: 30, Reasoning: 5, Cost: 30_000}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, d := load(t, "cli"), &desk{results: tt.results}
			if !b.Traits().OwnsLoop {
				t.Fatal("does not own its loop")
			}
			var usage event.Usage
			r, err := backend.Collect(b.Turn(t.Context(), backend.Input{Messages: []backend.Message{prompt()}}, host(d.result)), nil)
			usage = r.Usage
			if got := describe(r); err != nil || got != tt.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, tt.want)
			}
			if usage != tt.usage {
				t.Errorf("usage %+v, want %+v", usage, tt.usage)
			}
			const calls = `[call_1_1 shell {"command":"ls"} call_2_1 new_answer {"content":"Files: a.go"}]`
			var got []string
			for _, c := range d.calls {
				got = append(got, fmt.Sprintf("%s %s %s", c.ID, c.Name, c.Input))
			}
			if fmt.Sprint(got) != calls {
				t.Errorf("calls %v, want %s", got, calls)
			}
		})
	}
}
