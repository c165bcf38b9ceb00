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
	to, err := d.Resolve(ctx, to)
	if err != nil {
		return nil, err
	}
	if from != "" {
		if from, err = d.Resolve(ctx, from); err != nil {
			return nil, err
		}
	}
	return d.repo().Diff(ctx, from, to, name)
}

// Hunks are the parts in which two texts differ, and whether there are more.
func Hunks(old, now string) (out []Hunk, more bool) { return git.Hunks(old, now) }
