package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"conclave/internal/event"
	"conclave/internal/workspace"
)

// grow writes n small files in folders of a hundred.
func grow(dir string, n int) error {
	for i := range n {
		sub := filepath.Join(dir, fmt.Sprintf("d%03d", i/100))
		if i%100 == 0 {
			if err := os.MkdirAll(sub, 0o755); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("f%02d.txt", i%100)), fmt.Appendf(nil, "file %d\n", i), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// snapshots measures keeping a workspace of 10,000 files of which one changed.
// The floor is what a second tree of the same files costs: looking at each of
// them and linking it.
func snapshots(ctx context.Context, dir string) ([]row, error) {
	const n = 10_000
	run, err := workspace.Open(filepath.Join(dir, "run"))
	if err != nil {
		return nil, err
	}
	tree, err := run.Tree(ctx, "agent1")
	if err != nil {
		return nil, err
	}
	if err := grow(tree.Dir(), n); err != nil {
		return nil, err
	}
	if _, err := tree.Snapshot(ctx, "first"); err != nil {
		return nil, err
	}
	i := 0
	link := func() error {
		i++
		return linkAll(tree.Dir(), filepath.Join(dir, fmt.Sprint("links", i)))
	}
	keep := func() error {
		i++
		if err := os.WriteFile(filepath.Join(tree.Dir(), "d042", "f42.txt"), fmt.Appendf(nil, "change %d\n", i), 0o644); err != nil {
			return err
		}
		_, err := tree.Snapshot(ctx, "again")
		return err
	}
	f, o, err := paired(7, link, keep)
	if err != nil {
		return nil, err
	}
	peers, err := peersRead(ctx, filepath.Join(dir, "peers"))
	return append([]row{against("snapshot of 10,000 files, one changed", "lstat and link each", f, o, 4)}, peers...), err
}

func linkAll(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(from, path)
		switch {
		case err != nil:
			return err
		case d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		if _, err := d.Info(); err != nil {
			return err
		}
		return os.Link(path, filepath.Join(to, rel))
	})
}

// peersRead has seven agents with 1,000 files each brought the newest snapshots
// of the six others. The floor is one look at each of the 42 folders.
func peersRead(ctx context.Context, dir string) ([]row, error) {
	run, err := workspace.Open(dir)
	if err != nil {
		return nil, err
	}
	ids := map[event.Label]string{}
	for i := range 7 {
		l := event.Label(fmt.Sprintf("agent%d", i+1))
		tree, err := run.Tree(ctx, l)
		if err != nil {
			return nil, err
		}
		if err := grow(tree.Dir(), 1000); err != nil {
			return nil, err
		}
		if ids[l], err = tree.Snapshot(ctx, "first"); err != nil {
			return nil, err
		}
	}
	each := func(do func(event.Label, string) error) func() error {
		return func() error {
			for reader := range ids {
				for author, id := range ids {
					if reader == author {
						continue
					}
					if err := do(author, id); err != nil {
						return err
					}
				}
			}
			return nil
		}
	}
	f, o, err := paired(51,
		each(func(l event.Label, id string) error { _, err := os.Stat(run.Checkout(l, id)); return err }),
		each(func(l event.Label, id string) error { _, err := run.Ensure(ctx, l, id); return err }))
	if err != nil {
		return nil, err
	}
	return []row{against("seven agents brought each other's snapshots", "42 × stat", f, o, 10)}, nil
}
