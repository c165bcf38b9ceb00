package gemini

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/backend/wire"
	"conclave/internal/event"
)

// A chunk is one event of the stream. Parts are kept as they came, so that what
// we know nothing of is sent back all the same.
type chunk struct {
	Candidates []struct {
		Content           struct{ Parts []json.RawMessage }
		FinishReason      string
		FinishMessage     string
		GroundingMetadata *groundingMetadata
	}
	PromptFeedback *struct{ BlockReason, BlockReasonMessage string }
	UsageMetadata  *usageMetadata
	Error          json.RawMessage
}

// A part is what we know of a part. Arguments stay as they were written: large
// numbers would suffer.
type part struct {
	Text             *string
	Thought          bool
	ThoughtSignature string
	FunctionCall     *struct {
		ID, Name string
		Args     json.RawMessage
	}
	ExecutableCode      *executableCode
	CodeExecutionResult *codeExecutionResult
	ToolCall            *served
	ToolResponse        *served
}

// served is a tool of the provider's at work.
type served struct {
	ID, ToolType   string
	Args, Response json.RawMessage
}

// A reply is one stream put together.
type reply struct {
	model *model
	sent  backend.Input
	yield func(backend.Delta, error) bool
	left  bool // nobody listens any more

	parts   []json.RawMessage // for the next turn
	words   strings.Builder   // text that is not in parts yet
	ids     map[string]bool
	calls   int
	doing   *event.Step // code or a tool whose result is yet to come
	sources *groundingMetadata
	usage   *usageMetadata
	said    int // bytes
	reason  string
	message string
	blocked string
}

func (r *reply) say(d backend.Delta) { r.left = r.left || !r.yield(d, nil) }

// garbled is an error about a stream that makes no sense.
func (r *reply) garbled(what string, err error) error {
	return &backend.Error{Kind: backend.Garbled, Message: "the reply of " + r.model.Provider + " made no sense: " + what, Err: err}
}

// take yields what one event says.
func (r *reply) take(data []byte) error {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return r.garbled("an event is no JSON", err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return wire.Status(0, nil, data, r.model.Provider, r.model.Key)
	}
	r.usage = cmp.Or(c.UsageMetadata, r.usage) // each counts from the beginning
	if c.PromptFeedback != nil {
		r.blocked = cmp.Or(c.PromptFeedback.BlockReason, r.blocked)
	}
	if len(c.Candidates) == 0 {
		return nil
	}
	first := c.Candidates[0] // nobody asks for more than one
	for _, raw := range first.Content.Parts {
		if err := r.part(raw); err != nil || r.left {
			return err
		}
	}
	if first.GroundingMetadata != nil {
		r.sources = first.GroundingMetadata
	}
	r.reason = cmp.Or(first.FinishReason, r.reason)
	r.message = cmp.Or(first.FinishMessage, r.message)
	return nil
}

// part yields one part and keeps it.
func (r *reply) part(raw json.RawMessage) error {
	var p part
	if err := json.Unmarshal(raw, &p); err != nil {
		return r.garbled("a part cannot be read", err)
	}
	r.keep(raw, p)
	r.said += len(raw)
	switch {
	case p.FunctionCall != nil:
		return r.call(p)
	case p.ExecutableCode != nil:
		r.did()
		r.doing = &event.Step{ID: p.ExecutableCode.ID, Name: "code_execution", Input: p.ExecutableCode.Code}
	case p.CodeExecutionResult != nil:
		res := p.CodeExecutionResult
		r.result("code_execution", res.ID, res.Output, res.Outcome != outcomeOK)
	case p.ToolCall != nil:
		r.did()
		r.doing = &event.Step{ID: p.ToolCall.ID, Name: tool(p.ToolCall.ToolType), Input: string(p.ToolCall.Args)}
	case p.ToolResponse != nil:
		r.result(tool(p.ToolResponse.ToolType), p.ToolResponse.ID, string(p.ToolResponse.Response), false)
	case p.Text == nil || *p.Text == "":
	case p.Thought:
		r.say(backend.Delta{Thinking: *p.Text})
	default:
		r.say(backend.Delta{Text: *p.Text})
	}
	return nil
}

// tool is the name of a tool of the provider's: GOOGLE_SEARCH_WEB is google_search_web.
func tool(kind string) string { return cmp.Or(strings.ToLower(kind), "tool") }

// keep keeps a part for the next turn. Plain text is put together again; thoughts
// that are not signed mean nothing to the model and are left out.
func (r *reply) keep(raw json.RawMessage, p part) {
	plain := p.Text != nil && p.ThoughtSignature == "" && p.FunctionCall == nil
	switch {
	case plain && p.Thought:
	case plain:
		r.words.WriteString(*p.Text)
	default:
		r.flush()
		r.parts = append(r.parts, raw)
	}
}

// flush makes a part of the text so far.
func (r *reply) flush() {
	if r.words.Len() == 0 {
		return
	}
	raw, err := json.Marshal(genPart{Text: r.words.String()})
	if err != nil {
		panic(err) // text always has a JSON form
	}
	r.parts = append(r.parts, raw)
	r.words.Reset()
}

// call yields a call, with an id of its own if Gemini gave it none.
func (r *reply) call(p part) error {
	c := event.ToolCall{ID: p.FunctionCall.ID, Name: p.FunctionCall.Name, Input: backend.Arguments(string(p.FunctionCall.Args))}
	if c.Name == "" {
		return r.garbled("a call has no name", nil)
	}
	if r.calls++; c.ID == "" {
		c.ID = fmt.Sprintf("%s%d-%d", made, len(r.sent.Messages), r.calls)
	}
	if r.ids[c.ID] {
		return r.garbled(fmt.Sprintf("two calls have the id %q", c.ID), nil)
	}
	r.ids[c.ID] = true
	if string(c.Input) == "null" {
		c.Input = json.RawMessage("{}")
	}
	r.say(backend.Delta{Call: &c})
	return nil
}

// result completes the step that is being done.
func (r *reply) result(name, id, text string, failed bool) {
	if r.doing == nil || r.doing.Name != name {
		r.did()
		r.doing = &event.Step{ID: id, Name: name}
	}
	r.doing.Result, r.doing.Error = text, failed
	r.did()
}

// did yields the step that is being done, if there is one.
func (r *reply) did() {
	if r.doing != nil && !r.left {
		r.say(backend.Delta{Did: r.doing})
	}
	r.doing = nil
}

// finished reports whether the stream has given a reason to finish.
func (r *reply) finished() bool { return r.reason != "" || r.blocked != "" }

// finish yields the end of the reply.
func (r *reply) finish() error {
	stop, err := r.stop()
	if err != nil {
		return err
	}
	r.flush()
	r.did()
	r.search()
	native, err := json.Marshal(map[string]any{"role": roleModel, "parts": r.parts})
	if err != nil {
		return r.garbled("its parts cannot be kept", err)
	}
	if len(r.parts) == 0 {
		native = nil
	}
	if !r.left {
		r.say(backend.Delta{Done: &backend.Done{Stop: stop, Usage: r.used(), Native: native}})
	}
	return nil
}

// stop is why the reply ended, in the seam's words.
func (r *reply) stop() (string, error) {
	switch r.reason {
	case finishStop:
		if r.calls > 0 {
			return "tools", nil
		}
		return "end", nil
	case finishMaxTokens:
		return "length", nil
	case "":
		return "refusal", nil // the prompt was blocked
	}
	if slices.Contains(refusals, r.reason) {
		return "refusal", nil
	}
	what := "it finished with " + r.reason
	if r.message != "" {
		what += ": " + r.message
	}
	return "", r.garbled(what, nil)
}

// search yields the searches a reply rests on, which come with its end.
func (r *reply) search() {
	if r.left || r.sources == nil || len(r.sources.WebSearchQueries) == 0 {
		return
	}
	var found []string
	for _, c := range r.sources.GroundingChunks {
		if c != nil && c.Web != nil {
			found = append(found, strings.TrimSpace(c.Web.Title+" "+c.Web.URI))
		}
	}
	r.say(backend.Delta{Did: &event.Step{
		Name: "google_search", Input: strings.Join(r.sources.WebSearchQueries, "\n"), Result: strings.Join(found, "\n"),
	}})
}

// used is what the call consumed. Thoughts are output that is counted apart, and
// every search has its price.
func (r *reply) used() event.Usage {
	if r.usage == nil {
		return r.model.rates.Guess(r.sent, r.said)
	}
	u := event.Usage{
		Input:     int64(r.usage.PromptTokenCount) + int64(r.usage.ToolUsePromptTokenCount),
		Cached:    int64(r.usage.CachedContentTokenCount),
		Output:    int64(r.usage.CandidatesTokenCount) + int64(r.usage.ThoughtsTokenCount),
		Reasoning: int64(r.usage.ThoughtsTokenCount),
	}
	u.Cost = r.model.rates.Cost(u, 0)
	if r.sources != nil {
		u.Cost += r.model.rates.Searched(len(r.sources.WebSearchQueries))
	}
	return u
}
