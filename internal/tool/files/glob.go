package files

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"conclave/internal/confine"
	"conclave/internal/tool"

	"github.com/bmatcuk/doublestar/v4"
)

type globIn struct {
	Pattern string `json:"pattern" jsonschema_description:"A pattern for paths, such as **/*.go."`
	Path    string `json:"path,omitempty" jsonschema_description:"The folder to look in; your workspace if not given."`
	Limit   int    `json:"limit,omitempty" jsonschema_description:"How many files to show; 200 if not given, 2000 at most."`
}

func (in globIn) aim() string {
	if filepath.IsAbs(in.Pattern) && in.Path == "" {
		base, _ := doublestar.SplitPattern(filepath.ToSlash(in.Pattern))
		return filepath.FromSlash(base)
	}
	return orHere(in.Path)
}

// passedOver are folders that hold what others made, in great numbers.
var passedOver = []string{".git", "node_modules", "__pycache__", ".venv", "venv", ".cache", ".pytest_cache", ".mypy_cache", ".ruff_cache"}

// passOver reports whether a folder is to be passed over: unless it was named.
func passOver(e confine.Entry, named string) bool {
	name := filepath.Base(e.Path)
	return e.Type.IsDir() && slices.Contains(passedOver, name) && !slices.Contains(strings.Split(filepath.ToSlash(named), "/"), name)
}

func (k *kit) glob(ctx context.Context, in globIn) (tool.Result, error) {
	pattern := filepath.ToSlash(in.Pattern)
	if filepath.IsAbs(in.Pattern) && in.Path == "" {
		_, pattern = doublestar.SplitPattern(pattern)
	}
	pattern = strings.TrimPrefix(pattern, "./")
	switch {
	case pattern == "" || !doublestar.ValidatePattern(pattern):
		return mistaken("The pattern %q is not one. Use *, **, ?, [a-z] and {a,b}.", in.Pattern)
	case strings.HasPrefix(pattern, "/") || slices.Contains(strings.Split(pattern, "/"), ".."):
		return mistaken("The pattern %q leaves the folder it is looked for in. Name the folder with path.", in.Pattern)
	}
	base, err := k.root.Real(in.aim())
	if err != nil {
		return tool.Result{}, err
	}
	found := least[entry]{keep: bounded(in.Limit, 200, 2000), less: byPath}
	err = k.root.Walk(ctx, in.aim(), func(e confine.Entry) error {
		if passOver(e, in.Pattern+"/"+in.Path) {
			return fs.SkipDir
		}
		rel, err := filepath.Rel(base, e.Path)
		if err == nil && !e.Type.IsDir() && doublestar.MatchUnvalidated(pattern, filepath.ToSlash(rel)) {
			found.add(entry{path: e.Path, text: k.show(e.Path)})
		}
		return nil
	})
	if err != nil {
		return tool.Result{}, err
	}
	if found.total == 0 {
		return said("No file matches %s in %s.", in.Pattern, k.show(in.aim()))
	}
	return listed(&found, "file", "files")
}
