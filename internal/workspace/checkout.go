package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"conclave/internal/event"
)

// A draft is a checkout in the making, under a temporary name beside the others.
type draft struct {
	filler
	dir string
}

func (t *Tree) newDraft() (*draft, error) {
	dir, err := os.MkdirTemp(filepath.Join(t.run.dir, snapshotsDir), temporary+string(t.label)+"-*")
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(dir))
	}
	return &draft{filler{root: root, frozen: true}, dir}, nil
}

// close removes the draft, unless it became a checkout.
func (d *draft) close() error {
	return errors.Join(d.filler.close(), d.root.Close(), removeAll(d.dir))
}

func (d *draft) remove(p string) error {
	dir, err := d.folder(path.Dir(p))
	if err != nil {
		return err
	}
	return dir.Remove(path.Base(p))
}

// share completes the draft with the files of another checkout that did not
// change. Both belong to us and neither is ever written to, so they may be the
// same files.
func (d *draft) share(ctx context.Context, from, list, changes string) error {
	all, err := openList(list)
	if err != nil {
		return err
	}
	defer all.close()
	changed, err := openList(changes)
	if err != nil {
		return err
	}
	defer changed.close()
	last := "."
	return all.rest(func(e entry) error {
		_, here, err := changed.upTo(e.path, func(entry) error { return nil })
		if err != nil || here || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if dir := path.Dir(e.path); dir != last {
			if err := d.root.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			last = dir
		}
		err = shareFile(filepath.Join(from, e.path), filepath.Join(d.dir, e.path), e.kind)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%q: %w", e.path, errBase)
		}
		return err
	})
}

func shareFile(from, to string, k kind) error {
	if k == symlink {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	err := os.Link(from, to)
	if errors.Is(err, syscall.EMLINK) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EPERM) {
		return copyFile(from, to, k)
	}
	return err
}

// copyFile is for file systems that have no links, or no more of them.
func copyFile(from, to string, k kind) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fs.FileMode(k)&0o555)
	if err != nil {
		return err
	}
	_, err = out.ReadFrom(in)
	return errors.Join(err, out.Sync(), out.Close())
}

// checkout is the directory of one of the tree's snapshots.
func (t *Tree) checkout(id string) string { return t.run.Checkout(t.label, id) }

// settle gives a complete draft the name of its snapshot, in place of whatever
// incomplete is there.
func (t *Tree) settle(ctx context.Context, id string, d *draft) error {
	if ok, err := t.whole(ctx, id); ok || err != nil {
		return err // the same content, from before
	}
	to := t.checkout(id)
	if err := t.unique(id); err != nil {
		return err
	}
	if _, err := os.Lstat(to); err == nil {
		if err := t.discard(to); err != nil {
			return err
		}
	}
	if err := os.Rename(d.dir, to); err != nil {
		return err
	}
	if err := syncDir(filepath.Dir(to)); err != nil {
		return err
	}
	t.run.known(to, true)
	return nil
}

// unique refuses a snapshot whose directory would have the name of another's.
// That does not happen by chance.
func (t *Tree) unique(id string) error {
	names, err := filepath.Glob(t.listName(id[:12] + "*"))
	if err != nil {
		return err
	}
	for _, n := range names {
		if n != t.listName(id) {
			return fmt.Errorf("its short name %s belongs to another snapshot; change any file and try again", id[:12])
		}
	}
	return nil
}

// discard takes a checkout out of sight and removes it.
func (t *Tree) discard(dir string) error {
	t.run.known(dir, false)
	away, err := os.MkdirTemp(filepath.Dir(dir), temporary+string(t.label)+"-*")
	if err != nil {
		return err
	}
	if err := os.Rename(dir, filepath.Join(away, "torn")); err != nil {
		return err
	}
	return removeAll(away)
}

func (r *Run) known(dir string, whole bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.intact[dir] = whole
}

func (r *Run) isKnown(dir string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.intact[dir]
}

// there reports whether a checkout is in its place, and known to be whole.
func (r *Run) there(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir() && r.isKnown(dir)
}

// whole reports whether the checkout of a snapshot is there with all its files.
// It looks once at every file of a checkout that this process did not make.
func (t *Tree) whole(ctx context.Context, id string) (bool, error) {
	dir := t.checkout(id)
	l, err := t.openList(id)
	if err != nil {
		return false, nil // it cannot be told
	}
	defer l.close()
	if t.run.there(dir) {
		return true, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false, nil
	}
	defer root.Close()
	torn := errors.New("torn")
	missing := func(entry) error { return torn }
	w := walk{file: func(f found) error {
		want, ok, err := l.upTo(f.path, missing)
		if err == nil && (!ok || want.kind != f.kind || want.size != f.size) {
			err = torn
		}
		return err
	}}
	err = w.run(ctx, root)
	if err == nil {
		err = l.rest(missing)
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err == nil {
		t.run.known(dir, true)
	}
	return err == nil, nil
}

// Ensure makes sure that the checkout of a snapshot is there and whole, and
// returns its directory. One that is missing or torn is made again from git.
func (r *Run) Ensure(ctx context.Context, label event.Label, id string) (dir string, err error) {
	dir = r.Checkout(label, id)
	if dir == "" {
		return "", fmt.Errorf("find a snapshot: %.80q is not the id of a snapshot of %.40q", id, label)
	}
	t, err := r.tree(label)
	if err != nil {
		return "", err
	}
	if r.there(dir) {
		// The short name may belong to another snapshot; its list tells.
		if _, err := os.Lstat(t.listName(id)); err == nil {
			return dir, nil
		}
	}
	done, err := t.begin(ctx)
	if err != nil {
		return "", fmt.Errorf("find snapshot %s of %s: %w", id[:12], label, err)
	}
	if err := errors.Join(t.ensure(ctx, id), done()); err != nil {
		return "", fmt.Errorf("find snapshot %s of %s: %w", id[:12], label, err)
	}
	return dir, nil
}

func (t *Tree) ensure(ctx context.Context, id string) error {
	if ok, err := t.whole(ctx, id); ok || err != nil {
		return err
	}
	// The files may all be there, and the list of them not.
	if err := t.survey(ctx, t.checkout(id), id); err == nil || ctx.Err() != nil {
		return err
	}
	if err := t.guard(); err != nil {
		return err
	}
	d, err := t.newDraft()
	if err != nil {
		return err
	}
	defer d.close()
	if err := t.restore(ctx, id, &d.filler); err != nil {
		return err
	}
	if err := flush(d.dir); err != nil {
		return err
	}
	t.run.step("restored")
	if err := t.survey(ctx, d.dir, id); err != nil {
		return err
	}
	t.run.known(t.checkout(id), false)
	return t.settle(ctx, id, d)
}

// survey reads every file of a folder; if together they are the snapshot id, it
// writes the list of it.
func (t *Tree) survey(ctx context.Context, dir, id string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	l, err := newList(t.state)
	if err != nil {
		return err
	}
	defer l.drop()
	var h treeHash
	w := walk{file: func(f found) error {
		e, err := f.take(io.Discard, func() error { return nil })
		if err != nil {
			return err
		}
		e.settled = false // the files of the workspace are others
		h.add(e)
		return l.add(e)
	}}
	if err := w.run(ctx, root); err != nil {
		return err
	}
	name, err := l.end()
	if err != nil {
		return err
	}
	if h.sum().String() != id {
		return errOther
	}
	return os.Rename(name, t.listName(id))
}
