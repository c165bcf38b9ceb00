package demo_test

import (
	"encoding/json"
	"strings"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/script"
	"conclave/internal/backend/script/demo"
)

var offered = []backend.ToolSpec{{Name: "launch_run"}, {Name: "read"}}

// The host answers small talk itself and has the others work on the rest, in the
// way that was asked for.
func TestHost(t *testing.T) {
	pace := 0.0
	b := script.New(demo.Host().Script, script.Options{Pace: &pace})
	for said, want := range map[string]string{
		"Hello!":                         "host of the built-in demo",
		"hi there":                       "host of the built-in demo",
		"hello again":                    "host of the built-in demo",
		"Hello, how are you?":            "host of the built-in demo",
		"hello, who are you?":            "I launch a run",
		"hey, what is this?":             "I launch a run",
		"tell me a joke":                 "walk into a bar",
		"Can you tell me a joke, please": "walk into a bar",
		"another one":                    "walk into a bar",
		"How are you?":                   "as far as a script can tell",
		"yes":                            "in a sentence",
		"ok, thanks a lot!":              "You are welcome",
		"great, thank you all":           "You are welcome",
		"good bye":                       "You are welcome",
		"good ideas for a shed?":         `{"task":"good ideas`,
		"help me sort my records":        `{"task":"help me sort`,
		"are we right to use Go?":        `{"task":"are we right`,
		"what is this error about?":      `{"task":"what is this`,
		"what can you do about caches?":  `{"task":"what can you do about`,
		"Thank you!":                     "You are welcome",
		"What can you do?":               "I launch a run",
		demo.Task:                        `{"task":"Which sorting`,
		"hello, which kite is the best?": `{"task":"hello, which kite`,
		"quick: name a colour":           `"agent_mode":"single","agents":["pragmatist"]`,
		"Make a plan for a shed":         `"planning_mode":true`,
	} {
		reply, err := backend.Collect(b.Turn(t.Context(), backend.Input{
			Messages: []backend.Message{{From: backend.User, Text: said}}, Tools: offered,
		}, nil), nil)
		got := reply.Text
		for _, c := range reply.Calls {
			got += string(c.Input)
		}
		if err != nil || !strings.Contains(got, want) || strings.Contains(want, `"`) != (len(reply.Calls) == 1) {
			t.Errorf("%s: %v\n%s", said, err, got)
		}
	}
}

// It reads the result it was sent, however the run has ended.
func TestHostReadsResults(t *testing.T) {
	pace := 0.0
	b := script.New(demo.Host().Script, script.Options{Pace: &pace})
	for want, result := range map[string]map[string]any{
		"pragmatist carried the day after 6 rounds of work, counting everybody's. In": {
			"status": "success", "final_answer": "Use Timsort.", "coordination_summary": map[string]any{"winner": "pragmatist", "how": "votes", "rounds": 6},
		},
		"pragmatist has done it. In": {
			"status": "success", "final_answer": "Use Timsort.", "coordination_summary": map[string]any{"winner": "pragmatist", "how": "only", "rounds": 2},
		},
		"> Use Timsort.":       {"status": "success", "final_answer": "Use Timsort.", "coordination_summary": map[string]any{"winner": "pragmatist"}},
		"nothing was launched": {"status": "cancelled", "error": "the user did not approve this run: not now"},
		"this run: not now":    {"status": "cancelled", "error": "the user did not approve this run: not now"},
		"You stopped the run":  {"status": "cancelled", "final_answer": "Half of it."},
		"Nobody had finished":  {"status": "cancelled", "final_answer": ""},
		"timeout, too late":    {"status": "timeout", "error": "too late", "final_answer": "Most of it."},
		"There is no answer":   {"status": "error", "error": "no key"},
	} {
		text, err := json.Marshal(result)
		if err != nil {
			t.Fatal(err)
		}
		reply, err := backend.Collect(b.Turn(t.Context(), backend.Input{
			Tools: offered,
			Messages: []backend.Message{
				{From: backend.User, Text: demo.Task}, {From: backend.Assistant, Text: "I will ask them."},
				{From: backend.Tool, Results: []backend.ToolResult{{Name: "launch_run", Text: string(text)}}},
			},
		}, nil), nil)
		if err != nil || !strings.Contains(reply.Text, want) || len(reply.Calls) > 0 {
			t.Errorf("%s: %v\n%s", text, err, reply.Text)
		}
	}
}

// What was said while a run went on comes with its result: both are taken up.
func TestHostHearsWhatWasHeld(t *testing.T) {
	pace := 0.0
	b := script.New(demo.Host().Script, script.Options{Pace: &pace})
	for _, tt := range []struct {
		result string
		held   []string
		want   []string
		task   string
	}{
		{`{"status":"success","final_answer":"Use Timsort."}`, []string{"And for a million records?"},
			[]string{"> Use Timsort.", "> And for a million records?"}, "And for a million records?"},
		{`{"status":"success","final_answer":"Use Timsort."}`, []string{"And for strings?", "Or for dates?"},
			[]string{"> Use Timsort.", "> And for strings?\n> Or for dates?"}, "And for strings?\nOr for dates?"},
		{`{"status":"success","final_answer":"Use Timsort."}`, []string{"thanks"}, []string{"> Use Timsort.", "you are welcome"}, ""},
		{`{"status":"cancelled","error":"the user did not approve this run"}`, []string{"Ask about dates"},
			[]string{"cancelled, the user did not approve this run.", "> Ask about dates"}, "Ask about dates"},
	} {
		messages := []backend.Message{
			{From: backend.User, Text: demo.Task}, {From: backend.Assistant, Text: "I will ask them."},
			{From: backend.Tool, Results: []backend.ToolResult{{Name: "launch_run", Text: tt.result}}},
		}
		for _, h := range tt.held {
			messages = append(messages, backend.Message{From: backend.User, Text: h})
		}
		reply, err := backend.Collect(b.Turn(t.Context(), backend.Input{Tools: offered, Messages: messages}, nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range tt.want {
			if !strings.Contains(reply.Text, want) {
				t.Errorf("%q: nothing of %q in\n%s", tt.held, want, reply.Text)
			}
		}
		var in struct{ Task string }
		if len(reply.Calls) > 0 {
			if err := json.Unmarshal(reply.Calls[0].Input, &in); err != nil {
				t.Fatal(err)
			}
		}
		if in.Task != tt.task {
			t.Errorf("%q: launched %q", tt.held, in.Task)
		}
	}
}
