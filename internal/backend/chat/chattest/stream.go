package chattest

import (
	"encoding/json"
	"fmt"
	"net/http"

	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/openai/openaitest"
)

// A writer writes the chunks of one completion.
type writer struct {
	w     http.ResponseWriter
	model string
}

// chunk writes one chunk and flushes it.
func (w *writer) chunk(fields map[string]any) {
	fields["id"], fields["object"], fields["created"], fields["model"] = "chatcmpl-1", "chat.completion.chunk", 1, w.model
	data, err := json.Marshal(fields)
	if err != nil {
		panic(err) // maps of strings and numbers
	}
	w.data(string(data))
}

func (w *writer) data(s string) {
	fmt.Fprintf(w.w, "data: %s\n\n", s)
	_ = http.NewResponseController(w.w).Flush()
}

// delta writes a chunk with a delta. Stop is nil until the last.
func (w *writer) delta(d map[string]any, stop any) {
	w.chunk(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": d, "finish_reason": stop, "logprobs": nil}}})
}

// stream writes a reply.
func (s Style) stream(rw http.ResponseWriter, r *http.Request, reply backendtest.Reply, req Request) {
	openaitest.Begin(rw)
	w := &writer{rw, req.Model}
	if reply.Cut && len(reply.Parts) == 0 {
		return
	}
	fmt.Fprint(rw, ": OPENROUTER PROCESSING\n\n") // a comment, to be passed over
	w.delta(map[string]any{"role": "assistant", "content": ""}, nil)
	for _, p := range reply.Parts {
		for _, piece := range openaitest.Split(p.Thinking) {
			w.delta(s.thought(piece), nil)
		}
		for _, piece := range openaitest.Split(p.Text) {
			w.delta(map[string]any{"content": piece}, nil)
		}
	}
	s.calls(w, reply.Calls())
	switch {
	case reply.Cut:
		return
	case reply.Hang:
		<-r.Context().Done()
		return
	case reply.Fail != nil:
		w.data(fmt.Sprintf(`{"error":{"message":"The server had an error.","type":"error","code":%q}}`, openaitest.Code(reply.Fail.Kind)))
		return
	}
	w.delta(map[string]any{}, finish(reply))
	s.end(w, reply, req)
}

func (s Style) thought(piece string) map[string]any {
	switch s.Thoughts {
	case "":
		return map[string]any{"reasoning_content": piece}
	case "content":
		text := map[string]any{"type": "text", "text": piece}
		return map[string]any{"content": []any{map[string]any{"type": "thinking", "thinking": []any{text}}}}
	}
	return map[string]any{s.Thoughts: piece}
}

// calls writes all calls at once: first their names, then piece by piece of each
// in turn, as parallel calls may come.
func (s Style) calls(w *writer, calls []backendtest.Call) {
	pieces := make([][]string, len(calls))
	most := 0
	for i, c := range calls {
		call := map[string]any{"index": i, "id": fmt.Sprintf("call_%d", i), "type": "function"}
		first := ""
		if s.NoIndex {
			delete(call, "index")
			first = c.Input
		} else {
			pieces[i] = openaitest.Split(c.Input)
		}
		if s.NoIDs {
			delete(call, "id")
		}
		call["function"] = map[string]any{"name": c.Name, "arguments": first}
		w.delta(map[string]any{"tool_calls": []any{call}}, nil)
		most = max(most, len(pieces[i]))
	}
	for n := range most {
		for i := range calls {
			if n < len(pieces[i]) {
				call := map[string]any{"index": i, "function": map[string]any{"arguments": pieces[i][n]}}
				w.delta(map[string]any{"tool_calls": []any{call}}, nil)
			}
		}
	}
}

func finish(r backendtest.Reply) string {
	switch r.StopReason() {
	case "tools":
		return "tool_calls"
	case "length":
		return "length"
	case "refusal":
		return "content_filter"
	}
	return "stop"
}

func (s Style) end(w *writer, reply backendtest.Reply, req Request) {
	options, _ := req.Body["stream_options"].(map[string]any)
	if asked, _ := options["include_usage"].(bool); asked && !s.NoUsage {
		u := openaitest.Usage(reply)
		w.chunk(map[string]any{"choices": []any{}, "usage": map[string]any{
			"prompt_tokens": u.Input, "prompt_tokens_details": map[string]any{"cached_tokens": u.Cached},
			"completion_tokens": u.Output, "completion_tokens_details": map[string]any{"reasoning_tokens": u.Reasoning},
			"total_tokens": u.Input + u.Output,
		}})
	}
	if !s.Unended {
		w.data("[DONE]")
	}
}
