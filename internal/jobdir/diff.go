package jobdir

import (
	"context"

	"conclave/internal/git"
)

// How files differ.
type (
	FileDiff = git.FileDiff
	Hunk     = git.Hunk
	DiffLine = git.DiffLine
)

// Diff is what changed between two commits, in one file or folder, or with an
// empty path in everything. Without from it is what the commit to itself changed.
func (d Dir) Diff(ctx context.Context, from, to, name string) ([]FileDiff, error) {
	from, to, err := d.ends(ctx, from, to)
	if err != nil {
		return nil, err
	}
	return d.repo().Diff(ctx, from, to, name)
}

// Patch is the same as git apply takes it.
func (d Dir) Patch(ctx context.Context, from, to, name string) ([]byte, error) {
	from, to, err := d.ends(ctx, from, to)
	if err != nil {
		return nil, err
	}
	return d.repo().Patch(ctx, from, to, name)
}

// ends are two commits that somebody has named; from may be empty.
func (d Dir) ends(ctx context.Context, from, to string) (string, string, error) {
	to, err := d.Resolve(ctx, to)
	if err == nil && from != "" {
		from, err = d.Resolve(ctx, from)
	}
	return from, to, err
}

// Hunks are the parts in which two texts differ, and whether there are more.
func Hunks(old, now string) (out []Hunk, more bool) { return git.Hunks(old, now) }
