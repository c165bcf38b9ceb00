package web

import (
	"context"
	"encoding/json"
	"strings"

	"conclave/internal/event"
)

// A card is something a companion proposes: nothing happens until the person takes
// it up.
type card struct {
	Kind     string `json:"kind"`     // feedback, edit or outline
	Proposal string `json:"proposal"` // the tool call
	Text     string `json:"text,omitempty"`
	// Of an edit: the file as it is now by its hash, all of it as it would be, and
	// what changes. Gone: what it would replace is not there any more.
	Path string     `json:"path,omitempty"`
	Why  string     `json:"why,omitempty"`
	Base event.Hash `json:"base,omitempty"`
	New  string     `json:"new,omitempty"`
	Diff *diff      `json:"diff,omitempty"`
	Gone bool       `json:"gone,omitempty"`
	// Of a job that is not there yet.
	Title        string `json:"title,omitempty"`
	Description  string `json:"description,omitempty"`
	Instructions string `json:"instructions,omitempty"`
}

// kindsOfCards are the tools of companions whose calls are shown as cards.
var kindsOfCards = map[string]string{"draft_feedback": "feedback", "propose_edit": "edit", "update_instructions": "outline"}

// A dealer makes a card of a tool call, nil if it is none.
type dealer func(tool, call, input string) *card

// dealer makes the cards of the companion of a job. Files are read once for all.
func (s *Server) dealer(ctx context.Context, job event.FlowID) dealer {
	type content struct {
		hash event.Hash
		text string
		ok   bool
	}
	files := map[string]content{}
	read := func(path string) content {
		c, ok := files[path]
		if !ok && job != "" {
			if f, text, err := s.Control.JobFile(ctx, job, path, ""); err == nil && len(text) <= mostMarkdown {
				c = content{f.Hash, string(text), true}
			}
			files[path] = c
		}
		return c
	}
	return func(tool, call, input string) *card {
		kind, ok := kindsOfCards[tool]
		var in struct{ Text, Path, Old, New, Why, Title, Description, Instructions string }
		if !ok || json.Unmarshal([]byte(input), &in) != nil {
			return nil
		}
		out := &card{
			Kind: kind, Proposal: call, Text: in.Text, Path: in.Path, Why: in.Why,
			Title: in.Title, Description: in.Description, Instructions: in.Instructions,
		}
		if kind != "edit" {
			return out
		}
		f := read(in.Path)
		now, fits := replaced(f.text, in.Old, in.New)
		if !f.ok || !fits {
			out.Gone, out.Diff = true, compare(in.Path, in.Old, in.New)
			return out
		}
		out.Base, out.New, out.Diff = f.hash, now, compare(in.Path, f.text, now)
		return out
	}
}

// replaced is a text with a passage that is there once replaced; without one the
// new is put at the end.
func replaced(text, old, now string) (string, bool) {
	if old == "" {
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		return text + now, true
	}
	if strings.Count(text, old) != 1 {
		return "", false
	}
	return strings.Replace(text, old, now, 1), true
}
