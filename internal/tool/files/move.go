package files

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"conclave/internal/confine"
	"conclave/internal/policy"
	"conclave/internal/tool"
)

type moveIn struct {
	From      string `json:"from" jsonschema_description:"The file or folder to move."`
	To        string `json:"to" jsonschema_description:"Its new path, with its name."`
	Overwrite bool   `json:"overwrite,omitempty" jsonschema_description:"Replace a file that is there."`
}

func (in moveIn) aim() string { return in.From }

// also: under its new name it may be read where it could not be under the old one.
func (in moveIn) also() []deed {
	return []deed{{policy.Read, in.From, true}, {policy.Write, in.To, true}}
}

func (k *kit) move(ctx context.Context, in moveIn) (tool.Result, error) {
	from, to := k.name(in.From), k.name(in.To)
	if err := k.free(in.To, in.Overwrite); err != nil {
		return tool.Result{}, err
	}
	if err := k.movable(ctx, from, to); err != nil {
		return tool.Result{}, err
	}
	err := k.root.Rename(in.From, in.To)
	if errors.Is(err, syscall.EXDEV) {
		return k.carry(in)
	}
	if err != nil {
		return tool.Result{}, err
	}
	k.seen.moved(from, to)
	return said("Moved %s to %s.", k.show(in.From), k.show(in.To))
}

// movable refuses a folder that holds something a rule keeps where it is.
func (k *kit) movable(ctx context.Context, from, to string) error {
	if info, err := k.root.Lstat(from); !k.ruled() || err != nil || !info.IsDir() {
		return nil // the move itself says what is wrong
	}
	return k.root.Walk(ctx, from, func(e confine.Entry) error {
		if err := k.kept(deed{kind: policy.Delete, path: e.Path}, deed{kind: policy.Read, path: e.Path}); err != nil {
			return err
		}
		return k.kept(deed{kind: policy.Write, path: to + e.Path[len(from):]})
	})
}

// free reports whether a new path can be taken.
func (k *kit) free(path string, overwrite bool) error {
	info, err := k.root.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !overwrite:
		_, err := mistaken("There is already something at %s. Choose another path, or set overwrite to replace a file.", k.show(path))
		return err
	case info.IsDir():
		_, err := mistaken("%s is a folder. Name the new path in full.", k.show(path))
		return err
	}
	return nil
}

// carry moves a file to another file system.
func (k *kit) carry(in moveIn) (tool.Result, error) {
	info, err := k.root.Lstat(in.From)
	if err == nil && !info.Mode().IsRegular() {
		return mistaken("%s is on another file system than %s. Copy it there and delete it here.", k.show(in.To), k.show(in.From))
	}
	if err == nil {
		err = k.root.Copy(in.From, in.To)
	}
	if err == nil {
		err = k.root.Remove(in.From)
	}
	if err != nil {
		return tool.Result{}, err
	}
	k.seen.moved(k.name(in.From), k.name(in.To))
	return said("Moved %s to %s.", k.show(in.From), k.show(in.To))
}
