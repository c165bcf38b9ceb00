package chat

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/backend/openai/sdk"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"
)

// params are the request as every provider takes it.
func (m *model) params(in backend.Input) openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{Model: m.Name, Messages: m.messages(in)}
	if in.MaxOutput > 0 || m.MaxOutput > 0 {
		n := int64(m.rates.Output(in)) // as it was estimated
		if m.preset.quirks.limit == maxCompletion {
			p.MaxCompletionTokens = param.NewOpt(n)
		} else {
			p.MaxTokens = param.NewOpt(n)
		}
	}
	if m.Temperature != nil {
		p.Temperature = param.NewOpt(*m.Temperature)
	}
	if m.TopP != nil {
		p.TopP = param.NewOpt(*m.TopP)
	}
	if m.Verbosity != "" {
		p.Verbosity = openai.ChatCompletionNewParamsVerbosity(m.Verbosity)
	}
	if !m.preset.quirks.silent {
		p.StreamOptions.IncludeUsage = param.NewOpt(true)
	}
	for _, t := range in.Tools {
		p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: t.Name, Description: param.NewOpt(t.Description), Parameters: sdk.Schema(t),
		}))
	}
	if m.Serial && len(p.Tools) > 0 {
		p.ParallelToolCalls = param.NewOpt(false)
	}
	if e := m.preset.quirks.effort; m.Effort != "" && (e == byEffort || e == byBoth && m.Effort != "none") {
		p.ReasoningEffort = shared.ReasoningEffort(m.Effort)
	}
	return p
}

// extra are the fields of a request that only some providers have, and those the
// configuration adds, which come last.
func (m *model) extra() []option.RequestOption {
	fields := map[string]any{}
	if m.TopK != nil && m.preset.quirks.topK {
		fields["top_k"] = *m.TopK
	}
	if m.WebSearch && m.preset.Web {
		fields["plugins"] = []any{map[string]any{"id": "web"}}
	}
	m.thinking(fields)
	raw := map[string]json.RawMessage{}
	for name, v := range fields {
		raw[name], _ = json.Marshal(v) // strings and numbers
	}
	return append(sdk.Extra(raw), sdk.Extra(m.Extra)...)
}

// thinking says how hard to think to providers with their own words for it.
func (m *model) thinking(fields map[string]any) {
	if m.Effort == "" && m.Think == nil {
		return
	}
	off := m.Effort == "none" || m.Effort == "" && *m.Think == 0
	switch m.preset.quirks.effort {
	case byReasoning:
		if m.Think != nil && !off { // one of the two, and the number is the more exact
			fields["reasoning"] = map[string]any{"max_tokens": *m.Think}
		} else {
			fields["reasoning"] = map[string]any{"effort": cmp.Or(m.Effort, "none")}
		}
	case byThinking, byBoth:
		kind := "enabled"
		if off {
			kind = "disabled"
		}
		fields["thinking"] = map[string]any{"type": kind}
	case byBudget:
		fields["enable_thinking"] = !off
		if m.Think != nil && !off {
			fields["thinking_budget"] = *m.Think
		}
	}
}

// messages are the conversation. A reply with nothing in it is left out, because
// servers refuse it, and what stands around it becomes one message.
func (m *model) messages(in backend.Input) []openai.ChatCompletionMessageParamUnion {
	var out []openai.ChatCompletionMessageParamUnion
	if in.System != "" {
		out = append(out, openai.SystemMessage(in.System))
	}
	for _, msg := range spoken(in.Messages) {
		switch msg.From {
		case backend.Assistant:
			out = append(out, m.said(msg))
		case backend.Tool:
			tools, pictures := results(msg)
			out = append(out, tools...)
			if len(pictures) > 0 {
				out = append(m.bridged(out), user("The pictures the tools returned:", pictures))
			}
		default:
			out = append(m.bridged(out), user(msg.Text, msg.Images))
		}
	}
	return out
}

// spoken is a conversation without empty replies, and without two messages of
// the user's in a row.
func spoken(all []backend.Message) []backend.Message {
	var out []backend.Message
	for _, msg := range all {
		last := len(out) - 1
		switch {
		case msg.From == backend.Assistant && strings.TrimSpace(msg.Text) == "" && len(msg.Calls) == 0:
		case msg.From == backend.User && last >= 0 && out[last].From == backend.User:
			out[last].Text = strings.TrimPrefix(out[last].Text+"\n\n"+msg.Text, "\n\n")
			out[last].Images = slices.Concat(out[last].Images, msg.Images)
		default:
			out = append(out, msg)
		}
	}
	return out
}

// bridged is a conversation that the user may go on with. Mistral's models want
// to have said something after the results of tools, wherever they are served.
func (m *model) bridged(all []openai.ChatCompletionMessageParamUnion) []openai.ChatCompletionMessageParamUnion {
	if len(all) == 0 || all[len(all)-1].OfTool == nil || !m.strict() {
		return all
	}
	return append(all, openai.AssistantMessage("I have the results."))
}

func (m *model) strict() bool {
	name := strings.ToLower(m.Name)
	return m.preset.quirks.strict || slices.ContainsFunc(mistrals, func(s string) bool { return strings.Contains(name, s) })
}

// mistrals are what names of Mistral's models have in them.
var mistrals = []string{"mistral", "mixtral", "magistral", "ministral", "devstral", "codestral", "pixtral", "voxtral"}

func user(text string, images []backend.Image) openai.ChatCompletionMessageParamUnion {
	if len(images) == 0 {
		return openai.UserMessage(text)
	}
	var parts []openai.ChatCompletionContentPartUnionParam
	if text != "" {
		parts = append(parts, openai.TextContentPart(text))
	}
	for _, i := range images {
		parts = append(parts, openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: sdk.Picture(i)}))
	}
	return openai.UserMessage(parts)
}

// results are what tools gave back. There is no field for a failure, so the text
// says it, and none for pictures, so they come in a message of their own.
func results(msg backend.Message) (out []openai.ChatCompletionMessageParamUnion, pictures []backend.Image) {
	for _, r := range msg.Results {
		text := r.Text
		if r.Error {
			text = "Error: " + text
		}
		out = append(out, openai.ToolMessage(text, r.Call))
		pictures = append(pictures, r.Images...)
	}
	return out, pictures
}

// said is a message of the assistant's: its own form if that was kept, else one
// put together from ours.
func (m *model) said(msg backend.Message) openai.ChatCompletionMessageParamUnion {
	native := msg.Native
	var own struct{ Role string }
	if json.Unmarshal(native, &own) != nil || own.Role != "assistant" {
		s := saying{text: msg.Text}
		for _, c := range msg.Calls {
			s.calls = append(s.calls, call{id: c.ID, name: c.Name, input: []byte(sdk.Written(c.Input))})
		}
		native = s.native(m.preset.quirks)
	}
	return param.Override[openai.ChatCompletionMessageParamUnion](json.RawMessage(native))
}
