package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"conclave/internal/event"
)

// Diff lists the files that differ between two snapshot directories, in the
// order of their paths, which are relative. An empty name is an empty directory.
// Files that two snapshots share are not read.
func Diff(ctx context.Context, a, b string) ([]event.Change, error) {
	tmp, err := os.MkdirTemp("", "conclave-diff-*")
	if err != nil {
		return nil, fmt.Errorf("compare snapshots: %w", err)
	}
	out, err := diff(ctx, a, b, tmp)
	if err = errors.Join(err, os.RemoveAll(tmp)); err != nil {
		return nil, fmt.Errorf("compare snapshots: %w", err)
	}
	return out, nil
}

// diff uses the folder tmp for the list of what is in a.
func diff(ctx context.Context, a, b, tmp string) ([]event.Change, error) {
	l, err := newList(tmp)
	if err != nil {
		return nil, err
	}
	err = each(ctx, a, func(f found) error { return l.add(f.entry) })
	name, err1 := l.end()
	if err := errors.Join(err, err1); err != nil {
		return nil, err
	}
	was, err := openList(name)
	if err != nil {
		return nil, err
	}
	defer was.close()
	var out []event.Change
	say := func(e entry, kind string) error {
		out = append(out, event.Change{Path: shown(e.path), Kind: kind})
		return nil
	}
	gone := func(e entry) error { return say(e, event.ChangeDeleted) }
	err = each(ctx, b, func(f found) error {
		old, ok, err := was.upTo(f.path, gone)
		if err != nil {
			return err
		}
		if !ok {
			return say(f.entry, event.ChangeNew)
		}
		if f.inode != 0 && f.inode == old.inode && f.kind == old.kind {
			return nil
		}
		same, err := sameContent(filepath.Join(a, f.path), f, old)
		if err != nil || same {
			return err
		}
		return say(f.entry, event.ChangeModified)
	})
	if err != nil {
		return nil, err
	}
	return out, was.rest(gone)
}

// each walks through a folder; an empty name is an empty one.
func each(ctx context.Context, dir string, do func(found) error) error {
	if dir == "" {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	w := walk{file: do}
	return errors.Join(w.run(ctx, root), root.Close())
}

// sameContent reports whether f has the content of the entry old, which is the
// file called name.
func sameContent(name string, f found, old entry) (bool, error) {
	if f.kind != old.kind || f.size != old.size {
		return false, nil
	}
	dir, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return false, err
	}
	defer dir.Close()
	other := found{entry: old, dir: dir, name: f.name, w: f.w}
	again := func() error { return nil }
	x, err1 := f.take(io.Discard, again)
	y, err2 := other.take(io.Discard, again)
	return x.sum == y.sum, errors.Join(err1, err2)
}
