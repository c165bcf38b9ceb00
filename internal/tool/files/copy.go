package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"conclave/internal/confine"
	"conclave/internal/policy"
	"conclave/internal/tool"
)

type copyIn struct {
	From      string `json:"from" jsonschema_description:"The file or folder to copy."`
	To        string `json:"to" jsonschema_description:"The path of the copy, with its name."`
	Overwrite bool   `json:"overwrite,omitempty" jsonschema_description:"Replace files that are there."`
}

// aim is what is changed: the copy.
func (in copyIn) aim() string { return in.To }

func (in copyIn) also() []deed { return []deed{{policy.Read, in.From, false}} }

func (k *kit) copy(ctx context.Context, in copyIn) (tool.Result, error) {
	info, err := k.root.Stat(in.From)
	if errors.Is(err, fs.ErrNotExist) {
		return mistaken("There is no %s. Use list or glob to see what there is.", k.show(in.From))
	}
	if err != nil {
		return tool.Result{}, err
	}
	if info.IsDir() {
		return k.copyFolder(ctx, in)
	}
	if err := k.free(in.To, in.Overwrite); err != nil {
		return tool.Result{}, err
	}
	if err := k.root.Copy(in.From, in.To); err != nil {
		return tool.Result{}, err
	}
	k.seen.Add(k.target(in.To))
	return said("Copied %s to %s.", k.show(in.From), k.show(in.To))
}

// copyFolder copies file by file; each is judged by itself.
func (k *kit) copyFolder(ctx context.Context, in copyIn) (tool.Result, error) {
	from, to := k.target(in.From), k.target(in.To)
	if to == from || strings.HasPrefix(to, from+string(filepath.Separator)) {
		return mistaken("%s lies inside %s: the copy would copy itself. Choose another path.", k.show(in.To), k.show(in.From))
	}
	if _, err := k.root.Lstat(to); err == nil && !in.Overwrite {
		return mistaken("There is already something at %s. Choose another path, or set overwrite to put the files into it.", k.show(in.To))
	}
	if err := k.root.MkdirAll(to); err != nil {
		return tool.Result{}, err
	}
	copied, left, kept := 0, 0, 0
	err := k.root.Walk(ctx, from, func(e confine.Entry) error {
		rel, err := filepath.Rel(from, e.Path)
		if err != nil {
			return err
		}
		dst := filepath.Join(to, rel)
		switch {
		case e.Type.IsDir():
			return k.root.MkdirAll(dst)
		case !e.Type.IsRegular():
			left++
			return nil
		}
		if k.kept(deed{kind: policy.Read, path: e.Path}, deed{kind: policy.Write, path: dst}) != nil {
			kept++
			return nil
		}
		if err := k.root.Copy(e.Path, dst); err != nil {
			return err
		}
		copied++
		k.seen.Add(dst)
		return ctx.Err()
	})
	if err != nil {
		return mistaken("After %s it stopped: %s", count(copied, "file", "files"), k.why(err, in.From))
	}
	rest := ""
	if left > 0 {
		rest = fmt.Sprintf(" %s were not copied.", count(left, "link or special file", "links and special files"))
	}
	if kept > 0 {
		rest += fmt.Sprintf(" %s not copied: a rule is about them. Copy them by their names.", count(kept, "file was", "files were"))
	}
	return said("Copied %s with %s to %s.%s", k.show(in.From), count(copied, "file", "files"), k.show(in.To), rest)
}
