package openai

import (
	"encoding/json"
	"strings"

	"conclave/internal/event"
)

// An item is one entry of a reply's output, as far as it is looked into. What is
// sent back is the entry as it came.
type item struct {
	Type   string `json:"type"`
	ID     string `json:"id"`
	Status string `json:"status"`

	// A function call, and the calls of the provider's own tools.
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Input     string `json:"input"`
	Code      string `json:"code"`
	Action    struct {
		Query   string   `json:"query"`
		Queries []string `json:"queries"`
		URL     string   `json:"url"`
		Pattern string   `json:"pattern"`
	} `json:"action"`
	Outputs []struct {
		Logs string `json:"logs"`
		URL  string `json:"url"`
	} `json:"outputs"`
	Output json.RawMessage `json:"output"`

	Content   json.RawMessage `json:"content"`
	Encrypted string          `json:"encrypted_content"`
}

func itemOf(raw json.RawMessage) item {
	var i item
	_ = json.Unmarshal(raw, &i) // a field of another type is left out
	return i
}

// step is a call of one of the provider's own tools, as it is shown.
func (i item) step() (event.Step, bool) {
	tool, ok := strings.CutSuffix(i.Type, "_call")
	if !ok || i.Type == "function_call" {
		return event.Step{}, false
	}
	if i.Name != "" {
		tool = i.Name // Grok: which of its searches of X it was
	}
	s := event.Step{ID: i.ID, Name: tool, Error: i.Status == "failed" || i.Status == "incomplete"}
	for _, in := range []string{i.Action.Query, strings.Join(i.Action.Queries, "; "), i.Code, i.Action.URL, i.Arguments, i.Input} {
		if in != "" {
			s.Input = in
			break
		}
	}
	if i.Action.Pattern != "" {
		s.Input = strings.TrimSpace(i.Action.Pattern + " in " + i.Action.URL)
	}
	var results []string
	for _, o := range i.Outputs {
		results = append(results, o.Logs+o.URL)
	}
	var plain string
	if json.Unmarshal(i.Output, &plain) == nil && plain != "" {
		results = append(results, plain)
	}
	s.Result = strings.Join(results, "\n")
	return s, true
}

// searched reports whether an item is a search of the web or of X. Looking at a
// page that was found is none.
func (i item) searched() bool {
	return i.Type == "web_search_call" && i.Action.Query+strings.Join(i.Action.Queries, "") != "" ||
		strings.HasPrefix(i.Type, "x_search") || i.Type == "custom_tool_call" && strings.HasPrefix(i.Name, "x_")
}

// lasting reports whether an item means anything when it is sent back. Reasoning
// that is kept on neither side is but a name nobody knows, and is refused.
func (i item) lasting() bool {
	return i.Type != "" && (i.Type != "reasoning" || i.Encrypted != "" || len(i.Content) > 0 && string(i.Content) != "null" && string(i.Content) != "[]")
}

// nameless is an item without its id. An item with one belongs to the reasoning
// that led to it and is refused without.
func nameless(raw json.RawMessage) json.RawMessage {
	var o map[string]json.RawMessage
	if json.Unmarshal(raw, &o) != nil {
		return raw
	}
	delete(o, "id")
	out, err := json.Marshal(o)
	if err != nil {
		return raw
	}
	return out
}

// kept are the items of a native reply; none if it is not one of ours. Reasoning
// after which nothing was said is refused, and left out.
func kept(native []byte) []json.RawMessage {
	var all []json.RawMessage
	if json.Unmarshal(native, &all) != nil {
		return nil
	}
	for _, raw := range all {
		if itemOf(raw).Type == "" {
			return nil
		}
	}
	for len(all) > 0 && itemOf(all[len(all)-1]).Type == "reasoning" {
		all = all[:len(all)-1]
	}
	return all
}
