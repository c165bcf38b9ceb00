package chat

import (
	"encoding/json"
	"errors"

	"conclave/internal/event"
)

// A chunk is one event of a stream, in OpenAI's form and with what others put
// there: the client's own type knows only the former.
type chunk struct {
	Error   json.RawMessage `json:"error"`
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Groq    struct {
		Usage *usage `json:"usage"`
	} `json:"x_groq"`
}

type choice struct {
	Index        int    `json:"index"`
	Delta        delta  `json:"delta"`
	FinishReason string `json:"finish_reason"`
	Usage        *usage `json:"usage"` // Moonshot
}

type delta struct {
	Content   json.RawMessage `json:"content"` // Mistral: a list, thoughts among its parts
	Refusal   string          `json:"refusal"`
	ToolCalls []piece         `json:"tool_calls"`

	ReasoningContent string            `json:"reasoning_content"`
	Reasoning        string            `json:"reasoning"`
	ReasoningDetails []json.RawMessage `json:"reasoning_details"` // OpenRouter
	Annotations      []struct {
		Citation struct {
			URL   string `json:"url"`
			Title string `json:"title"`
		} `json:"url_citation"`
	} `json:"annotations"`
}

// A piece is a part of a tool call.
type piece struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // a string, or what it should be the JSON of
	} `json:"function"`
}

// decode reads a chunk. A field of the wrong type is left out.
func decode(data []byte) (chunk, error) {
	var c chunk
	err := json.Unmarshal(data, &c)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && data[0] == '{' {
		err = nil
	}
	return c, err
}

func (p piece) arguments() string {
	var s string
	if len(p.Function.Arguments) == 0 || json.Unmarshal(p.Function.Arguments, &s) == nil {
		return s // null as well
	}
	return string(p.Function.Arguments)
}

// content is what was thought and said in the content.
func (d delta) content() (thought, said string) {
	type part struct {
		Type     string          `json:"type"`
		Text     string          `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
	}
	var parts []part
	if len(d.Content) == 0 || json.Unmarshal(d.Content, &said) == nil {
		return "", said
	}
	_ = json.Unmarshal(d.Content, &parts)
	for _, p := range parts {
		if p.Type != "thinking" {
			said += p.Text
			continue
		}
		var inner []part
		var whole string
		if json.Unmarshal(p.Thinking, &whole) != nil {
			_ = json.Unmarshal(p.Thinking, &inner)
		}
		for _, i := range inner {
			whole += i.Text
		}
		thought += whole
	}
	return thought, said
}

// addDetails puts pieces of OpenRouter's reasoning_details together: those that
// follow each other with the same index are one entry, whose text grows.
func addDetails(all []map[string]any, more []json.RawMessage) []map[string]any {
	for _, raw := range more {
		var p map[string]any
		if json.Unmarshal(raw, &p) != nil {
			continue
		}
		n := len(all)
		if n == 0 || p["index"] == nil || all[n-1]["index"] != p["index"] || all[n-1]["type"] != p["type"] {
			all = append(all, p)
			continue
		}
		for name, v := range p {
			was, text := all[n-1][name].(string)
			add, more := v.(string)
			switch {
			case text && more && (name == "text" || name == "summary" || name == "data"):
				all[n-1][name] = was + add
			case v != nil:
				all[n-1][name] = v
			}
		}
	}
	return all
}

// Usage in all its spellings.
type usage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	In         struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	Out struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	Cached  int64   `json:"cached_tokens"`           // Moonshot
	Hit     int64   `json:"prompt_cache_hit_tokens"` // DeepSeek
	Dollars float64 `json:"cost"`                    // OpenRouter, as it will be billed
}

// usage is what a chunk says was consumed; nil if it does not.
func (c chunk) usage() *event.Usage {
	all := []*usage{c.Usage, c.Groq.Usage}
	for _, ch := range c.Choices {
		all = append(all, ch.Usage)
	}
	for _, u := range all {
		if u != nil && u.Prompt+u.Completion > 0 {
			return &event.Usage{
				Input: u.Prompt, Cached: min(u.Prompt, max(u.In.Cached, u.Cached, u.Hit)),
				Output: u.Completion, Reasoning: min(u.Completion, u.Out.Reasoning),
				Cost: event.Money(u.Dollars*float64(event.Dollar) + 0.5),
			}
		}
	}
	return nil
}
