package openai

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/backend/openai/sdk"
	"conclave/internal/backend/price"

	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

// params are the request.
func (m *model) params(in backend.Input) responses.ResponseNewParams {
	p := responses.ResponseNewParams{
		Model:          m.Name,
		Store:          param.NewOpt(false),
		PromptCacheKey: param.NewOpt(cacheKey(m.Name, in)),
	}
	items := m.items(in.Messages)
	switch {
	case in.System == "":
	case m.Provider == grok: // it knows no instructions
		items = append([]responses.ResponseInputItemUnionParam{
			responses.ResponseInputItemParamOfMessage(in.System, responses.EasyInputMessageRoleSystem),
		}, items...)
	default:
		p.Instructions = param.NewOpt(in.System)
	}
	p.Input.OfInputItemList = items
	if in.MaxOutput > 0 || m.MaxOutput > 0 {
		p.MaxOutputTokens = param.NewOpt(int64(m.rates.Output(in))) // as it was estimated
	}
	if m.Temperature != nil {
		p.Temperature = param.NewOpt(*m.Temperature)
	}
	if m.TopP != nil {
		p.TopP = param.NewOpt(*m.TopP)
	}
	if m.Verbosity != "" {
		p.Text.Verbosity = responses.ResponseTextConfigVerbosity(m.Verbosity)
	}
	m.reasoning(&p)
	p.Tools = m.tools(in.Tools)
	if m.Serial && len(in.Tools) > 0 {
		p.ParallelToolCalls = param.NewOpt(false)
	}
	if (m.WebSearch || m.Code) && m.Provider != grok {
		p.MaxToolCalls = param.NewOpt(int64(price.Steps)) // as it was estimated
	}
	if m.Code && m.Provider != grok {
		p.Include = append(p.Include, responses.ResponseIncludableCodeInterpreterCallOutputs)
	}
	return p
}

// reasoning asks for what a model thinks. Models that do not reason refuse to be
// asked.
func (m *model) reasoning(p *responses.ResponseNewParams) {
	if m.Effort != "" {
		p.Reasoning.Effort = shared.ReasoningEffort(m.Effort)
	}
	if !m.reasons() {
		return
	}
	p.Include = append(p.Include, responses.ResponseIncludableReasoningEncryptedContent)
	if m.Provider != grok && !m.terse.Load() {
		p.Reasoning.Summary = shared.ReasoningSummaryAuto
	}
}

// reasons reports whether the model thinks before it speaks, by its name.
func (m *model) reasons() bool {
	name := strings.ToLower(m.Name[strings.LastIndex(m.Name, "/")+1:])
	if strings.Contains(name, "non-reasoning") || strings.Contains(name, "chat-latest") {
		return false
	}
	for _, prefix := range []string{"gpt-5", "gpt-6", "gpt-oss", "o1", "o3", "o4", "codex", "computer-use", "grok-4", "grok-5", "grok-3-mini", "grok-code"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// cacheKey sends requests that begin alike to where their beginning is cached.
func cacheKey(name string, in backend.Input) string {
	h := sha256.New()
	h.Write([]byte(name + "\n" + in.System + "\n"))
	for _, t := range in.Tools {
		h.Write([]byte(t.Name + "\n"))
	}
	return "conclave-" + hex.EncodeToString(h.Sum(nil)[:12])
}

func (m *model) tools(specs []backend.ToolSpec) []responses.ToolUnionParam {
	var out []responses.ToolUnionParam
	for _, t := range specs {
		out = append(out, responses.ToolUnionParam{OfFunction: &responses.FunctionToolParam{
			Name: t.Name, Description: param.NewOpt(t.Description), Parameters: sdk.Schema(t), Strict: param.NewOpt(false),
		}})
	}
	own := func(tool string) {
		out = append(out, param.Override[responses.ToolUnionParam](json.RawMessage(tool)))
	}
	if m.WebSearch {
		own(`{"type":"web_search"}`)
	}
	if m.XSearch && m.Provider == grok {
		own(`{"type":"x_search"}`)
	}
	switch {
	case m.Code && m.Provider == grok:
		own(`{"type":"code_interpreter"}`)
	case m.Code:
		own(`{"type":"code_interpreter","container":{"type":"auto"}}`)
	}
	return out
}

// items are the conversation.
func (m *model) items(messages []backend.Message) []responses.ResponseInputItemUnionParam {
	out := []responses.ResponseInputItemUnionParam{}
	for _, msg := range messages {
		switch msg.From {
		case backend.Assistant:
			out = append(out, said(msg)...)
		case backend.Tool:
			out = append(out, m.results(msg)...)
		default:
			out = append(out, user(msg.Text, msg.Images))
		}
	}
	return out
}

func user(text string, images []backend.Image) responses.ResponseInputItemUnionParam {
	if len(images) == 0 {
		return responses.ResponseInputItemParamOfMessage(text, responses.EasyInputMessageRoleUser)
	}
	var parts responses.ResponseInputMessageContentListParam
	if text != "" {
		parts = append(parts, responses.ResponseInputContentParamOfInputText(text))
	}
	for _, i := range images {
		parts = append(parts, responses.ResponseInputContentUnionParam{OfInputImage: &responses.ResponseInputImageParam{
			Detail: responses.ResponseInputImageDetailAuto, ImageURL: param.NewOpt(sdk.Picture(i)),
		}})
	}
	return responses.ResponseInputItemParamOfMessage(parts, responses.EasyInputMessageRoleUser)
}

// said are the items of a message of the assistant's: its own if they were kept,
// else what can be made of ours.
func said(msg backend.Message) []responses.ResponseInputItemUnionParam {
	var out []responses.ResponseInputItemUnionParam
	for _, item := range kept(msg.Native) {
		out = append(out, param.Override[responses.ResponseInputItemUnionParam](item))
	}
	if out != nil {
		return out
	}
	if msg.Text != "" {
		out = append(out, responses.ResponseInputItemParamOfMessage(msg.Text, responses.EasyInputMessageRoleAssistant))
	}
	for _, c := range msg.Calls {
		out = append(out, responses.ResponseInputItemParamOfFunctionCall(sdk.Written(c.Input), c.ID, c.Name))
	}
	return out
}

// results are what tools gave back. There is no field for a failure, so the text
// says it. OpenAI takes pictures in a result, others in a message of their own.
func (m *model) results(msg backend.Message) []responses.ResponseInputItemUnionParam {
	var out []responses.ResponseInputItemUnionParam
	var apart []backend.Image
	for _, r := range msg.Results {
		text := r.Text
		if r.Error {
			text = "Error: " + text
		}
		item := responses.ResponseInputItemParamOfFunctionCallOutput(text)
		if len(r.Images) > 0 && m.Provider == "openai" {
			item = responses.ResponseInputItemParamOfFunctionCallOutput(pictured(text, r.Images))
		} else {
			apart = append(apart, r.Images...)
		}
		item.OfFunctionCallOutput.CallID = param.NewOpt(r.Call)
		out = append(out, item)
	}
	if len(apart) > 0 {
		out = append(out, user("The pictures the tools returned:", apart))
	}
	return out
}

func pictured(text string, images []backend.Image) responses.ResponseFunctionCallOutputItemListParam {
	list := responses.ResponseFunctionCallOutputItemListParam{
		{OfInputText: &responses.ResponseInputTextContentParam{Text: text}},
	}
	for _, i := range images {
		list = append(list, responses.ResponseFunctionCallOutputItemUnionParam{OfInputImage: &responses.ResponseInputImageContentParam{
			ImageURL: param.NewOpt(sdk.Picture(i)), Detail: responses.ResponseInputImageContentDetailAuto,
		}})
	}
	return list
}
