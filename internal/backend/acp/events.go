package acp

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"

	sdk "github.com/coder/acp-go-sdk"

	"conclave/internal/backend"
	"conclave/internal/backend/rpc"
	"conclave/internal/event"
)

// handle takes whatever comes from the program in the turn.
func (t *turn) handle(ctx context.Context, m rpc.Message) error {
	t.heard = t.heard || t.asked
	if m.Asks() {
		return t.wanted(ctx, m)
	}
	if m.Method != sdk.ClientMethodSessionUpdate || t.quiet {
		return nil
	}
	var n notice
	if rpc.Decode(m, &n) != nil || n.Session != t.session {
		return nil // a kind of update that came after this was written
	}
	if t.replay != nil {
		t.replay.hear(m, n.Update)
		return nil
	}
	switch n.Update.Kind {
	case "agent_message_chunk":
		t.text(n.Update.Message, n.Update.words())
	case "agent_thought_chunk":
		t.thinking(n.Update.Message, n.Update.words())
	case "tool_call", "tool_call_update":
		if u, ok := tool(m); ok {
			return t.worked(ctx, u)
		}
	}
	return nil
}

// tool is an update about a tool. A call that begins has the same fields as one that
// goes on; it must only have more of them.
func tool(m rpc.Message) (sdk.SessionToolCallUpdate, bool) {
	var u struct {
		Update sdk.SessionToolCallUpdate `json:"update"`
	}
	return u.Update, rpc.Decode(m, &u) == nil
}

// A notice is an update as far as it has to be read to know what it is. Most are
// pieces of text, and there are many.
type notice struct {
	Session sdk.SessionId `json:"sessionId"`
	Update  piece         `json:"update"`
}

type piece struct {
	Kind    string          `json:"sessionUpdate"`
	Message string          `json:"messageId"`
	Content json.RawMessage `json:"content"`
}

// words are the piece's, if it is text.
func (p piece) words() string {
	var c struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(p.Content, &c) != nil {
		return ""
	}
	return c.Text
}

// replied notes what the program says at the end of its turn.
func (t *turn) replied(m rpc.Message) error {
	if m.Error != nil {
		return nil
	}
	if err := json.Unmarshal(m.Result, &t.reply); err != nil {
		return &backend.Error{Kind: backend.Garbled, Message: t.agent.name() + " wrote what makes no sense", Err: err}
	}
	if u := t.reply.Usage; u != nil {
		n := event.Usage{Input: int64(u.InputTokens), Output: int64(u.OutputTokens)}
		if u.CachedReadTokens != nil {
			n.Cached = int64(*u.CachedReadTokens)
		}
		if u.ThoughtTokens != nil {
			n.Reasoning = int64(*u.ThoughtTokens)
		}
		t.usage = t.usage.Add(n)
	}
	return nil
}

// A voice is what was said so far, as far as it matters to what is said next.
type voice struct {
	message string // that is being said
	last    rune   // its last letter; zero before the first
	cut     bool   // something else was done since
}

// piece is text as it follows what was said: messages are kept apart.
func (v *voice) piece(message, text string) string {
	first, _ := utf8.DecodeRuneInString(text)
	if (v.message != message || v.cut) && v.last != 0 && !unicode.IsSpace(v.last) && !unicode.IsSpace(first) {
		text = "\n\n" + text
	}
	v.message, v.cut = message, false
	v.last, _ = utf8.DecodeLastRuneInString(text)
	return text
}

func (t *turn) text(message, text string) {
	if text != "" && !t.left && !t.ending {
		t.left = !t.yield(backend.Delta{Text: t.said.piece(message, text)}, nil)
	}
}

func (t *turn) thinking(message, text string) {
	if text != "" && !t.left && !t.ending {
		t.left = !t.yield(backend.Delta{Thinking: t.thought.piece(message, text)}, nil)
	}
}

// A call is the use of a tool of the program's own, as far as it is known.
type call struct {
	id        string
	title     string
	kind      sdk.ToolKind
	content   []sdk.ToolCallContent
	locations []sdk.ToolCallLocation
	input     any
	output    any
	begun     bool // and reported
	host      bool // it is of one of the host's tools
}

// with is the call with what an update adds.
func (c call) with(u sdk.SessionToolCallUpdate) call {
	c.id = string(u.ToolCallId)
	if u.Title != nil {
		c.title = *u.Title
	}
	if u.Kind != nil && *u.Kind != "" {
		c.kind = *u.Kind
	}
	if u.Content != nil {
		c.content = u.Content
	}
	if u.Locations != nil {
		c.locations = u.Locations
	}
	if u.RawInput != nil {
		c.input = u.RawInput
	}
	if u.RawOutput != nil {
		c.output = u.RawOutput
	}
	return c
}

// event is the call as the log has it.
func (c call) event() event.ToolCall {
	in := map[string]any{"title": c.title}
	if c.input != nil {
		in["input"] = c.input
	}
	if len(c.locations) > 0 {
		in["locations"] = c.locations
	}
	p, _ := json.Marshal(in) // all of it was JSON
	return event.ToolCall{ID: c.id, Name: c.tool(), Input: p}
}

// tool is what the tool is called: the protocol has kinds and no names.
func (c call) tool() string {
	if c.kind == "" {
		return string(sdk.ToolKindOther)
	}
	return string(c.kind)
}

// worked reports the use of a tool of the program's own. The host's are known to
// the host.
func (t *turn) worked(ctx context.Context, u sdk.SessionToolCallUpdate) error {
	t.said.cut, t.thought.cut = true, true
	id := string(u.ToolCallId)
	old, known := t.calls[id]
	c := old.with(u)
	if c.host = c.host || t.ours(c); c.host {
		t.calls[id] = c
		return nil
	}
	over := u.Status != nil && (*u.Status == sdk.ToolCallStatusCompleted || *u.Status == sdk.ToolCallStatusFailed)
	if t.steward == nil || !known && t.ending {
		return nil
	}
	if !c.begun {
		c.begun = true
		if err := t.steward.Began(ctx, c.event()); err != nil {
			return err
		}
	}
	if t.calls[id] = c; !over {
		return nil
	}
	delete(t.calls, id)
	maps.DeleteFunc(t.granted, func(_, call string) bool { return call == id })
	news, err := t.steward.Ended(ctx, backend.ToolResult{Call: id, Name: c.tool(), Text: c.words(), Error: *u.Status == sdk.ToolCallStatusFailed})
	if news != "" {
		t.news = append(t.news, news)
	}
	return err
}

// words are what came of the call.
func (c call) words() string {
	var out []string
	for _, p := range c.content {
		switch {
		case p.Content != nil && p.Content.Content.Text != nil:
			out = append(out, p.Content.Content.Text.Text)
		case p.Diff != nil:
			out = append(out, "changed "+p.Diff.Path)
		}
	}
	if s, ok := c.output.(string); ok && len(out) == 0 {
		return s
	}
	if len(out) == 0 && c.output != nil {
		p, _ := json.Marshal(c.output) // it was JSON
		return string(p)
	}
	return strings.Join(out, "\n")
}

// ours reports whether a call is of one of the host's tools, which programs show
// in different ways.
func (t *turn) ours(c call) bool {
	switch c.kind {
	case sdk.ToolKindExecute, sdk.ToolKindEdit, sdk.ToolKindDelete, sdk.ToolKindMove:
		return false
	}
	in, _ := c.input.(map[string]any)
	for _, s := range t.in.Tools {
		if _, with := in["arguments"]; with && len(in) == 3 && in["server"] == server && in["tool"] == s.Name {
			return true
		}
		for _, shown := range []string{"%[2]s", "mcp__%[1]s__%[2]s", "%[1]s__%[2]s", "%[1]s/%[2]s", "Tool: %[1]s/%[2]s", "%[1]s.%[2]s", "mcp.%[1]s.%[2]s", "%[1]s: %[2]s", "%[2]s (%[1]s MCP Server)", "%[2]s (%[1]s)"} {
			if c.title == strings.NewReplacer("%[1]s", server, "%[2]s", s.Name).Replace(shown) {
				return true
			}
		}
	}
	return false
}
