package gemini

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/event"
)

// A body is what is sent. Contents are *content, or a reply of Gemini's
// own as it was.
type body struct {
	Contents   []any             `json:"contents"`
	System     *content          `json:"systemInstruction,omitempty"`
	Tools      []*genTool        `json:"tools,omitempty"`
	ToolConfig *toolConfig       `json:"toolConfig,omitempty"`
	Config     *generationConfig `json:"generationConfig,omitempty"`
}

func (m *model) body(in backend.Input) ([]byte, error) {
	b := body{Contents: m.contents(in.Messages), Config: m.config(in)}
	if in.System != "" {
		b.System = &content{Parts: []*genPart{{Text: in.System}}}
	}
	b.tools(m, in.Tools)
	out, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	return merge(out, m.Extra)
}

func (m *model) config(in backend.Input) *generationConfig {
	c := &generationConfig{Temperature: small(m.Temperature), TopP: small(m.TopP), ThinkingConfig: m.thinking()}
	if m.TopK != nil {
		k := float32(*m.TopK)
		c.TopK = &k
	}
	c.MaxOutputTokens = whole(m.rates.Output(in))
	return c
}

func small(f *float64) *float32 {
	if f == nil {
		return nil
	}
	s := float32(*f)
	return &s
}

// whole is a number that fits the wire.
func whole(n int) int32 { return int32(max(0, min(n, math.MaxInt32))) }

// tools are the caller's and the provider's own. Newer models take both at once
// if they may show what they did; older ones refuse that, and say so.
func (b *body) tools(m *model, specs []backend.ToolSpec) {
	var ours []*functionDeclaration
	for _, s := range specs {
		ours = append(ours, &functionDeclaration{Name: s.Name, Description: s.Description, ParametersJsonSchema: schema(s.Schema)})
	}
	if len(ours) > 0 {
		b.Tools = append(b.Tools, &genTool{FunctionDeclarations: ours})
	}
	if m.WebSearch {
		b.Tools = append(b.Tools, &genTool{GoogleSearch: &struct{}{}})
	}
	if m.Code {
		b.Tools = append(b.Tools, &genTool{CodeExecution: &struct{}{}})
	}
	if len(ours) > 0 && (m.WebSearch || m.Code) && generation(m.Name) >= 3 {
		b.ToolConfig = &toolConfig{IncludeServerSideToolInvocations: new(true)}
	}
}

// schema is a JSON Schema as it is. None is one that asks for nothing.
func schema(s json.RawMessage) any {
	if len(s) == 0 {
		return nil
	}
	return s
}

// contents is the conversation. A message with nothing in it is left out: the
// API takes none.
func (m *model) contents(messages []backend.Message) []any {
	out := []any{}
	for _, msg := range messages {
		var parts []*genPart
		role := roleUser
		switch msg.From {
		case backend.Assistant:
			if native, ok := replay(msg.Native); ok {
				out = append(out, native)
				continue
			}
			role, parts = roleModel, m.spoken(msg)
		case backend.Tool:
			parts, after := m.results(msg.Results)
			out = appendContent(out, roleUser, parts)
			out = appendContent(out, roleUser, after)
			continue
		default:
			parts = append(text(msg.Text), pictures(msg.Images)...)
		}
		out = appendContent(out, role, parts)
	}
	return out
}

func appendContent(all []any, role string, parts []*genPart) []any {
	if len(parts) == 0 {
		return all
	}
	return append(all, &content{Role: role, Parts: parts})
}

func text(s string) []*genPart {
	if s == "" {
		return nil
	}
	return []*genPart{{Text: s}}
}

func pictures(all []backend.Image) []*genPart {
	var out []*genPart
	for _, p := range all {
		out = append(out, &genPart{InlineData: &blob{MIMEType: p.Type, Data: p.Data}})
	}
	return out
}

// replay is a reply of Gemini's own, if it is one and holds something.
func replay(native []byte) (json.RawMessage, bool) {
	var c struct {
		Role  string
		Parts []json.RawMessage
	}
	if json.Unmarshal(native, &c) != nil || c.Role != roleModel || len(c.Parts) == 0 {
		return nil, false
	}
	return native, true
}

// unsigned stands for the signature that newer models want to see on the first
// of a reply's calls, where the reply is not one of theirs.
const unsigned = "skip_thought_signature_validator"

// spoken is an assistant's message of which there is no native form.
func (m *model) spoken(msg backend.Message) []*genPart {
	out := text(msg.Text)
	for i, c := range msg.Calls {
		p := &genPart{FunctionCall: &functionCall{ID: theirs(c.ID), Name: c.Name, Args: arguments(c)}}
		if i == 0 && generation(m.Name) >= 3 {
			p.ThoughtSignature = []byte(unsigned)
		}
		out = append(out, p)
	}
	return out
}

// arguments is a call's input as the object it has to be.
func arguments(c event.ToolCall) map[string]any {
	var o map[string]any
	if json.Unmarshal(c.Input, &o) == nil {
		return o
	}
	var v any
	if json.Unmarshal(c.Input, &v) != nil {
		v = string(c.Input)
	}
	return map[string]any{"input": v}
}

// results are tool results. Their pictures go along with them to models that
// take them there, and into a message after them to others.
func (m *model) results(all []backend.ToolResult) (parts, after []*genPart) {
	for _, r := range all {
		field := "output"
		if r.Error {
			field = "error"
		}
		f := &functionResponse{ID: theirs(r.Call), Name: r.Name, Response: map[string]any{field: r.Text}}
		parts = append(parts, &genPart{FunctionResponse: f})
		if generation(m.Name) < 3 {
			if len(r.Images) > 0 {
				after = append(append(after, text(fmt.Sprintf("Pictures of the result of %s:", r.Name))...), pictures(r.Images)...)
			}
			continue
		}
		for _, p := range r.Images {
			f.Parts = append(f.Parts, &responsePart{InlineData: &blob{Data: p.Data, MIMEType: p.Type}})
		}
	}
	return parts, after
}

// made begins the ids that are ours. Gemini never sees them: it did not give
// the call one, so it knows results by their names and order.
const made = "made-"

func theirs(id string) string {
	if strings.HasPrefix(id, made) {
		return ""
	}
	return id
}
