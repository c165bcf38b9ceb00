package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/backend/price"
	"conclave/internal/backend/wire"
	"conclave/internal/event"
)

// paused is the provider's reason to stop when it wants to be called again.
const paused = "pause_turn"

// A reply is put together from the events of a stream, or of several if the
// provider paused.
type reply struct {
	model *model
	yield func(backend.Delta, error) bool

	blocks    []json.RawMessage // complete, of every stream so far
	ids       map[string]bool   // of calls
	calls     int
	steps     map[string]*event.Step // begun by the provider
	spent     event.Usage            // of the streams before this one
	searches  int64                  // in them
	container string

	// Of the stream at hand.
	begun bool
	next  int    // index of the next block
	open  *block // the block that is being filled
	usage usage
	stop  string
}

// begin makes ready for another stream.
func (r *reply) begin() { r.begun, r.next, r.open, r.usage, r.stop = false, 0, nil, usage{}, "" }

// A usage is what a stream says it took. Later numbers take the place of earlier
// ones.
type usage struct {
	Input    int64 `json:"input_tokens"`
	Read     int64 `json:"cache_read_input_tokens"`
	Written  int64 `json:"cache_creation_input_tokens"`
	Output   int64 `json:"output_tokens"`
	Thoughts struct {
		Tokens int64 `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
	Tools struct {
		Searches int64 `json:"web_search_requests"`
	} `json:"server_tool_use"`
}

// total is a usage in the seam's words, with what it costs.
func (u usage) total(r price.Rates) event.Usage {
	out := event.Usage{
		Input: u.Input + u.Read + u.Written, Cached: u.Read,
		Output: u.Output, Reasoning: min(u.Thoughts.Tokens, u.Output),
	}
	out.Cost = r.Cost(out, u.Written)
	out.Cost += r.Searched(int(u.Tools.Searches))
	return out
}

// An entry is any event of a stream.
type entry struct {
	Type    string
	Index   int
	Message struct {
		Usage     json.RawMessage
		Container struct{ ID string }
	}
	Block json.RawMessage `json:"content_block"`
	Delta struct {
		Type        string
		Text        string
		Thinking    string
		Signature   string
		PartialJSON string `json:"partial_json"`
		Citation    json.RawMessage
		StopReason  string `json:"stop_reason"`
		Container   struct{ ID string }
	}
	Usage json.RawMessage
}

// take takes one event and reports whether it was the last.
func (r *reply) take(data []byte) (over bool, err error) {
	var e entry
	if err := json.Unmarshal(data, &e); err != nil {
		return false, r.garbled("an event that is no JSON", err)
	}
	switch e.Type {
	case "error":
		return false, wire.Status(0, nil, data, r.model.Provider, r.model.Key)
	case "message_start":
		if r.begun {
			return false, r.garbled("a second beginning", nil)
		}
		r.begun = true
		r.keep(e.Message.Container.ID)
		return false, r.count(e.Message.Usage)
	case "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop":
		if !r.begun {
			return false, r.garbled("a reply without a beginning", nil)
		}
	}
	switch e.Type {
	case "content_block_start":
		return false, r.start(e)
	case "content_block_delta":
		return false, r.fill(e)
	case "content_block_stop":
		return false, r.close(e)
	case "message_delta":
		r.stop = e.Delta.StopReason
		r.keep(e.Delta.Container.ID)
		return false, r.count(e.Usage)
	case "message_stop":
		return true, r.end()
	}
	return false, nil // a ping, or something new
}

func (r *reply) garbled(what string, err error) error {
	return &backend.Error{Kind: backend.Garbled, Message: fmt.Sprintf("%s sent %s", r.model.Provider, what), Err: err}
}

func (r *reply) keep(container string) {
	if container != "" {
		r.container = container
	}
}

func (r *reply) count(u json.RawMessage) error {
	if len(u) == 0 {
		return nil
	}
	if err := json.Unmarshal(u, &r.usage); err != nil {
		return r.garbled("a usage that makes no sense", err)
	}
	return nil
}

// end closes a stream.
func (r *reply) end() error {
	switch {
	case r.open != nil:
		return r.garbled("an end in the middle of a block", nil)
	case r.stop == "":
		return r.garbled("an end without a reason", nil)
	}
	r.spent = r.spent.Add(r.usage.total(r.model.rates))
	r.searches += r.usage.Tools.Searches
	return nil
}

// done yields the end of the whole reply.
func (r *reply) done() error {
	d := &backend.Done{Stop: r.reason(), Usage: r.spent}
	if len(r.blocks) > 0 {
		d.Native = raw(r.blocks)
	}
	return r.say(backend.Delta{Done: d})
}

// reason is why the reply ended, in the seam's words.
func (r *reply) reason() string {
	switch r.stop {
	case "max_tokens", "model_context_window_exceeded":
		return "length"
	case "refusal":
		return "refusal"
	}
	if r.calls > 0 {
		return "tools"
	}
	return "end"
}

func (r *reply) say(d backend.Delta) error {
	if !r.yield(d, nil) {
		return errLeft
	}
	return nil
}

// start opens a block. What a search or a program gave back comes whole in it.
func (r *reply) start(e entry) error {
	if r.open != nil || e.Index != r.next {
		return r.garbled(fmt.Sprintf("block %d out of turn", e.Index), nil)
	}
	b := &block{}
	if err := json.Unmarshal(e.Block, &b.fields); err != nil || b.fields == nil {
		return r.garbled("a block that is no object", err)
	}
	b.kind, b.id, b.name = b.text("type"), b.text("id"), b.text("name")
	r.next++
	r.open = b
	if s := b.text("text"); b.kind == "text" && s != "" {
		b.said.WriteString(s)
		return r.say(backend.Delta{Text: s})
	}
	if s := b.text("thinking"); b.kind == "thinking" && s != "" {
		b.said.WriteString(s)
		return r.say(backend.Delta{Thinking: s})
	}
	return nil
}

// fill adds to the open block.
func (r *reply) fill(e entry) error {
	b := r.open
	if b == nil || e.Index != r.next-1 {
		return r.garbled(fmt.Sprintf("a piece of block %d out of turn", e.Index), nil)
	}
	switch d := e.Delta; d.Type {
	case "text_delta":
		b.said.WriteString(d.Text)
		if d.Text != "" {
			return r.say(backend.Delta{Text: d.Text})
		}
	case "thinking_delta":
		b.said.WriteString(d.Thinking)
		if d.Thinking != "" {
			return r.say(backend.Delta{Thinking: d.Thinking})
		}
	case "signature_delta":
		b.signature += d.Signature
	case "input_json_delta":
		b.input.WriteString(d.PartialJSON)
	case "citations_delta":
		if len(d.Citation) > 0 {
			b.citations = append(b.citations, d.Citation)
		}
	}
	return nil
}

// close completes the open block.
func (r *reply) close(e entry) error {
	b := r.open
	if b == nil || e.Index != r.next-1 {
		return r.garbled(fmt.Sprintf("the end of block %d out of turn", e.Index), nil)
	}
	r.open = nil
	if whole := b.whole(); whole != nil {
		r.blocks = append(r.blocks, whole)
	}
	switch {
	case b.kind == "tool_use":
		return r.call(b)
	case b.kind == "server_tool_use":
		r.steps[b.id] = &event.Step{ID: b.id, Name: b.name, Input: gist(b.written())}
	case strings.HasSuffix(b.kind, "_tool_result"):
		return r.did(b)
	}
	return nil
}

func (r *reply) call(b *block) error {
	if b.id == "" || b.name == "" || r.ids[b.id] {
		return r.garbled("a tool call without a name of its own", nil)
	}
	r.ids[b.id] = true
	r.calls++
	return r.say(backend.Delta{Call: &event.ToolCall{ID: b.id, Name: b.name, Input: backend.Arguments(b.written())}})
}
