package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/backend/openai/sdk"
	"conclave/internal/event"
)

// An occurrence is one event of a stream, as far as it is looked into.
type occurrence struct {
	Type         string          `json:"type"`
	Delta        string          `json:"delta"`
	OutputIndex  int             `json:"output_index"`
	SummaryIndex int             `json:"summary_index"`
	Item         json.RawMessage `json:"item"`
	Error        json.RawMessage `json:"error"`
	Response     struct {
		Output     []json.RawMessage `json:"output"`
		Error      json.RawMessage   `json:"error"`
		Incomplete struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
		Usage *usage `json:"usage"`
	} `json:"response"`
}

type usage struct {
	Input   int64 `json:"input_tokens"`
	Details struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	Output int64 `json:"output_tokens"`
	Inner  struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

// A reply is put together from the events of one stream.
type reply struct {
	model *model
	sent  backend.Input
	yield func(backend.Delta, error) bool
	left  bool // nobody listens any more
	over  bool // the reply is complete

	items   []json.RawMessage // as they were finished
	forgot  bool              // the reasoning of some cannot be sent back
	called  map[string]bool   // ids of the calls that were yielded
	refused bool
	back    int // bytes that came back

	searches int  // the provider made, each for a fee
	ran      bool // the provider ran code, for another
}

// say yields a delta, unless it is empty.
func (r *reply) say(d backend.Delta) {
	r.back += len(d.Text) + len(d.Thinking)
	if d.Call != nil {
		r.back += len(d.Call.Name) + len(d.Call.Input)
	}
	if d != (backend.Delta{}) && !r.left {
		r.left = !r.yield(d, nil)
	}
}

// take takes one event in. Those that say nothing new are passed over.
func (r *reply) take(data []byte) error {
	var e occurrence
	err := json.Unmarshal(data, &e)
	if _, odd := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !(odd && e.Type != "") {
		return sdk.Garbled(r.model.Provider, "an event that is no JSON", err)
	}
	switch e.Type {
	case "response.output_text.delta":
		r.say(backend.Delta{Text: e.Delta})
	case "response.refusal.delta":
		r.refused = true
		r.say(backend.Delta{Text: e.Delta})
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		r.say(backend.Delta{Thinking: e.Delta})
	case "response.reasoning_summary_part.added":
		if e.SummaryIndex > 0 {
			r.say(backend.Delta{Thinking: "\n\n"})
		}
	case "response.output_item.done":
		return r.item(e.Item)
	case "response.completed", "response.incomplete":
		return r.finish(e)
	case "response.failed":
		return r.model.peer.Complaint(e.Response.Error)
	case "error":
		return r.model.peer.Complaint(data)
	case "":
		if len(e.Error) > 0 && string(e.Error) != "null" {
			return r.model.peer.Complaint(data)
		}
	}
	return nil
}

// item takes a finished entry of the output in.
func (r *reply) item(raw json.RawMessage) error {
	i := itemOf(raw)
	if i.lasting() {
		r.items = append(r.items, raw)
	} else {
		r.forgot = true
	}
	if s, ok := i.step(); ok {
		r.say(backend.Delta{Did: &s})
	}
	if i.searched() {
		r.searches++
	}
	r.ran = r.ran || i.Type == "code_interpreter_call"
	if i.Type != "function_call" {
		return nil
	}
	if i.Name == "" || i.CallID == "" {
		return sdk.Garbled(r.model.Provider, "a tool call without a name or an id", nil)
	}
	if r.called[i.CallID] {
		return sdk.Garbled(r.model.Provider, fmt.Sprintf("two tool calls with the id %q", i.CallID), nil)
	}
	if r.called == nil {
		r.called = map[string]bool{}
	}
	r.called[i.CallID] = true
	r.say(backend.Delta{Call: &event.ToolCall{ID: i.CallID, Name: i.Name, Input: backend.Arguments(i.Arguments)}})
	return nil
}

// finish yields what is known only at the end.
func (r *reply) finish(e occurrence) error {
	r.over = true
	if len(r.items) == 0 { // a server that tells of its output only now
		for _, raw := range e.Response.Output {
			if err := r.item(raw); err != nil {
				return err
			}
		}
	}
	done := backend.Done{Stop: r.stop(e), Native: []byte("[]")}
	if r.forgot {
		for i, raw := range r.items {
			r.items[i] = nameless(raw)
		}
	}
	if r.items != nil {
		native, err := json.Marshal(r.items)
		if err != nil {
			return fmt.Errorf("keep the reply: %w", err)
		}
		done.Native = native
	}
	done.Usage = r.spent(e.Response.Usage)
	r.say(backend.Delta{Done: &done})
	return nil
}

// spent is the usage with its cost. Of a server that does not say it is
// estimated from what went to and fro.
func (r *reply) spent(said *usage) event.Usage {
	u := r.model.rates.Guess(r.sent, r.back)
	if said != nil {
		u = event.Usage{
			Input: said.Input, Cached: min(said.Input, said.Details.Cached),
			Output: said.Output, Reasoning: min(said.Output, said.Inner.Reasoning),
		}
		u.Cost = r.model.rates.Cost(u, 0)
	}
	u.Cost += r.model.rates.Searched(r.searches)
	if r.ran {
		u.Cost += r.model.rates.Ran()
	}
	return u
}

// stop is why the reply ended, in the seam's words.
func (r *reply) stop(e occurrence) string {
	reason := e.Response.Incomplete.Reason
	switch {
	case strings.Contains(reason, "content_filter"):
		return "refusal"
	case e.Type == "response.incomplete" || reason != "":
		return "length"
	case len(r.called) > 0:
		return "tools"
	case r.refused:
		return "refusal"
	}
	return "end"
}

// ended is what the end of the stream means if nothing said that the reply is
// complete.
func (r *reply) ended(ctx context.Context, err error) error {
	switch {
	case !errors.Is(err, sdk.ErrOpen):
		return r.model.peer.Failure(ctx, err)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return sdk.Truncated(r.model.Provider)
}
