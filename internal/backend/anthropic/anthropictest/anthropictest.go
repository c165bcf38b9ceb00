// Package anthropictest is a server that speaks Anthropic's Messages API as its
// documentation describes it, for tests: what it says is up to a function.
//
//	srv := httptest.NewServer(anthropictest.Handler(func(r anthropictest.Request) backendtest.Reply { … }))
//
// It answers POST …/v1/messages with a stream and GET …/v1/models with a list.
// A request that the real API would refuse for its form is refused.
package anthropictest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
)

// A Request is what a client asked for.
type Request struct {
	Path   string
	Header http.Header
	// Body is everything that was sent; Sent the same as text.
	Body map[string]any
	Sent string

	Model    string
	System   string
	Messages []Message
	Tools    []string // names
	// Turns is how often the assistant has spoken in the conversation.
	Turns int
}

// A Message is an entry of the conversation: from "user", "assistant" or "tool".
type Message struct{ From, Text string }

// An Answer decides what is replied.
type Answer func(Request) backendtest.Reply

// Scene answers as a scene says, and refuses what the scene does not provide for.
func Scene(s backendtest.Scene) Answer {
	return func(r Request) backendtest.Reply {
		reply, ok := s.Reply(r.Turns)
		if !ok || len(reply.Missing(r.Sent)) > 0 {
			return backendtest.Reply{Fail: &backendtest.Failure{Kind: backend.Invalid}}
		}
		return reply
	}
}

// Handler is the server.
func Handler(answer Answer) http.Handler {
	var replies atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/v1/models"):
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"data":[{"type":"model","id":"claude-sonnet-4-5"}],"has_more":false}`)
		case r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/v1/messages"):
			refuse(w, http.StatusNotFound, "not_found_error", "Not found")
		case r.Header.Get("X-Api-Key") == "":
			refuse(w, http.StatusUnauthorized, "authentication_error", "x-api-key header is required")
		default:
			req, err := read(r)
			if err != nil {
				refuse(w, http.StatusBadRequest, "invalid_request_error", err.Error())
				return
			}
			reply := answer(req)
			if reply.Fail != nil && len(reply.Parts) == 0 {
				fail(w, r, *reply.Fail)
				return
			}
			(&stream{w: w, n: replies.Add(1)}).play(r, reply)
		}
	})
}

// read takes a request apart.
func read(r *http.Request) (Request, error) {
	p, err := io.ReadAll(r.Body)
	if err != nil {
		return Request{}, err
	}
	var b body
	out := Request{Path: r.URL.Path, Header: r.Header, Sent: string(p)}
	if err := json.Unmarshal(p, &out.Body); err != nil {
		return Request{}, err
	}
	if err := json.Unmarshal(p, &b); err != nil {
		return Request{}, err
	}
	if err := b.check(r); err != nil {
		return Request{}, err
	}
	out.Model = b.Model
	for _, s := range b.System {
		out.System += s.Text
	}
	for _, t := range b.Tools {
		out.Tools = append(out.Tools, t.Name)
	}
	for _, m := range b.Messages {
		out.Messages = append(out.Messages, m.plain()...)
		if m.Role == "assistant" {
			out.Turns++
		}
	}
	return out, nil
}
