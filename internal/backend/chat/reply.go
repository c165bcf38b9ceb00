package chat

import (
	"context"
	"errors"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/backend/openai/sdk"
	"conclave/internal/event"
)

// A reply is put together from the chunks of one stream.
type reply struct {
	model *model
	sent  backend.Input
	yield func(backend.Delta, error) bool
	left  bool // nobody listens any more

	text, thought strings.Builder
	saying        saying // all but text and thought
	stop          string // the provider's word for why it ended; empty until it did
	refused       bool
	usage         *event.Usage
	sources       []string // of the web
}

// say yields a delta, unless it is empty.
func (r *reply) say(d backend.Delta) {
	if d != (backend.Delta{}) && !r.left {
		r.left = !r.yield(d, nil)
	}
}

// take takes one chunk in.
func (r *reply) take(data []byte) error {
	c, err := decode(data)
	if err != nil {
		return sdk.Garbled(r.model.Provider, "a chunk that is no JSON", err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return r.model.peer.Complaint(data)
	}
	for _, ch := range c.Choices {
		if ch.Index == 0 { // nobody asked for more than one
			r.choice(ch)
		}
	}
	if u := c.usage(); u != nil {
		r.usage = u
	}
	return nil
}

func (r *reply) choice(c choice) {
	thought, said := c.Delta.content()
	r.think(c.Delta, thought)
	r.refused = r.refused || c.Delta.Refusal != ""
	for _, s := range []string{said, c.Delta.Refusal} {
		r.text.WriteString(s)
		r.say(backend.Delta{Text: s})
	}
	for _, p := range c.Delta.ToolCalls {
		r.saying.calls = assemble(r.saying.calls, p)
	}
	for _, a := range c.Delta.Annotations {
		if a.Citation.URL != "" {
			r.sources = append(r.sources, strings.TrimSpace(a.Citation.Title+" "+a.Citation.URL))
		}
	}
	if c.FinishReason != "" {
		r.stop = c.FinishReason
	}
}

// think takes thoughts in. A provider that sends them under two names says the
// same twice.
func (r *reply) think(d delta, inline string) {
	s := inline
	switch {
	case inline != "":
		r.saying.inline = true
	case d.ReasoningContent != "":
		r.saying.field, s = "reasoning_content", d.ReasoningContent
	case d.Reasoning != "":
		r.saying.field, s = "reasoning", d.Reasoning
	}
	r.thought.WriteString(s)
	r.say(backend.Delta{Thinking: s})
	r.saying.details = addDetails(r.saying.details, d.ReasoningDetails)
}

// ended is what the end of the stream means if it did not come with [DONE].
func (r *reply) ended(ctx context.Context, err error) error {
	switch {
	case !errors.Is(err, sdk.ErrOpen):
		return r.model.peer.Failure(ctx, err)
	case ctx.Err() != nil:
		return ctx.Err()
	case r.stop == "" || !r.model.preset.quirks.unended:
		return sdk.Truncated(r.model.Provider)
	}
	return r.finish()
}

// finish yields what is known only at the end.
func (r *reply) finish() error {
	stop, err := r.reason()
	if err != nil {
		return err
	}
	if len(r.sources) > 0 {
		r.say(backend.Delta{Did: &event.Step{Name: "web_search", Result: strings.Join(r.sources, "\n")}})
	}
	s := r.saying
	s.text, s.thought = r.text.String(), r.thought.String()
	name(s.calls, r.sent)
	for _, c := range s.calls {
		if c.name == "" {
			return sdk.Garbled(r.model.Provider, "a tool call without a name", nil)
		}
		r.say(backend.Delta{Call: &event.ToolCall{ID: c.id, Name: c.name, Input: backend.Arguments(string(c.input))}})
	}
	r.say(backend.Delta{Done: &backend.Done{Stop: stop, Usage: r.spent(s), Native: s.native(r.model.preset.quirks)}})
	return nil
}

// reason is why the reply ended, in the seam's words.
func (r *reply) reason() (string, error) {
	switch r.stop {
	case "":
		return "", sdk.Truncated(r.model.Provider)
	case "length", "max_tokens", "model_length":
		return "length", nil
	case "content_filter", "sensitive", "refusal":
		return "refusal", nil
	case "error", "network_error", "insufficient_system_resource", "abort":
		return "", &backend.Error{Kind: backend.Overloaded, Message: r.model.Provider + " gave the reply up: " + r.stop}
	}
	switch {
	case len(r.saying.calls) > 0:
		return "tools", nil
	case r.refused:
		return "refusal", nil
	}
	return "end", nil
}

// spent is the usage with its cost. Of a provider that does not say it is
// estimated from what went to and fro.
func (r *reply) spent(s saying) event.Usage {
	if r.usage == nil {
		back := len(s.text) + len(s.thought)
		for _, c := range s.calls {
			back += len(c.name) + len(c.input)
		}
		return r.model.rates.Guess(r.sent, back)
	}
	u := *r.usage
	if u.Cost == 0 {
		u.Cost = r.model.rates.Cost(u, 0)
	}
	return u
}
