package anthropic

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/event"
)

// A block is a piece of content while it is being filled.
type block struct {
	kind, id, name string
	fields         map[string]json.RawMessage // as it began
	said           strings.Builder            // or thought
	input          strings.Builder
	signature      string
	citations      []json.RawMessage
}

// text is a field that is a string.
func (b *block) text(name string) string {
	var s string
	_ = json.Unmarshal(b.fields[name], &s)
	return s
}

// written is the input of a call as the model wrote it: in pieces, or all at
// once where the block began.
func (b *block) written() string {
	if b.input.Len() > 0 {
		return b.input.String()
	}
	if in := string(b.fields["input"]); in != "{}" && in != "null" {
		return in
	}
	return ""
}

// whole is the block as it is sent back; nil if the API would not have it.
func (b *block) whole() json.RawMessage {
	switch b.kind {
	case "text":
		if strings.TrimSpace(b.said.String()) == "" {
			return nil
		}
		b.fields["text"] = raw(b.said.String())
		if len(b.citations) > 0 {
			b.fields["citations"] = raw(b.citations)
		}
	case "thinking":
		b.fields["thinking"] = raw(b.said.String())
		if b.signature != "" {
			b.fields["signature"] = raw(b.signature)
		}
	case "tool_use", "server_tool_use":
		b.fields["input"] = arguments(backend.Arguments(b.written()))
	}
	return raw(b.fields)
}

// did yields what the provider did by itself, once there is a result.
func (r *reply) did(b *block) error {
	s := r.steps[b.text("tool_use_id")]
	if s == nil {
		s = &event.Step{ID: b.text("tool_use_id"), Name: strings.TrimSuffix(b.kind, "_tool_result")}
	}
	delete(r.steps, s.ID)
	s.Result, s.Error = outcome(b.fields["content"])
	return r.say(backend.Delta{Did: s})
}

// gist is the one thing in a tool's input that says what it does.
func gist(input string) string {
	var o struct{ Query, Code, Command, URL, Path string }
	_ = json.Unmarshal([]byte(input), &o)
	return cmp.Or(o.Query, o.Code, o.Command, o.URL, o.Path, input)
}

// outcome is a result in words: what was found, what a program wrote, or what
// went wrong.
func outcome(content json.RawMessage) (text string, failed bool) {
	var found []struct{ Title, URL string }
	if json.Unmarshal(content, &found) == nil {
		var lines []string
		for _, f := range found {
			lines = append(lines, strings.TrimSpace(f.Title+" "+f.URL))
		}
		return strings.Join(lines, "\n"), false
	}
	var o struct {
		ErrorCode      string `json:"error_code"`
		Stdout, Stderr string
		ReturnCode     int `json:"return_code"`
	}
	if json.Unmarshal(content, &o) != nil {
		return string(content), false
	}
	if o.ErrorCode != "" {
		return o.ErrorCode, true
	}
	text = o.Stdout + o.Stderr
	if o.ReturnCode != 0 {
		text += fmt.Sprintf("\nexit code %d", o.ReturnCode)
	}
	return strings.TrimSpace(text), o.ReturnCode != 0
}
