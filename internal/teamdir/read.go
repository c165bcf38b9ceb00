package teamdir

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"conclave/internal/event"
	"conclave/internal/git"
)

// at is the repository and the branch of a tree, for reading: that of a member, or
// without one the shared tree.
func (d *Dir) at(member event.AgentID) (git.Repo, tree, error) {
	t, err := d.tree(member)
	if err != nil {
		return git.Repo{}, t, &git.NotFound{What: "tree " + string(member), Of: "the team"}
	}
	return t.atCommon(), t, nil
}

// Files are those of a tree as it is committed; none if there is nothing yet.
func (d *Dir) Files(ctx context.Context, member event.AgentID) ([]git.File, error) {
	r, t, err := d.at(member)
	if err != nil || !there(t.common) {
		return nil, err
	}
	commit, err := r.Branch(ctx, t.branch)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return r.Files(ctx, commit)
}

// File is one of them.
func (d *Dir) File(ctx context.Context, member event.AgentID, name string) (git.File, []byte, error) {
	r, t, err := d.at(member)
	if err != nil {
		return git.File{}, nil, err
	}
	if !there(t.common) {
		return git.File{}, nil, r.Missing("file", name)
	}
	return r.File(ctx, name, t.branch)
}

// Diff is what a tree has become since it began.
func (d *Dir) Diff(ctx context.Context, member event.AgentID) ([]git.FileDiff, error) {
	r, from, to, err := d.ends(ctx, member)
	if err != nil || from == to {
		return nil, err
	}
	return r.Diff(ctx, from, to, "")
}

// Patch is the same as git apply takes it.
func (d *Dir) Patch(ctx context.Context, member event.AgentID) ([]byte, error) {
	r, from, to, err := d.ends(ctx, member)
	if err != nil || from == to {
		return nil, err
	}
	return r.Patch(ctx, from, to, "")
}

// ends are the commits a tree began with and has come to, both the same if nothing
// became of it.
func (d *Dir) ends(ctx context.Context, member event.AgentID) (r git.Repo, from, to string, err error) {
	r, t, err := d.at(member)
	if err != nil || !there(t.GitDir) {
		return r, "", "", err
	}
	to, err = r.Branch(ctx, t.branch)
	if errors.Is(err, fs.ErrNotExist) {
		return r, "", "", nil
	}
	if err != nil {
		return r, "", "", err
	}
	if from, err = t.began(); from == "" {
		from = to
	}
	return r, from, to, err
}

// Conflict is what stands in the way of a merge: each file with both sides marked, as
// far as it is a text that can be shown, at most limit bytes of all.
func (d *Dir) Conflict(ctx context.Context, member event.AgentID, limit int) (map[string]string, error) {
	shared, theirs, err := d.both(ctx, member)
	if err != nil {
		return nil, err
	}
	head, err := shared.head(ctx)
	if err != nil {
		return nil, err
	}
	from, err := theirs.head(ctx)
	if err != nil {
		return nil, err
	}
	m, err := shared.meet(ctx, head, from, names{mainBranch, theirs.branch})
	if err != nil {
		return nil, err
	}
	all, err := shared.List(ctx, m.tree)
	if err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	for _, s := range m.stages {
		wanted[s.path] = true
	}
	out := map[string]string{}
	for _, b := range all {
		if !wanted[b.Path] || b.Mode == git.LinkMode || b.Size > int64(limit) {
			continue
		}
		texts, err := shared.Blobs(ctx, []git.Blob{b})
		if err != nil {
			return nil, err
		}
		if limit -= len(texts[0]); limit < 0 {
			break
		}
		out[b.Path] = string(texts[0])
	}
	return out, nil
}

// Missing are those of some paths under which there is nothing in a tree, as it is on
// disk just now.
func (d *Dir) Missing(who event.AgentID, paths []string) []string {
	root, err := os.OpenRoot(d.Tree(who))
	if err != nil {
		return paths
	}
	defer root.Close()
	return slices.DeleteFunc(slices.Clone(paths), func(name string) bool {
		if rel, err := filepath.Rel(d.Tree(who), name); filepath.IsAbs(name) && err == nil {
			name = rel
		}
		_, err := root.Lstat(filepath.Clean(name))
		return err == nil
	})
}
