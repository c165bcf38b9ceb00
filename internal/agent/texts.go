package agent

import (
	"context"
	"fmt"

	"conclave/internal/backend"
	"conclave/internal/coord"
	"conclave/internal/event"
	"conclave/internal/prompt"
)

// Blobs keeps texts that are too large to travel in an event.
type Blobs interface {
	PutBlob(ctx context.Context, p []byte) (event.Hash, error)
	Blob(ctx context.Context, h event.Hash) ([]byte, error)
}

// texts is how a turn keeps and finds what is too long for an event, and keeps
// secrets out of both.
type texts struct {
	blobs  Blobs
	redact func(string) string // nil leaves everything as it is
}

// clean is text from outside without secrets.
func (x texts) clean(s string) string {
	if x.redact == nil {
		return s
	}
	return x.redact(s)
}

// text resolves content to what it says.
func (x texts) text(ctx context.Context, v event.Content) (string, error) {
	if v.Blob == "" {
		return v.Text, nil
	}
	p, err := x.blobs.Blob(ctx, v.Blob)
	if err != nil {
		return "", &storageError{fmt.Errorf("read a text: %w", err)}
	}
	return string(p), nil
}

// content makes a text fit for an event; what is large is durable first.
func (x texts) content(ctx context.Context, s string) (event.Content, error) {
	if len(s) <= event.InlineMax {
		return event.Inline(s), nil
	}
	h, err := x.keep(ctx, s)
	if err != nil {
		return event.Content{}, err
	}
	return event.Content{Blob: h, Size: len(s)}, nil
}

// keep makes a text durable.
func (x texts) keep(ctx context.Context, s string) (event.Hash, error) {
	h, err := x.blobs.PutBlob(ctx, []byte(s))
	if err != nil {
		return "", &storageError{fmt.Errorf("keep a text: %w", err)}
	}
	return h, nil
}

// pictures are kept pictures as the model is shown them.
func (x texts) pictures(ctx context.Context, media []event.Media) ([]backend.Image, error) {
	var out []backend.Image
	for _, m := range media {
		p, err := x.blobs.Blob(ctx, m.Blob)
		if err != nil {
			return nil, &storageError{fmt.Errorf("read a picture: %w", err)}
		}
		out = append(out, backend.Image{Type: m.Type, Data: p})
	}
	return out, nil
}

// messages are what people have said, as it is told.
func (x texts) messages(ctx context.Context, said []coord.Message) ([]string, error) {
	var out []string
	for _, m := range said {
		text, err := x.text(ctx, m.Text)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}

func (x texts) answers(ctx context.Context, shown []coord.Shown) ([]prompt.Answer, error) {
	var out []prompt.Answer
	for _, s := range shown {
		text, err := x.text(ctx, s.Content)
		if err != nil {
			return nil, err
		}
		out = append(out, prompt.Answer{Label: string(s.Label), Revision: s.Revision, Text: text, Own: s.Own})
	}
	return out, nil
}
