package jobdir

import (
	"context"

	"conclave/internal/git"
)

// LongestFile is the most that is read of one file.
const LongestFile = git.LongestFile

// A Line is a line in which something was found.
type Line = git.Line

// Files are those of a commit, by their paths.
func (d Dir) Files(ctx context.Context, at string) ([]File, error) {
	commit, err := d.Resolve(ctx, at)
	if err != nil {
		return nil, err
	}
	all, err := d.repo().List(ctx, commit)
	var out []File
	for _, b := range all {
		out = append(out, File{Path: b.Path, Size: b.Size, Edit: Editable(b.Path) && b.Mode != git.LinkMode && b.Size <= mostSize, Commit: commit})
	}
	return out, err
}

// File is a file as it was at a commit. A link is none: where it leads is not
// part of the workspace.
func (d Dir) File(ctx context.Context, name, at string) (File, []byte, error) {
	if _, err := d.repo().Clean(name); err != nil {
		return File{}, nil, err
	}
	commit, err := d.Resolve(ctx, at)
	if err != nil {
		return File{}, nil, err
	}
	f, text, err := d.repo().File(ctx, name, commit)
	f.Edit = err == nil && Editable(f.Path) && f.Size <= mostSize
	return f, text, err
}

// Log are the newest commits.
func (d Dir) Log(ctx context.Context, limit int) ([]Commit, error) { return d.repo().Log(ctx, limit) }

// Find looks for words in the texts of a commit, as they are written but for
// capitals, at most limit lines.
func (d Dir) Find(ctx context.Context, words, at string, limit int) ([]Line, error) {
	commit, err := d.Resolve(ctx, at)
	if err != nil {
		return nil, err
	}
	return d.repo().Find(ctx, words, commit, limit)
}
