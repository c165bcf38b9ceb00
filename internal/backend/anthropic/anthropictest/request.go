package anthropictest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// A body is the part of a request that the server looks at.
type body struct {
	Model     string
	MaxTokens int `json:"max_tokens"`
	Stream    bool
	System    []struct{ Text string }
	Messages  []message
	Tools     []struct {
		Type, Name string
		Schema     map[string]any `json:"input_schema"`
	}
	Thinking struct {
		Type   string
		Budget int `json:"budget_tokens"`
	}
}

type message struct {
	Role    string
	Content blocks
}

// blocks may be written as one text.
type blocks []block

func (b *blocks) UnmarshalJSON(p []byte) error {
	if text := ""; json.Unmarshal(p, &text) == nil {
		*b = blocks{{Type: "text", Text: text}}
		return nil
	}
	return json.Unmarshal(p, (*[]block)(b))
}

type block struct {
	Type, Text, Thinking, ID, Name string
	Input                          json.RawMessage
	CallID                         string `json:"tool_use_id"`
	Content                        blocks
	Source                         struct {
		Type  string
		Media string `json:"media_type"`
		Data  string
	}
	Cache json.RawMessage `json:"cache_control"`
}

var callID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// check refuses what the real API refuses.
func (b body) check(r *http.Request) error {
	switch {
	case r.Header.Get("Anthropic-Version") == "":
		return errors.New("anthropic-version: header is required")
	case b.Model == "" || b.MaxTokens < 1 || len(b.Messages) == 0:
		return errors.New("model, max_tokens, messages: Field required")
	case !b.Stream:
		return errors.New("stream: this server only streams")
	case b.Thinking.Type == "enabled" && (b.Thinking.Budget < 1024 || b.Thinking.Budget >= b.MaxTokens):
		return errors.New("`max_tokens` must be greater than `thinking.budget_tokens`, which must be at least 1024")
	}
	for _, t := range b.Tools {
		if t.Name == "" || t.Type == "" && t.Schema["type"] != "object" {
			return fmt.Errorf("tools: %q needs an input_schema of type object", t.Name)
		}
	}
	marks := strings.Count(fmt.Sprint(b.marks()), "true")
	if marks > 4 {
		return fmt.Errorf("a maximum of 4 blocks with cache_control may be provided, found %d", marks)
	}
	return b.conversation()
}

func (b body) marks() []bool {
	var out []bool
	for _, m := range b.Messages {
		for _, c := range m.Content {
			out = append(out, len(c.Cache) > 0)
		}
	}
	return out
}

// conversation refuses calls without results, results without calls, and blocks
// that are not as they should be.
func (b body) conversation() error {
	open := map[string]bool{}
	for i, m := range b.Messages {
		if m.Role != "user" && m.Role != "assistant" || len(m.Content) == 0 {
			return fmt.Errorf("messages.%d: a role and content are required", i)
		}
		if m.Role == "assistant" && len(open) > 0 {
			return fmt.Errorf("messages.%d: tool_use ids were found without tool_result blocks: %v", i, open)
		}
		for j, c := range m.Content {
			if err := c.check(open); err != nil {
				return fmt.Errorf("messages.%d.content.%d: %w", i, j, err)
			}
		}
		if last := m.Content[len(m.Content)-1]; m.Role == "assistant" && strings.HasSuffix(last.Type, "thinking") {
			return fmt.Errorf("messages.%d: the final block in an assistant message cannot be thinking", i)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("tool_use ids were found without tool_result blocks: %v", open)
	}
	return nil
}

func (c block) check(open map[string]bool) error {
	switch c.Type {
	case "text":
		if strings.TrimSpace(c.Text) == "" {
			return errors.New("text content blocks must be non-empty")
		}
	case "tool_use":
		var input map[string]any
		if !callID.MatchString(c.ID) || c.Name == "" || json.Unmarshal(c.Input, &input) != nil || input == nil {
			return fmt.Errorf("tool_use: id, name or input is not valid: %s %s", c.ID, c.Input)
		}
		open[c.ID] = true
	case "tool_result":
		if !open[c.CallID] {
			return fmt.Errorf("unexpected tool_use_id %q found in tool_result blocks", c.CallID)
		}
		delete(open, c.CallID)
	case "image":
		if c.Source.Type != "base64" || !strings.HasPrefix(c.Source.Media, "image/") || c.Source.Data == "" {
			return errors.New("image: source is not valid")
		}
	case "thinking":
		if c.Thinking == "" {
			return errors.New("thinking: Field required")
		}
	case "":
		return errors.New("type: Field required")
	}
	return nil
}

// plain is a message in words.
func (m message) plain() []Message {
	var out []Message
	for _, c := range m.Content {
		from, text := m.Role, c.Text
		if c.Type == "tool_result" {
			from = "tool"
			for _, inner := range c.Content {
				text += inner.Text
			}
		}
		out = append(out, Message{from, text})
	}
	return out
}
