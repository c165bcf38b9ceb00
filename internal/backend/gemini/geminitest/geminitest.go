// Package geminitest is a server that speaks the Gemini API's
// streamGenerateContent as its documentation describes it, for tests: what it
// says is up to a function.
//
//	srv := httptest.NewServer(geminitest.Handler(func(r geminitest.Request) backendtest.Reply { … }))
//
// [Scene] answers as a scene says. [Write] writes a stream for tests that need
// more than a scene can say.
package geminitest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
)

// A Request is what a client asked for.
type Request struct {
	Header http.Header
	Model  string
	// Body is everything that was sent; Sent the same as text.
	Body map[string]any
	Sent string
	// Contents is the conversation.
	Contents []Content
	// Turns is how often the model has spoken in it.
	Turns int
}

// A Content is an entry of the conversation, from "user" or "model".
type Content struct {
	Role  string
	Parts []map[string]any
}

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
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		req, err := read(r)
		if err != nil {
			refuse(w, http.StatusBadRequest, "INVALID_ARGUMENT", err.Error(), 0)
			return
		}
		reply := answer(req)
		if reply.Fail != nil && len(reply.Parts) == 0 {
			fail(w, r, *reply.Fail)
			return
		}
		stream(w, r, reply)
	})
}

var path = regexp.MustCompile(`^/v1beta/models/([\w.-]+):streamGenerateContent$`)

// read decodes a request and refuses what the API would.
func read(r *http.Request) (Request, error) {
	out := Request{Header: r.Header}
	m := path.FindStringSubmatch(r.URL.Path)
	if m == nil || r.Method != http.MethodPost || r.URL.Query().Get("alt") != "sse" {
		return out, fmt.Errorf("no such method: %s %s", r.Method, r.URL)
	}
	out.Model = m[1]
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return out, err
	}
	out.Sent = string(raw)
	if err := json.Unmarshal(raw, &out.Body); err != nil {
		return out, fmt.Errorf("invalid JSON payload: %w", err)
	}
	var typed struct{ Contents []Content }
	if err := json.Unmarshal(raw, &typed); err != nil {
		return out, err
	}
	out.Contents = typed.Contents
	return out, out.check()
}

// check holds a conversation against the API's rules.
func (r *Request) check() error {
	if len(r.Contents) == 0 {
		return fmt.Errorf("contents are not specified")
	}
	open := 0 // calls without a result
	for i, c := range r.Contents {
		calls, results := 0, 0
		for _, p := range c.Parts {
			kinds := 0
			for name := range p {
				if name != "thought" && name != "thoughtSignature" {
					kinds++
				}
			}
			if kinds != 1 {
				return fmt.Errorf("contents[%d]: a part must have exactly one kind of data: %v", i, p)
			}
			if p["functionCall"] != nil {
				calls++
			}
			if p["functionResponse"] != nil {
				results++
			}
		}
		switch {
		case c.Role != "user" && c.Role != "model" || len(c.Parts) == 0:
			return fmt.Errorf("contents[%d]: a valid role and parts are needed", i)
		case results != open:
			return fmt.Errorf("contents[%d]: the number of function response parts must equal that of the function call parts of the turn before", i)
		}
		open = calls
		if c.Role == "model" {
			r.Turns++
		}
	}
	return nil
}

// refuse answers with an error as the API does.
func refuse(w http.ResponseWriter, code int, status, message string, after time.Duration) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(code)
	details := []any{}
	if after > 0 {
		details = append(details, map[string]any{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": after.String()})
	}
	// The client may be gone.
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": code, "message": message, "status": status, "details": details}})
}

// fail fails before anything was said.
func fail(w http.ResponseWriter, r *http.Request, f backendtest.Failure) {
	switch f.Kind {
	case backend.Auth:
		refuse(w, http.StatusBadRequest, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", 0)
	case backend.Invalid:
		refuse(w, http.StatusBadRequest, "INVALID_ARGUMENT", "Request contains an invalid argument.", 0)
	case backend.RateLimited:
		refuse(w, http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "Resource has been exhausted.", f.RetryAfter)
	case backend.Unreachable:
		panic(http.ErrAbortHandler)
	case backend.TimedOut:
		begin(w)
		<-r.Context().Done()
	case backend.Truncated:
		begin(w)
	case backend.Garbled:
		begin(w)
		fmt.Fprint(w, "data: {\"candidates\": \r\n\r\n")
	default:
		refuse(w, http.StatusServiceUnavailable, "UNAVAILABLE", "The model is overloaded. Please try again later.", 0)
	}
}

func begin(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush() // the client may be gone
}

// Write answers with a stream of these events.
func Write(w http.ResponseWriter, events ...string) {
	begin(w)
	for _, e := range events {
		fmt.Fprintf(w, "data: %s\n\n", e)
		_ = http.NewResponseController(w).Flush()
	}
}

// event writes one event.
func event(w http.ResponseWriter, v map[string]any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of strings and numbers
	}
	fmt.Fprintf(w, "data: %s\n\n", data)
	_ = http.NewResponseController(w).Flush()
}

// candidate is an event with parts.
func candidate(reason string, parts ...map[string]any) map[string]any {
	if parts == nil {
		parts = []map[string]any{}
	}
	c := map[string]any{"index": 0, "content": map[string]any{"role": "model", "parts": parts}}
	if reason != "" {
		c["finishReason"] = reason
	}
	return map[string]any{"candidates": []any{c}, "modelVersion": "gemini-test", "responseId": "r1"}
}

// Signature is what the first call of a reply is signed with.
const Signature = "c2lnbmVk"

// stream writes a reply.
func stream(w http.ResponseWriter, r *http.Request, reply backendtest.Reply) {
	begin(w)
	signed := false
	for _, p := range reply.Parts {
		if p.Call != nil {
			event(w, candidate("", call(*p.Call, !signed)))
			signed = true
			continue
		}
		for _, piece := range split(p.Thinking) {
			event(w, candidate("", map[string]any{"text": piece, "thought": true}))
		}
		for _, piece := range split(p.Text) {
			event(w, candidate("", map[string]any{"text": piece}))
		}
	}
	switch {
	case reply.Cut:
	case reply.Hang:
		<-r.Context().Done()
	case reply.Fail != nil:
		event(w, map[string]any{"error": map[string]any{"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}})
	default:
		end(w, reply)
	}
}

// split is a text in pieces, cut between characters.
func split(s string) []string {
	const most = 4000
	var out []string
	for len(s) > most {
		n := most
		for s[n]&0xC0 == 0x80 {
			n--
		}
		out, s = append(out, s[:n]), s[n:]
	}
	if s != "" {
		out = append(out, s)
	}
	return out
}

// call is a call. Gemini's arguments are JSON by the protocol.
func call(c backendtest.Call, sign bool) map[string]any {
	f := map[string]any{"name": c.Name}
	if c.Input != "" {
		f["args"] = json.RawMessage(backend.Arguments(c.Input))
	}
	p := map[string]any{"functionCall": f}
	if sign {
		p["thoughtSignature"] = Signature
	}
	return p
}

// reasons are Gemini's words for why a reply ends.
var reasons = map[string]string{"end": "STOP", "tools": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}

func end(w http.ResponseWriter, reply backendtest.Reply) {
	u := reply.Usage
	last := candidate(reasons[reply.StopReason()], map[string]any{"text": ""})
	if strings.TrimSpace(reply.Text()) == "" {
		last = candidate(reasons[reply.StopReason()])
	}
	last["usageMetadata"] = map[string]any{
		"promptTokenCount": u.Input, "cachedContentTokenCount": u.Cached,
		"candidatesTokenCount": u.Output - u.Reasoning, "thoughtsTokenCount": u.Reasoning, "totalTokenCount": u.Tokens(),
	}
	event(w, last)
}
