package files

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"conclave/internal/policy"
	"conclave/internal/tool"
)

type moveIn struct {
	From      string `json:"from" jsonschema_description:"The file or folder to move."`
	To        string `json:"to" jsonschema_description:"Its new path, with its name."`
	Overwrite bool   `json:"overwrite,omitempty" jsonschema_description:"Replace a file that is there."`
}

func (in moveIn) aim() string { return in.From }

func (in moveIn) also() (policy.Kind, string) { return policy.Write, in.To }

func (k *kit) move(_ context.Context, in moveIn) (tool.Result, error) {
	from, to := k.name(in.From), k.name(in.To)
	if err := k.free(in.To, in.Overwrite); err != nil {
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
