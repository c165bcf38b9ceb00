package chat

import (
	"encoding/json"
	"fmt"
	"slices"

	"conclave/internal/backend"
)

// A saying is what the assistant said, put together: the message that is sent
// back.
type saying struct {
	text  string
	calls []call

	thought string
	field   string           // the name thoughts came under
	inline  bool             // they came among the parts of the text
	details []map[string]any // OpenRouter's form of them, signatures included
}

// A call is one tool call as it is assembled.
type call struct {
	index    int
	id, name string
	input    []byte
}

// native is the message in the API's form. Arguments that are no JSON object are
// wrapped in one, because servers put them into templates and fail on others.
func (s saying) native(q quirks) []byte {
	m := map[string]any{"role": "assistant", "content": s.text}
	if s.text == "" && len(s.calls) > 0 {
		m["content"] = nil
	}
	var calls []any
	for _, c := range s.calls {
		calls = append(calls, map[string]any{
			"id": c.id, "type": "function", "function": map[string]any{"name": c.name, "arguments": object(c.input)},
		})
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	switch {
	case !q.echo:
	case s.details != nil:
		m["reasoning_details"] = s.details
	case s.field != "":
		m[s.field] = s.thought
	case q.always:
		m["reasoning_content"] = s.thought
	}
	if s.inline { // such a provider takes them back in no other form
		parts := []any{map[string]any{"type": "thinking", "thinking": []any{map[string]any{"type": "text", "text": s.thought}}}}
		if s.text != "" {
			parts = append(parts, map[string]any{"type": "text", "text": s.text})
		}
		m["content"] = parts
	}
	out, err := json.Marshal(m)
	if err != nil {
		panic(err) // strings, and what was JSON before
	}
	return out
}

func object(input []byte) string {
	var o map[string]json.RawMessage
	if len(input) == 0 {
		return "{}"
	}
	if json.Unmarshal(input, &o) == nil {
		return string(input)
	}
	out, err := json.Marshal(map[string]string{"not_json": string(input)})
	if err != nil {
		panic(err) // a string always has a JSON form
	}
	return string(out)
}

// assemble adds a piece of a tool call to the call it belongs to: the one of its
// index, or a new one. Some servers leave the index out, which reads as 0; then
// another id begins another call, and so does a name after arguments that are
// complete.
func assemble(calls []call, p piece) []call {
	at := -1
	for i, c := range slices.Backward(calls) {
		if c.index == p.Index {
			at = i
			break
		}
	}
	if at >= 0 {
		c := calls[at]
		other := p.ID != "" && c.id != "" && p.ID != c.id
		again := p.ID == "" && p.Function.Name != "" && c.name != "" && json.Valid(c.input)
		if other || again {
			at = -1
		}
	}
	if at < 0 {
		calls = append(calls, call{index: p.Index})
		at = len(calls) - 1
	}
	c := &calls[at]
	if p.ID != "" {
		c.id = p.ID
	}
	if p.Function.Name != "" {
		c.name = p.Function.Name
	}
	c.input = append(c.input, p.arguments()...)
	return calls
}

// name gives an id to every call that has none or another's. It is none of an
// earlier call's, and of the form the pickiest servers take: nine letters and
// digits.
func name(calls []call, sent backend.Input) {
	taken := map[string]bool{"": true}
	for _, m := range sent.Messages {
		for _, c := range m.Calls {
			taken[c.ID] = true
		}
	}
	own := map[string]bool{}
	for _, c := range calls {
		own[c.id] = true
	}
	used := map[string]bool{"": true}
	n := 0
	for i := range calls {
		c := &calls[i]
		for used[c.id] {
			n++
			if id := fmt.Sprintf("call%05d", n); !taken[id] && !own[id] {
				c.id = id
			}
		}
		used[c.id] = true
	}
}
