package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"conclave/internal/event"
	"conclave/internal/tool"
)

// What the model is shown of a long result at once: its beginning and its end.
const (
	excerptHead = 24 << 10
	excerptTail = 6 << 10
	readOnMax   = 24 << 10 // less, so that it is never cut itself
)

// toolReadResult lets the model read on in a long result.
const toolReadResult = "read_result"

// excerpt is what the model is shown of a result at first. The whole of it is in
// the log.
func (t *turn) excerpt(c event.ToolCall, text string, kept event.Content) string {
	if len(text) <= excerptHead+excerptTail+1024 {
		return text
	}
	if t.long == nil {
		t.long = map[string]event.Content{}
	}
	if t.tools[toolReadResult] == nil {
		t.bind(readResult{t})
	}
	t.long[c.ID] = kept
	head, tail := cutEnd(text, excerptHead), cutStart(text, excerptTail)
	left := len(text) - len(head) - len(tail)
	return fmt.Sprintf("%s\n\n[… %d of %d bytes are left out here. To read on call %s with call %q and offset %d …]\n\n%s",
		head, left, len(text), toolReadResult, c.ID, len(head), tail)
}

// cutEnd is the first n bytes of s up to the end of a line, or of a character.
func cutEnd(s string, n int) string {
	s = s[:n]
	if i := strings.LastIndexByte(s, '\n'); i > n/2 {
		return s[:i]
	}
	for i := len(s) - 1; i >= 0 && i > len(s)-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			if !utf8.FullRuneInString(s[i:]) {
				return s[:i]
			}
			break
		}
	}
	return s
}

// cutStart is the last n bytes of s from the beginning of a line, or of a
// character.
func cutStart(s string, n int) string {
	s = s[len(s)-n:]
	if i := strings.IndexByte(s, '\n'); i >= 0 && i < n/2 {
		return s[i+1:]
	}
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return s
}

// readResult is the tool that reads on. It is bound once there is something to
// read on in; for a backend that runs its own loop, which hears of no tool later
// than at its beginning, with the others.
type readResult struct{ t *turn }

func (readResult) Name() string { return toolReadResult }
func (readResult) Description() string {
	return "Read on in a tool result that was too long to be shown whole."
}
func (readResult) Tier() tool.Tier { return tool.Read }
func (readResult) Schema() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{"call":{"type":"string","description":"The id of the call whose result it is, as the excerpt names it."},"offset":{"type":"integer","minimum":0,"description":"Where to go on, in bytes from the beginning."}},"required":["call","offset"],"additionalProperties":false}`)
}

func (r readResult) Run(ctx context.Context, input json.RawMessage) (tool.Result, error) {
	var in struct {
		Call   string
		Offset int
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return tool.Failed("The input must be {\"call\": \"…\", \"offset\": 0}."), nil
	}
	kept, ok := r.t.long[in.Call]
	if !ok {
		return tool.Failed(fmt.Sprintf("There is no long result of a call %q.", in.Call)), nil
	}
	text, err := r.t.text(ctx, kept)
	switch {
	case err != nil:
		return tool.Result{}, err
	case in.Offset < 0 || in.Offset >= len(text):
		return tool.Failed(fmt.Sprintf("The result has %d bytes; there is nothing at %d.", len(text), in.Offset)), nil
	}
	rest := text[in.Offset:]
	for len(rest) > 0 && !utf8.RuneStart(rest[0]) {
		rest = rest[1:]
	}
	if len(rest) <= readOnMax {
		return tool.Result{Text: rest + "\n\n[the end]"}, nil
	}
	part := cutEnd(rest, readOnMax)
	at := len(text) - len(rest) + len(part)
	return tool.Result{Text: fmt.Sprintf("%s\n\n[up to byte %d of %d; go on with offset %d]", part, at, len(text), at)}, nil
}
