package openaitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"conclave/internal/backend/backendtest"
	"conclave/internal/event"
)

// A writer writes the events of one response.
type writer struct {
	w      http.ResponseWriter
	seq    int
	output []any // finished items
	turn   int   // of the conversation
}

// event writes one event and flushes it.
func (w *writer) event(kind string, fields map[string]any) {
	fields["type"], fields["sequence_number"] = kind, w.seq
	w.seq++
	data, err := json.Marshal(fields)
	if err != nil {
		panic(err) // maps of strings and numbers
	}
	fmt.Fprintf(w.w, "event: %s\ndata: %s\n\n", kind, data)
	_ = http.NewResponseController(w.w).Flush()
}

// stream writes a reply the way the API does: an item for each kind of thing,
// opened, filled and closed.
func stream(rw http.ResponseWriter, r *http.Request, reply backendtest.Reply, model string, turn int) {
	Begin(rw)
	w := &writer{w: rw, turn: turn}
	if reply.Cut && len(reply.Parts) == 0 {
		return
	}
	response := map[string]any{"id": "resp_1", "object": "response", "model": model, "status": "in_progress", "error": nil, "output": []any{}}
	w.event("response.created", map[string]any{"response": response})
	w.event("response.in_progress", map[string]any{"response": response})
	for i := 0; i < len(reply.Parts); {
		switch p := reply.Parts[i]; {
		case p.Call != nil:
			w.call(*p.Call)
			i++
		case p.Thinking != "":
			i += w.reasoning(reply.Parts[i:])
		default:
			i += w.message(reply.Parts[i:])
		}
	}
	switch {
	case reply.Cut:
	case reply.Hang:
		<-r.Context().Done()
	case reply.Fail != nil:
		w.event("error", map[string]any{"code": Code(reply.Fail.Kind), "message": "The server had an error.", "param": nil})
	default:
		w.end(reply, response)
	}
}

// open begins an item.
func (w *writer) open(item map[string]any) { w.item("response.output_item.added", item) }

// close ends an item.
func (w *writer) close(item map[string]any) {
	w.item("response.output_item.done", item)
	w.output = append(w.output, item)
}

func (w *writer) item(kind string, item map[string]any) {
	w.event(kind, map[string]any{"output_index": len(w.output), "item": item})
}

func (w *writer) id(kind string) string { return fmt.Sprintf("%s_%d", kind, len(w.output)) }

func (w *writer) reasoning(parts []backendtest.Part) int {
	id, whole, n := w.id("rs"), "", 0
	w.open(map[string]any{"type": "reasoning", "id": id, "summary": []any{}})
	at := func(more map[string]any) map[string]any {
		more["item_id"], more["output_index"], more["summary_index"] = id, len(w.output), 0
		return more
	}
	w.event("response.reasoning_summary_part.added", at(map[string]any{"part": map[string]any{"type": "summary_text", "text": ""}}))
	for ; n < len(parts) && parts[n].Thinking != ""; n++ {
		whole += parts[n].Thinking
		for _, s := range Split(parts[n].Thinking) {
			w.event("response.reasoning_summary_text.delta", at(map[string]any{"delta": s}))
		}
	}
	w.event("response.reasoning_summary_text.done", at(map[string]any{"text": whole}))
	w.close(map[string]any{"type": "reasoning", "id": id, "encrypted_content": "sealed-" + id,
		"summary": []any{map[string]any{"type": "summary_text", "text": whole}}})
	return n
}

func (w *writer) message(parts []backendtest.Part) int {
	id, whole, n := w.id("msg"), "", 0
	content := func(s string) map[string]any {
		return map[string]any{"type": "output_text", "text": s, "annotations": []any{}}
	}
	w.open(map[string]any{"type": "message", "id": id, "role": "assistant", "status": "in_progress", "content": []any{}})
	at := func(more map[string]any) map[string]any {
		more["item_id"], more["output_index"], more["content_index"] = id, len(w.output), 0
		return more
	}
	w.event("response.content_part.added", at(map[string]any{"part": content("")}))
	for ; n < len(parts) && parts[n].Thinking == "" && parts[n].Call == nil; n++ {
		whole += parts[n].Text
		for _, s := range Split(parts[n].Text) {
			w.event("response.output_text.delta", at(map[string]any{"delta": s}))
		}
	}
	w.event("response.output_text.done", at(map[string]any{"text": whole}))
	w.event("response.content_part.done", at(map[string]any{"part": content(whole)}))
	w.close(map[string]any{"type": "message", "id": id, "role": "assistant", "status": "completed", "content": []any{content(whole)}})
	return n
}

// call calls a function; one of a namespace is named "namespace:function". Ids of
// calls are unique in a conversation.
func (w *writer) call(c backendtest.Call) {
	id := w.id("fc")
	if w.turn > 0 {
		id = fmt.Sprintf("%s_%d", id, w.turn)
	}
	space, name, spaced := strings.Cut(c.Name, ":")
	item := func(status, arguments string) map[string]any {
		out := map[string]any{"type": "function_call", "id": id, "call_id": "call_" + id, "name": c.Name, "status": status, "arguments": arguments}
		if spaced {
			out["namespace"], out["name"] = space, name
		}
		return out
	}
	w.open(item("in_progress", ""))
	at := map[string]any{"item_id": id, "output_index": len(w.output)}
	for _, s := range Split(c.Input) {
		at["delta"] = s
		w.event("response.function_call_arguments.delta", at)
	}
	delete(at, "delta")
	at["arguments"] = c.Input
	w.event("response.function_call_arguments.done", at)
	w.close(item("completed", c.Input))
}

// end writes the last event.
func (w *writer) end(reply backendtest.Reply, response map[string]any) {
	kind := "response.completed"
	response["status"], response["output"] = "completed", w.output
	switch reply.Stop {
	case "length":
		kind = "response.incomplete"
		response["status"], response["incomplete_details"] = "incomplete", map[string]any{"reason": "max_output_tokens"}
	case "refusal":
		kind = "response.incomplete"
		response["status"], response["incomplete_details"] = "incomplete", map[string]any{"reason": "content_filter"}
	}
	u := Usage(reply)
	response["usage"] = map[string]any{
		"input_tokens": u.Input, "input_tokens_details": map[string]any{"cached_tokens": u.Cached},
		"output_tokens": u.Output, "output_tokens_details": map[string]any{"reasoning_tokens": u.Reasoning},
		"total_tokens": u.Input + u.Output,
	}
	w.event(kind, map[string]any{"response": response})
}

// Usage is what a reply says it consumed, or something.
func Usage(r backendtest.Reply) event.Usage {
	if r.Usage == (event.Usage{}) {
		return event.Usage{Input: 10, Output: 5}
	}
	return r.Usage
}

// Split cuts text into pieces as they may come, never within a character.
func Split(s string) []string {
	var out []string
	for size := 3; s != ""; size *= 2 {
		n := min(size, len(s))
		for n < len(s) && !utf8.RuneStart(s[n]) {
			n++
		}
		out, s = append(out, s[:n]), s[n:]
	}
	return out
}
