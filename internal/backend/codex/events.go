package codex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"conclave/internal/backend"
	"conclave/internal/backend/cli"
	"conclave/internal/backend/rpc"
	"conclave/internal/event"
)

// handle takes whatever comes from Codex in the turn.
func (t *turn) handle(ctx context.Context, m rpc.Message) error {
	if m.Asks() {
		return t.asked(ctx, m)
	}
	switch m.Method {
	case "item/agentMessage/delta", "item/reasoning/summaryTextDelta", "item/reasoning/textDelta",
		"item/started", "item/completed", "thread/tokenUsage/updated", "turn/started", "turn/completed",
		"thread/status/changed", "thread/closed", "error":
	default:
		return nil
	}
	u, err := read(m)
	if err != nil {
		return err
	}
	ours := u.Thread == t.thread // and not a subagent's
	switch m.Method {
	case "item/agentMessage/delta":
		if ours {
			t.text(u.ItemID, u.Delta)
		}
	case "item/reasoning/summaryTextDelta", "item/reasoning/textDelta":
		if ours {
			t.thinking(fmt.Sprint(u.ItemID, u.Part), u.Delta)
		}
	case "thread/tokenUsage/updated", "turn/completed":
		if ours && t.begins {
			t.early = append(t.early, notice{m.Method, u})
			return nil
		}
		t.counts(m.Method, u)
		return t.crewed(m.Method, u)
	case "turn/started", "thread/status/changed", "thread/closed":
		return t.crewed(m.Method, u)
	case "error":
		if ours && u.Again {
			return t.retried(u.Error)
		}
	case "item/started":
		return t.began(ctx, u.Item)
	case "item/completed":
		return t.ended(ctx, u.Item, ours)
	}
	return nil
}

// counts takes what is reported of a turn by its name, if it is this one. What one
// used may be said when the next has begun.
func (t *turn) counts(method string, u update) {
	ours := u.Thread == t.thread
	switch {
	case method == "turn/completed" && ours && u.Turn.ID == t.id:
		t.done, t.state = true, u.Turn
	case method == "thread/tokenUsage/updated" && (!ours || slices.Contains(t.ids, u.TurnID)): // a thread that is resumed says what it used before
		t.used(u.Usage.Last)
	}
}

// read reads what a message carries. A field of another type than expected is as
// good as missing: versions differ.
func read(m rpc.Message) (update, error) {
	var u update
	err := rpc.Decode(m, &u)
	if other := (*json.UnmarshalTypeError)(nil); err != nil && !errors.As(err, &other) {
		return u, &backend.Error{Kind: backend.Garbled, Message: "codex wrote what makes no sense", Err: err}
	}
	return u, nil
}

func (t *turn) used(n tokens) {
	u := event.Usage{Input: n.Input, Cached: n.Cached, Output: n.Output, Reasoning: n.Reasoning}
	if !t.agent.own() {
		u.Cost = t.agent.rates.Cost(u, n.Stored)
	}
	t.usage = t.usage.Add(u)
}

// A voice is what was said so far, as far as it matters to what is said next.
type voice struct {
	item string // the message, or the part of a thought, that is being said
	last rune   // its last letter; zero before the first
	// whole are the messages that came in pieces.
	whole map[string]bool
}

// piece is text as it follows what was said: messages are kept apart.
func (v *voice) piece(item, text string) string {
	first, _ := utf8.DecodeRuneInString(text)
	if v.item != item && v.last != 0 && !unicode.IsSpace(v.last) && !unicode.IsSpace(first) {
		text = "\n\n" + text
	}
	v.item = item
	v.last, _ = utf8.DecodeLastRuneInString(text)
	return text
}

func (t *turn) text(item, text string) {
	if text == "" || t.left || t.ending || t.quiet {
		return
	}
	if t.said.whole == nil {
		t.said.whole = map[string]bool{}
	}
	t.said.whole[item] = true
	t.left = !t.yield(backend.Delta{Text: t.said.piece(item, text)}, nil)
}

func (t *turn) thinking(part, text string) {
	if text == "" || t.left || t.ending || t.quiet {
		return
	}
	t.left = !t.yield(backend.Delta{Thinking: t.thought.piece(part, text)}, nil)
}

// began reports the use of a tool of Codex's own.
func (t *turn) began(ctx context.Context, i item) error {
	call, ok := i.call()
	if !ok {
		return nil
	}
	if _, again := t.items[i.ID]; again || t.ending || t.quiet {
		return nil
	}
	t.items[i.ID] = i
	if t.steward == nil {
		return nil
	}
	return t.steward.Began(ctx, call)
}

// ended reports what came of it, and passes on the news.
func (t *turn) ended(ctx context.Context, i item, ours bool) error {
	if ours {
		t.crew.heard(i)
	}
	switch i.Type {
	case "userMessage":
		t.unheard = slices.DeleteFunc(t.unheard, func(n cli.News) bool { return n.Mark == i.ClientID })
		return nil
	case "agentMessage":
		if ours && !t.said.whole[i.ID] {
			t.text(i.ID, i.Text)
		}
		return nil
	case "collabAgentToolCall", "subAgentActivity":
		t.crew.starts(i)
	}
	if _, ok := t.items[i.ID]; !ok || t.quiet {
		return nil
	}
	delete(t.items, i.ID)
	if t.steward == nil {
		return nil
	}
	news, err := t.steward.Ended(ctx, i.result())
	if err != nil || news == "" || t.ending {
		return err
	}
	return t.tell(news)
}

// call is the use of a tool as the log has it; false if it is none of Codex's own.
func (i item) call() (event.ToolCall, bool) {
	name, input := "", any(nil)
	switch i.Type {
	case "commandExecution":
		name, input = execTool, map[string]any{"command": unwrap(i.Command), "cwd": i.Dir}
	case "fileChange":
		name, input = patchTool, map[string]any{"changes": i.Changes}
	case "mcpToolCall":
		name, input = "mcp__"+i.Server+"__"+i.Tool, i.Arguments
	case "collabAgentToolCall":
		name, input = i.Tool, map[string]any{"prompt": i.Prompt}
	case "webSearch":
		name, input = "web_search", map[string]any{"query": i.Query}
	case "imageView":
		name, input = "view_image", map[string]any{"path": i.Path}
	default:
		return event.ToolCall{}, false
	}
	p, err := json.Marshal(input)
	return event.ToolCall{ID: i.ID, Name: name, Input: p}, err == nil
}

// result is what came of it, in words.
func (i item) result() backend.ToolResult {
	call, _ := i.call()
	r := backend.ToolResult{Call: i.ID, Name: call.Name, Error: i.Status == "failed" || i.Status == "declined"}
	var words []string
	if i.Output != "" {
		words = append(words, i.Output)
	}
	if i.Exit != nil && *i.Exit != 0 {
		words, r.Error = append(words, fmt.Sprintf("(exit code %d)", *i.Exit)), true
	}
	for _, c := range i.Changes {
		words = append(words, c.Kind.Type+" "+c.Path)
	}
	for _, raw := range []json.RawMessage{i.Result, i.Error} {
		if len(raw) > 0 && string(raw) != "null" {
			words = append(words, string(raw))
		}
	}
	if i.Status == "declined" {
		words = append(words, "(not allowed)")
	}
	r.Text = strings.Join(words, "\n")
	return r
}
