package gemini

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/event"

	"google.golang.org/genai"
)

// A body is what is sent. Contents are *genai.Content, or a reply of Gemini's
// own as it was.
type body struct {
	Contents   []any                   `json:"contents"`
	System     *genai.Content          `json:"systemInstruction,omitempty"`
	Tools      []*genai.Tool           `json:"tools,omitempty"`
	ToolConfig *genai.ToolConfig       `json:"toolConfig,omitempty"`
	Config     *genai.GenerationConfig `json:"generationConfig,omitempty"`
}

func (m *model) body(in backend.Input) ([]byte, error) {
	b := body{Contents: m.contents(in.Messages), Config: m.config(in)}
	if in.System != "" {
		b.System = &genai.Content{Parts: []*genai.Part{{Text: in.System}}}
	}
	b.tools(m, in.Tools)
	out, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	return merge(out, m.Extra)
}

func (m *model) config(in backend.Input) *genai.GenerationConfig {
	c := &genai.GenerationConfig{Temperature: small(m.Temperature), TopP: small(m.TopP), ThinkingConfig: m.thinking()}
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
	var ours []*genai.FunctionDeclaration
	for _, s := range specs {
		ours = append(ours, &genai.FunctionDeclaration{Name: s.Name, Description: s.Description, ParametersJsonSchema: schema(s.Schema)})
	}
	if len(ours) > 0 {
		b.Tools = append(b.Tools, &genai.Tool{FunctionDeclarations: ours})
	}
	if m.WebSearch {
		b.Tools = append(b.Tools, &genai.Tool{GoogleSearch: &genai.GoogleSearch{}})
	}
	if m.Code {
		b.Tools = append(b.Tools, &genai.Tool{CodeExecution: &genai.ToolCodeExecution{}})
	}
	if len(ours) > 0 && (m.WebSearch || m.Code) && generation(m.Name) >= 3 {
		b.ToolConfig = &genai.ToolConfig{IncludeServerSideToolInvocations: new(true)}
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
		var parts []*genai.Part
		role := genai.RoleUser
		switch msg.From {
		case backend.Assistant:
			if native, ok := replay(msg.Native); ok {
				out = append(out, native)
				continue
			}
			role, parts = genai.RoleModel, m.spoken(msg)
		case backend.Tool:
			parts, after := m.results(msg.Results)
			out = appendContent(out, genai.RoleUser, parts)
			out = appendContent(out, genai.RoleUser, after)
			continue
		default:
			parts = append(text(msg.Text), pictures(msg.Images)...)
		}
		out = appendContent(out, role, parts)
	}
	return out
}

func appendContent(all []any, role string, parts []*genai.Part) []any {
	if len(parts) == 0 {
		return all
	}
	return append(all, &genai.Content{Role: role, Parts: parts})
}

func text(s string) []*genai.Part {
	if s == "" {
		return nil
	}
	return []*genai.Part{{Text: s}}
}

func pictures(all []backend.Image) []*genai.Part {
	var out []*genai.Part
	for _, p := range all {
		out = append(out, &genai.Part{InlineData: &genai.Blob{MIMEType: p.Type, Data: p.Data}})
	}
	return out
}

// replay is a reply of Gemini's own, if it is one and holds something.
func replay(native []byte) (json.RawMessage, bool) {
	var c struct {
		Role  string
		Parts []json.RawMessage
	}
	if json.Unmarshal(native, &c) != nil || c.Role != genai.RoleModel || len(c.Parts) == 0 {
		return nil, false
	}
	return native, true
}

// unsigned stands for the signature that newer models want to see on the first
// of a reply's calls, where the reply is not one of theirs.
const unsigned = "skip_thought_signature_validator"

// spoken is an assistant's message of which there is no native form.
func (m *model) spoken(msg backend.Message) []*genai.Part {
	out := text(msg.Text)
	for i, c := range msg.Calls {
		p := &genai.Part{FunctionCall: &genai.FunctionCall{ID: theirs(c.ID), Name: c.Name, Args: arguments(c)}}
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
func (m *model) results(all []backend.ToolResult) (parts, after []*genai.Part) {
	for _, r := range all {
		field := "output"
		if r.Error {
			field = "error"
		}
		f := &genai.FunctionResponse{ID: theirs(r.Call), Name: r.Name, Response: map[string]any{field: r.Text}}
		parts = append(parts, &genai.Part{FunctionResponse: f})
		if generation(m.Name) < 3 {
			if len(r.Images) > 0 {
				after = append(append(after, text(fmt.Sprintf("Pictures of the result of %s:", r.Name))...), pictures(r.Images)...)
			}
			continue
		}
		for _, p := range r.Images {
			f.Parts = append(f.Parts, genai.NewFunctionResponsePartFromBytes(p.Data, p.Type))
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
