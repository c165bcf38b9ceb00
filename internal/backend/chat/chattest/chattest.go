// Package chattest is a server that speaks OpenAI's Chat Completions as its
// documentation describes it, for tests: what it says is up to a function.
//
//	srv := httptest.NewServer(chattest.Handler(func(r chattest.Request) backendtest.Reply { … }))
//
// A [Style] makes it deviate the way other providers do. It answers
// POST …/chat/completions with a stream and GET …/models with a list.
package chattest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/openai/openaitest"
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
	Tools    []string // names
	// Turns is how often the assistant has spoken in the conversation.
	Turns int
}

// A Message is an entry of the conversation: from "user", "assistant" or "tool".
// Raw is all of it.
type Message struct {
	From, Text string
	Raw        map[string]any
}

// An Answer decides what is replied.
type Answer func(Request) backendtest.Reply

// Scene answers as a scene says.
func Scene(s backendtest.Scene) Answer {
	return func(r Request) backendtest.Reply { return openaitest.Play(s, r.Turns, r.Sent) }
}

// A Style is how a server is not as OpenAI's. The zero value is as it is.
type Style struct {
	// Thoughts is the field that holds them; "reasoning_content" if empty, and
	// "content" for a list of parts as Mistral sends it.
	Thoughts string
	NoIDs    bool // calls have no ids
	NoIndex  bool // calls have no index, and come whole
	NoUsage  bool // nothing is said about usage
	Unended  bool // there is no [DONE]
}

// Handler is the server in OpenAI's style.
func Handler(answer Answer) http.Handler { return Style{}.Handler(answer) }

// Handler is the server in that style.
func (s Style) Handler(answer Answer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/models") {
			openaitest.Models(w, "model-b", "model-a")
			return
		}
		if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
			openaitest.Refuse(w, http.StatusNotFound, "unknown_url", "Unknown request URL: "+r.Method+" "+r.URL.Path)
			return
		}
		req, err := read(r)
		if err != nil {
			openaitest.Refuse(w, http.StatusBadRequest, "invalid_request_error", err.Error())
			return
		}
		reply := answer(req)
		if openaitest.Failed(w, r, reply) {
			return
		}
		s.stream(w, r, reply, req)
	})
}

// read decodes a request and refuses what strict servers would.
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
	var typed struct {
		Messages []message
		Tools    []struct{ Function struct{ Name string } }
	}
	if err := json.Unmarshal(raw, &typed); err != nil {
		return out, err
	}
	for _, t := range typed.Tools {
		out.Tools = append(out.Tools, t.Function.Name)
	}
	all, _ := out.Body["messages"].([]any)
	return out, out.conversation(typed.Messages, all)
}

type message struct {
	Role      string
	Content   json.RawMessage
	ToolCalls []struct {
		ID       string
		Type     string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
	ToolCallID string `json:"tool_call_id"`
}

// conversation reads the messages.
func (r *Request) conversation(all []message, raw []any) error {
	open := map[string]bool{} // calls without a result
	for i, m := range all {
		if m.Role != "tool" && len(open) > 0 {
			return fmt.Errorf("messages[%d]: tool calls without a result before it", i)
		}
		switch m.Role {
		case "system", "developer":
			r.System += words(m.Content)
			continue
		case "assistant":
			r.Turns++
			for _, c := range m.ToolCalls {
				var o map[string]any
				if c.ID == "" || open[c.ID] || json.Unmarshal([]byte(c.Function.Arguments), &o) != nil {
					return fmt.Errorf("messages[%d]: a bad tool call: %+v", i, c)
				}
				open[c.ID] = true
			}
		case "tool":
			if !open[m.ToolCallID] {
				return fmt.Errorf("messages[%d]: a result of no call: %q", i, m.ToolCallID)
			}
			delete(open, m.ToolCallID)
		}
		fields, _ := raw[i].(map[string]any)
		r.Messages = append(r.Messages, Message{m.Role, words(m.Content), fields})
	}
	return nil
}

// words is the text of content that is a string or a list of parts.
func words(content json.RawMessage) string {
	var s string
	var parts []struct{ Text string }
	if json.Unmarshal(content, &s) == nil || json.Unmarshal(content, &parts) != nil {
		return s
	}
	for _, p := range parts {
		s += p.Text
	}
	return s
}
