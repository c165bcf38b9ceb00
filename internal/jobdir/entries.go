package jobdir

import (
	"context"

	"conclave/internal/git"
)

// An Entry is a file of a commit without its content.
type Entry struct {
	Path string
	// Blob names its content: two entries of one workspace with the same have the
	// same content.
	Blob string
	Size int64
	// Link: it is a symbolic link. Where that leads is not part of the workspace.
	Link bool
}

// Entries are the files of a commit, which is given back by its full name.
func (d Dir) Entries(ctx context.Context, at string) (commit string, all []Entry, err error) {
	if commit, err = d.Resolve(ctx, at); err != nil {
		return "", nil, err
	}
	list, err := d.repo().List(ctx, commit)
	for _, b := range list {
		all = append(all, Entry{Path: b.Path, Blob: b.ID, Size: b.Size, Link: b.Mode == git.LinkMode})
	}
	return commit, all, err
}

// Read gives the contents of entries, with one process.
func (d Dir) Read(ctx context.Context, entries []Entry) ([][]byte, error) {
	var list []git.Blob
	for _, e := range entries {
		list = append(list, git.Blob{ID: e.Blob, Path: e.Path, Size: e.Size})
	}
	return d.repo().Blobs(ctx, list)
}
