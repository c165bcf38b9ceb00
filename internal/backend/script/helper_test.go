package script_test

import (
	"fmt"
	"strings"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/script"
)

// outcomes are the tools a working agent is offered.
var outcomes = []backend.ToolSpec{{Name: "new_answer"}, {Name: "vote"}}

func user(text string) backend.Message { return backend.Message{From: backend.User, Text: text} }

// mustParse is a script that is known to be right.
func mustParse(t *testing.T, src string) *script.Script {
	t.Helper()
	s, err := script.Parse("test.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// play has a script speak once without delays.
func play(t *testing.T, src string, in backend.Input) (backend.Reply, error) {
	t.Helper()
	b := script.New(mustParse(t, src), script.Options{Pace: new(0.0)})
	return backend.Collect(b.Turn(t.Context(), in, nil), nil)
}

// describe is a reply in one line.
func describe(r backend.Reply) string {
	var out []string
	if r.Thinking != "" {
		out = append(out, fmt.Sprintf("think %q", r.Thinking))
	}
	if r.Text != "" {
		out = append(out, fmt.Sprintf("say %q", r.Text))
	}
	for _, c := range r.Calls {
		out = append(out, fmt.Sprintf("%s %s", c.Name, c.Input))
	}
	if r.Stop != "" {
		out = append(out, "stop "+r.Stop)
	}
	return strings.Join(out, " ")
}
