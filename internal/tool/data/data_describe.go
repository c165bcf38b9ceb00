package data

import (
	"context"

	"conclave/internal/tool"
)

type describeIn struct {
	Source string `json:"source" jsonschema_description:"The datasource."`
}

func (in describeIn) aim() (source, path string) { return in.Source, "" }

func (k *kit) describe(ctx context.Context, in describeIn) (tool.Result, error) {
	conn, err := k.set.Conn(ctx, in.Source)
	if err != nil {
		return failed(ctx, in.Source, err)
	}
	text, err := conn.Describe(ctx)
	if err != nil {
		return failed(ctx, in.Source, err)
	}
	return tool.Result{Text: text}, nil
}
