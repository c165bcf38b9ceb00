package agent

import (
	"context"
	"encoding/json"
	"fmt"

	"conclave/internal/event"
)

// sentInline is the size up to which what was sent travels in each event.
const sentInline = 256

// sent is what of a request is not in the log anyway: the system prompt and the
// tools. It rarely changes within a turn, so it is kept once and named in each call.
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
	if out.System, err = t.named(ctx, t.in.System); err != nil {
		return nil, err
	}
	if len(t.in.Tools) > 0 {
		tools, _ := json.Marshal(t.in.Tools) // nothing is lost but the sight of a schema that is none
		if out.Tools, err = t.named(ctx, string(tools)); err != nil {
			return nil, err
		}
	}
	t.sent = sent{t.in.System, len(t.in.Tools), &out}
	return &out, nil
}

// named is a text as one that many events name: a blob, unless it is shorter than
// its name is worth.
func (t *turn) named(ctx context.Context, s string) (event.Content, error) {
	if len(s) <= sentInline {
		return event.Inline(s), nil
	}
	h, err := t.blobs.PutBlob(ctx, []byte(s))
	if err != nil {
		return event.Content{}, &storageError{fmt.Errorf("keep a text: %w", err)}
	}
	return event.Content{Blob: h, Size: len(s)}, nil
}
