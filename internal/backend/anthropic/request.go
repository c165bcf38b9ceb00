package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/backend/price"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
)

// params is the request for an input. What there is of the reply already is the
// beginning of the assistant's message: the provider goes on from there, with what
// is left of the bounds.
func (m *model) params(in backend.Input, r *reply) sdk.MessageNewParams {
	p := sdk.MessageNewParams{
		Model:     sdk.Model(m.Name),
		MaxTokens: max(1, int64(m.rates.Output(in))-r.spent.Output),
		Tools:     m.tools(in.Tools, max(1, price.Steps-r.searches)),
	}
	if in.System != "" {
		p.System = []sdk.TextBlockParam{{Text: in.System, CacheControl: sdk.NewCacheControlEphemeralParam()}}
	}
	for _, msg := range m.messages(in.Messages, r) {
		p.Messages = append(p.Messages, param.Override[sdk.MessageParam](raw(msg)))
	}
	if m.Temperature != nil {
		p.Temperature = sdk.Float(*m.Temperature)
	}
	if m.TopP != nil {
		p.TopP = sdk.Float(*m.TopP)
	}
	if m.TopK != nil {
		p.TopK = sdk.Int(int64(*m.TopK))
	}
	if m.Serial && len(p.Tools) > 0 {
		p.ToolChoice.OfAuto = &sdk.ToolChoiceAutoParam{DisableParallelToolUse: sdk.Bool(true)}
	}
	if r.container != "" {
		p.Container.OfString = sdk.String(r.container)
	}
	m.think(&p)
	return p
}

// tools are ours and the provider's own. The last of them ends the part of the
// request that is the same in every call.
func (m *model) tools(specs []backend.ToolSpec, searches int64) []sdk.ToolUnionParam {
	var out []sdk.ToolUnionParam
	if m.WebSearch {
		out = append(out, sdk.ToolUnionParam{OfWebSearchTool20250305: &sdk.WebSearchTool20250305Param{MaxUses: sdk.Int(searches)}})
	}
	if m.Code {
		out = append(out, sdk.ToolUnionParam{OfCodeExecutionTool20250825: &sdk.CodeExecutionTool20250825Param{}})
	}
	for _, s := range specs {
		t := &sdk.ToolParam{Name: s.Name, InputSchema: param.Override[sdk.ToolInputSchemaParam](schema(s))}
		if s.Description != "" {
			t.Description = sdk.String(s.Description)
		}
		out = append(out, sdk.ToolUnionParam{OfTool: t})
	}
	if len(out) > 0 {
		*out[len(out)-1].GetCacheControl() = sdk.NewCacheControlEphemeralParam()
	}
	return out
}

// schema is what a tool takes. The API wants an object in every case.
func schema(s backend.ToolSpec) json.RawMessage {
	var o map[string]json.RawMessage
	if json.Unmarshal(s.Schema, &o) != nil || o == nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	if _, ok := o["type"]; !ok {
		o["type"] = json.RawMessage(`"object"`)
		return raw(o)
	}
	return s.Schema
}

// A message is one as the API has it, its content a list of blocks.
type message struct {
	Role    string            `json:"role"`
	Content []json.RawMessage `json:"content"`
}

// messages is the conversation. Whatever is not the assistant's is the user's;
// two of the user's in a row are one.
func (m *model) messages(in []backend.Message, r *reply) []message {
	var out []message
	add := func(role string, content []json.RawMessage) {
		last := len(out) - 1
		switch {
		case len(content) == 0: // the API takes no empty ones
		case role == "user" && last >= 0 && out[last].Role == role:
			out[last].Content = append(out[last].Content, content...)
		default:
			out = append(out, message{role, content})
		}
	}
	for _, msg := range in {
		if msg.From == backend.Assistant {
			add("assistant", spoken(msg))
		} else {
			add("user", heard(msg))
		}
	}
	if last := len(out) - 1; last >= 0 && out[last].Role == "user" {
		content := out[last].Content
		content[len(content)-1] = marked(content[len(content)-1])
	}
	add("assistant", r.blocks)
	return out
}

// marked is a block that ends what the provider should keep in its cache.
func marked(block json.RawMessage) json.RawMessage {
	var o map[string]json.RawMessage
	if json.Unmarshal(block, &o) != nil {
		return block
	}
	o["cache_control"] = json.RawMessage(`{"type":"ephemeral"}`)
	return raw(o)
}

// spoken is a message of the assistant's: as it came, if it came from here.
func spoken(m backend.Message) []json.RawMessage {
	var native []json.RawMessage
	if json.Unmarshal(m.Native, &native) == nil && len(native) > 0 {
		return resendable(native)
	}
	out := said(m.Text)
	for _, c := range m.Calls {
		out = append(out, raw(object{"type": "tool_use", "id": callID(c.ID), "name": c.Name, "input": arguments(c.Input)}))
	}
	return out
}

// resendable is content without thoughts at its end, after which nothing was
// said: the API does not take those back.
func resendable(content []json.RawMessage) []json.RawMessage {
	for len(content) > 0 && strings.HasSuffix(kindOf(content[len(content)-1]), "thinking") {
		content = content[:len(content)-1]
	}
	return content
}

func kindOf(block json.RawMessage) string {
	var b struct{ Type string }
	_ = json.Unmarshal(block, &b)
	return b.Type
}

// heard is a message for the assistant: results first, as the API wants them.
func heard(m backend.Message) []json.RawMessage {
	var out []json.RawMessage
	for _, r := range m.Results {
		b := object{"type": "tool_result", "tool_use_id": callID(r.Call)}
		if content := append(said(r.Text), pictures(r.Images)...); len(content) > 0 {
			b["content"] = content
		}
		if r.Error {
			b["is_error"] = true
		}
		out = append(out, raw(b))
	}
	return append(append(out, pictures(m.Images)...), said(m.Text)...)
}

// said is text as content. The API takes none that is blank.
func said(text string) []json.RawMessage {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return []json.RawMessage{raw(object{"type": "text", "text": text})}
}

func pictures(images []backend.Image) []json.RawMessage {
	var out []json.RawMessage
	for _, i := range images {
		out = append(out, raw(object{"type": "image", "source": object{
			"type": "base64", "media_type": i.Type, "data": base64.StdEncoding.EncodeToString(i.Data),
		}}))
	}
	return out
}

// callID is the ID of a call in the letters the API allows, for calls that
// another provider's model made.
func callID(id string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			return c
		}
		return '_'
	}, id)
}

// arguments is a call's input as an object, which is all the API takes. What the
// model wrote otherwise is inside one, under the name the API's documentation
// gives it.
func arguments(input json.RawMessage) json.RawMessage {
	var o map[string]json.RawMessage
	switch {
	case len(input) == 0:
		return json.RawMessage("{}")
	case json.Unmarshal(input, &o) == nil && o != nil:
		return input
	}
	var s string
	if json.Unmarshal(input, &s) != nil {
		s = string(input)
	}
	return raw(object{"INVALID_JSON": s})
}
