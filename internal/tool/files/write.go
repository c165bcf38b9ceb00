package files

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"conclave/internal/tool"
)

type writeIn struct {
	Path    string `json:"path" jsonschema_description:"The file to write."`
	Content string `json:"content" jsonschema_description:"All that is to be in the file."`
}

func (in writeIn) aim() string { return in.Path }

func (k *kit) write(_ context.Context, in writeIn) (tool.Result, error) {
	_, err := k.root.Stat(in.Path)
	fresh := errors.Is(err, fs.ErrNotExist)
	if err := k.root.WriteFile(in.Path, []byte(in.Content)); err != nil {
		return tool.Result{}, err
	}
	k.seen.Add(k.target(in.Path))
	what := "Replaced"
	if fresh {
		what = "Made"
	}
	lines := strings.Count(in.Content, "\n")
	if in.Content != "" && !strings.HasSuffix(in.Content, "\n") {
		lines++
	}
	return said("%s %s: %s, %s.", what, k.show(in.Path), count(lines, "line", "lines"), count(len(in.Content), "byte", "bytes"))
}
