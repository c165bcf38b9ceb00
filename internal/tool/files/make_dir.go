package files

import (
	"context"

	"conclave/internal/tool"
)

type makeDirIn struct {
	Path string `json:"path" jsonschema_description:"The folder to make."`
}

func (in makeDirIn) aim() string { return in.Path }

func (k *kit) makeDir(_ context.Context, in makeDirIn) (tool.Result, error) {
	if err := k.root.MkdirAll(in.Path); err != nil {
		return tool.Result{}, err
	}
	return said("The folder %s is there.", k.show(in.Path))
}
