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
		"pragmatist carried the day after 6 rounds": {
			"status": "success", "final_answer": "Use Timsort.", "coordination_summary": map[string]any{"winner": "pragmatist", "rounds": 6},
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
