// Package openaitest is a server that speaks OpenAI's Responses API as its
// documentation describes it, for tests: what it says is up to a function.
//
//	srv := httptest.NewServer(openaitest.Handler(func(r openaitest.Request) backendtest.Reply { … }))
//
// It answers POST …/responses with a stream and GET …/models with a list.
package openaitest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
)

// A Request is what a client asked for.
type Request struct {
	Path   string
	Query  string
	Header http.Header
	// Body is everything that was sent; Sent the same as text.
	Body map[string]any
	Sent string

	Model    string
	System   string
	Messages []Message
	Tools    []string // names; of the provider's own tools their types
	// Turns is how often the assistant has spoken in the conversation.
	Turns int
}

// A Message is an entry of the conversation: from "user", "assistant" or "tool".
type Message struct{ From, Text string }

// An Answer decides what is replied.
type Answer func(Request) backendtest.Reply

// Scene answers as a scene says.
func Scene(s backendtest.Scene) Answer {
	return func(r Request) backendtest.Reply { return Play(s, r.Turns, r.Sent) }
}

// Play is the reply of a scene to a conversation in which the assistant has
// spoken so many times. One that is not as the scene needs it is refused.
func Play(s backendtest.Scene, turns int, sent string) backendtest.Reply {
	r, ok := s.Reply(turns)
	if !ok || len(r.Missing(sent)) > 0 {
		return backendtest.Reply{Fail: &backendtest.Failure{Kind: backend.Invalid}}
	}
	return r
}

// Handler is the server.
func Handler(answer Answer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/models") {
			Models(w, "model-b", "model-a")
			return
		}
		if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/responses") {
			Refuse(w, http.StatusNotFound, "unknown_url", "Unknown request URL: "+r.Method+" "+r.URL.Path)
			return
		}
		req, err := read(r)
		if err != nil {
			Refuse(w, http.StatusBadRequest, "invalid_request_error", err.Error())
			return
		}
		reply := answer(req)
		if Failed(w, r, reply) {
			return
		}
		stream(w, r, reply, req.Model, req.Turns)
	})
}

// Models answers with a list of models.
func Models(w http.ResponseWriter, names ...string) {
	list := []any{}
	for _, n := range names {
		list = append(list, map[string]any{"id": n, "object": "model", "created": 1, "owned_by": "test"})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": list})
}

// read decodes a request and refuses what the API would.
func read(r *http.Request) (Request, error) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return Request{}, err
	}
	out := Request{Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header, Sent: string(raw)}
	if err := json.Unmarshal(raw, &out.Body); err != nil {
		return out, fmt.Errorf("the body is no JSON: %w", err)
	}
	out.Model, _ = out.Body["model"].(string)
	if out.Model == "" {
		return out, fmt.Errorf("you must provide a model parameter")
	}
	if stream, _ := out.Body["stream"].(bool); !stream {
		return out, fmt.Errorf("this server only streams")
	}
	out.System, _ = out.Body["instructions"].(string)
	for _, t := range list(out.Body["tools"]) {
		name := text(t["name"])
		if name == "" {
			name = text(t["type"])
		}
		out.Tools = append(out.Tools, name)
	}
	return out, out.input(list(out.Body["input"]))
}

// input reads the conversation. What follows each other of the assistant's is one
// turn.
func (r *Request) input(items []map[string]any) error {
	called := map[string]bool{}
	last := ""
	for _, i := range items {
		from, said := "assistant", words(i["content"])
		switch kind := text(i["type"]); kind {
		case "", "message":
			from = text(i["role"])
		case "function_call":
			called[text(i["call_id"])] = true
			said = text(i["name"]) + " " + text(i["arguments"])
		case "function_call_output":
			if !called[text(i["call_id"])] {
				return fmt.Errorf("no tool call found for function call output with call_id %v", i["call_id"])
			}
			from, said = "tool", words(i["output"])
		case "reasoning":
			if text(i["encrypted_content"]) == "" {
				return fmt.Errorf("item with id '%v' not found; items are not persisted when `store` is set to false", i["id"])
			}
			said = ""
		}
		if from == "system" || from == "developer" {
			r.System += said
			continue
		}
		if from == "assistant" && last != "assistant" {
			r.Turns++
		}
		last = from
		r.Messages = append(r.Messages, Message{from, said})
	}
	return nil
}

func list(v any) []map[string]any {
	var out []map[string]any
	all, _ := v.([]any)
	for _, e := range all {
		if m, ok := e.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// words is the text of content that is a string or a list of parts.
func words(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	var b strings.Builder
	for _, p := range list(v) {
		b.WriteString(text(p["text"]))
	}
	return b.String()
}
