// Package claudetest is the model behind Claude Code, for tests that run the real
// program: what it says is up to a function.
//
//	url := claudetest.Serve(t, func(r claudetest.Request) backendtest.Reply { … })
//	b := claudecode.New(claudetest.Program(path, url), "a key")
//
// The function is given what the program sends for each call of the model, and may
// be called concurrently. Tools of ours are mcp__conclave__<name> to the program;
// [Host] calls one by its own name.
package claudetest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/anthropic/anthropictest"
	"conclave/internal/backend/backendtest"
)

// A Request is what the program sent.
type Request = anthropictest.Request

// Key is the key that the server wants to see.
const Key = "sk-ant-test-key"

// Serve answers the program's requests on the loopback until the test is over.
func Serve(t testing.TB, answer func(Request) backendtest.Reply) (url string) {
	t.Helper()
	srv := httptest.NewServer(Handler(answer))
	t.Cleanup(srv.Close)
	return srv.URL
}

// Handler is the server. Whoever does not have the key is refused.
func Handler(answer func(Request) backendtest.Reply) http.Handler {
	model := anthropictest.Handler(answer)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		var fields map[string]any
		_ = json.Unmarshal(body, &fields)
		if r.Header.Get("X-Api-Key") != Key {
			r.Header.Del("X-Api-Key")
		}
		if r.Method != http.MethodPost || fields["stream"] == true {
			r.Body = io.NopCloser(bytes.NewReader(body))
			model.ServeHTTP(w, r)
			return
		}
		whole(model, w, r, fields)
	})
}

// Program is the program at a path, with its model at an address. It does not try
// a second time what the model refuses.
func Program(path, url string) backend.Program {
	return backend.Program{
		Provider: "claude_code", Model: "claude-sonnet-4-5", Command: []string{path}, BaseURL: url,
		Env: map[string]string{"CLAUDE_CODE_MAX_RETRIES": "0"},
	}
}

// Say is a reply in words.
func Say(text string) backendtest.Reply {
	return backendtest.Reply{Parts: []backendtest.Part{{Text: text}}}
}

// Use is a call of one of the program's own tools.
func Use(name string, input any) backendtest.Part {
	p, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return backendtest.Part{Call: &backendtest.Call{Name: name, Input: string(p)}}
}

// Host is a call of one of our tools.
func Host(name string, input any) backendtest.Part { return Use("mcp__conclave__"+name, input) }

// Reply is a reply of parts.
func Reply(parts ...backendtest.Part) backendtest.Reply { return backendtest.Reply{Parts: parts} }

// Last is the text of the last thing the user said or a tool returned, without what
// the program adds of its own.
func Last(r Request) string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if m := r.Messages[i]; m.From != "assistant" && !strings.HasPrefix(m.Text, "<system-reminder>") {
			return m.Text
		}
	}
	return ""
}

// resumed is what the program says to its model by itself when it was killed while a
// tool ran, if it had come to write that down.
const resumed = "Continue from where you left off."

// Said is the texts of the user's, in order, without what the program adds.
func Said(r Request) []string {
	var out []string
	for _, m := range r.Messages {
		if m.From == "user" && !strings.HasPrefix(m.Text, "<system-reminder>") && m.Text != resumed {
			out = append(out, m.Text)
		}
	}
	return out
}
