package agent

import (
	"context"
	"encoding/json"

	"conclave/internal/event"
)

// sentInline is the size up to which what was sent travels in each event.
const sentInline = 256

// sent is what of a turn's requests is not in the log anyway: the system prompt and
// the tools. It rarely changes, so it is kept once and named in each call.
type sent struct {
	system string
	tools  int
	kept   *event.Sent
}

// request is the system prompt and the tools of the call that was just made, as
// they are recorded.
func (t *turn) request(ctx context.Context) (*event.Sent, error) {
	// Within a turn tools are only ever added.
	if t.sent.kept != nil && t.sent.system == t.in.System && t.sent.tools == len(t.in.Tools) {
		return t.sent.kept, nil
	}
	var out event.Sent
	var err error
	if out.System, err = t.named(ctx, &t.agent.system, t.in.System); err != nil {
		return nil, err
	}
	if len(t.in.Tools) > 0 {
		tools, _ := json.Marshal(t.in.Tools) // nothing is lost but the sight of a schema that is none
		if out.Tools, err = t.named(ctx, &t.agent.offered, string(tools)); err != nil {
			return nil, err
		}
	}
	t.sent = sent{t.in.System, len(t.in.Tools), &out}
	return &out, nil
}

// named is a text that many events name, as they do: a blob, unless it is shorter
// than its name is worth. The last one is remembered from turn to turn: a blob costs
// a write to the disk even if it is there.
func (t *turn) named(ctx context.Context, last *namedText, s string) (event.Content, error) {
	if len(s) <= sentInline {
		return event.Inline(s), nil
	}
	if last.text == s {
		return last.content, nil
	}
	h, err := t.keep(ctx, s)
	if err != nil {
		return event.Content{}, err
	}
	*last = namedText{s, event.Content{Blob: h, Size: len(s)}}
	return last.content, nil
}

// A namedText is a text and how events name it.
type namedText struct {
	text    string
	content event.Content
}
