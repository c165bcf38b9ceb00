package acp

import (
	"slices"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"conclave/internal/backend"
	"conclave/internal/backend/cli"
	"conclave/internal/backend/rpc"
)

// said is the mark of whatever a program was told: the protocol has none that would
// be found again.
const said = "said"

// A replay is what a program tells of a session while it loads it.
type replay struct {
	words   []string // of the user's, as they came
	runs    []string // the same, with those put together that follow each other
	message string   // the user's message that is being told
	going   bool     // it is
	spoke   bool     // it has told anything
	calls   map[sdk.ToolCallId]call
}

// hear takes in one piece.
func (r *replay) hear(m rpc.Message, p piece) {
	r.spoke = r.spoke || strings.HasSuffix(p.Kind, "_chunk") || strings.HasPrefix(p.Kind, "tool_call")
	switch p.Kind {
	case "user_message_chunk":
		text := p.words()
		r.words = append(r.words, strings.TrimSpace(text))
		if !r.going || p.Message != r.message {
			r.runs = append(r.runs, "")
		}
		r.going, r.message = true, p.Message
		r.runs[len(r.runs)-1] += text
		return
	case "tool_call", "tool_call_update":
		if u, ok := tool(m); ok {
			r.calls[u.ToolCallId] = r.calls[u.ToolCallId].with(u)
		}
	}
	r.going = false
}

// recall is what is remembered of a session, without what the program does not know.
// If it tells nothing at all, there is nothing in it, as after a death before the first
// words were kept: then another is begun. If it only tells nothing of its user, nobody
// can say.
func (r *replay) recall(t cli.Thread, messages []backend.Message) cli.Thread {
	switch say, next := t.Next(messages); {
	case say.Text == next.Told: // it is told all that is new in any case
		return t
	case !r.spoke:
		return cli.Thread{}
	case len(r.words) == 0:
		return t
	}
	if !r.heard(t.Saying, messages) {
		t = t.Untold()
	}
	t.News = slices.DeleteFunc(slices.Clone(t.News), func(n cli.News) bool {
		return !r.heard(n.Text, messages) && !r.returned(n.Text)
	})
	return t
}

// heard reports whether the program tells of some words as often as they were said.
func (r *replay) heard(text string, messages []backend.Message) bool {
	text = strings.TrimSpace(text)
	said := 0
	for _, m := range messages {
		if m.From == backend.User && strings.TrimSpace(m.Text) == text {
			said++
		}
	}
	return max(count(r.words, text), count(r.runs, text)) >= max(1, said)
}

// count is how many of the user's words are these. The first of a session have what is
// told at its beginning before them.
func count(all []string, text string) (n int) {
	for _, s := range all {
		if s = strings.TrimSpace(s); s == text || strings.HasSuffix(s, "\n\n"+text) {
			n++
		}
	}
	return n
}

// returned reports whether some words came with what a tool returned.
func (r *replay) returned(text string) bool {
	for _, c := range r.calls {
		if strings.Contains(c.words(), text) || within(c.output, text) {
			return true
		}
	}
	return false
}

// within reports whether some words are in a text that is somewhere in a value.
func within(v any, text string) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, text)
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return within(e, text) })
	case map[string]any:
		for _, e := range v {
			if within(e, text) {
				return true
			}
		}
	}
	return false
}
