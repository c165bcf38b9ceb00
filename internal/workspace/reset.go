package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Reset puts the workspace back to a snapshot of its own; an empty id is an
// empty workspace. Whatever else is in it is removed, also what snapshots leave
// out. A Reset that was cut off is completed by another one.
func (t *Tree) Reset(ctx context.Context, id string) (err error) {
	if id != "" && !validID(id) {
		return fmt.Errorf("reset %s: %.80q is not the id of a snapshot", t.label, id)
	}
	done, err := t.begin(ctx)
	if err == nil {
		err = errors.Join(t.reset(ctx, id), done())
	}
	if err != nil {
		return fmt.Errorf("reset %s: %w", t.label, err)
	}
	return nil
}

func (t *Tree) reset(ctx context.Context, id string) error {
	if id != "" {
		if err := t.ensure(ctx, id); err != nil {
			return err
		}
	}
	root, err := t.open()
	if err != nil {
		return err
	}
	defer root.Close()
	if err := t.clear(ctx, root, id); err != nil {
		return err
	}
	t.run.step("cleared")
	if err := t.guard(); err != nil {
		return err
	}
	if id == "" {
		t.refresh(ctx, "")
		if err := os.Remove(filepath.Join(t.state, "head")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := t.fill(ctx, root, t.checkout(id)); err != nil {
		return err
	}
	t.run.step("filled")
	if err := t.relist(ctx, root, id); err != nil {
		return err
	}
	t.refresh(ctx, id)
	return nil
}

// clear removes every file that is not surely as in the snapshot, and every
// folder that is empty then.
func (t *Tree) clear(ctx context.Context, root *os.Root, id string) error {
	was := &listReader{}
	if id != "" {
		l, err := t.openList(id)
		if err != nil {
			return err
		}
		defer l.close()
		was = l
	}
	remove := func(dir *os.Root, name string) error { return dir.RemoveAll(name) }
	w := walk{
		skip: ownGit, force: true,
		file: func(f found) error {
			old, _, err := was.upTo(f.path, func(entry) error { return nil })
			if err != nil || f.same(old) {
				return err
			}
			return remove(f.dir, f.name)
		},
		leave: func(parent *os.Root, name string) error {
			parent.Remove(name) // stays if something is in it
			return nil
		},
	}
	w.special, w.deep = remove, remove // no snapshot holds either
	return w.run(ctx, root)
}

// fill copies into the workspace what it lacks of a folder.
func (t *Tree) fill(ctx context.Context, root *os.Root, from string) error {
	src, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer src.Close()
	to := filler{root: root}
	w := walk{skip: ownGit, made: true, limits: t.run.limits, file: func(f found) error {
		dir, err := to.folder(filepath.ToSlash(filepath.Dir(f.path)))
		if err != nil {
			return err
		}
		if _, err := dir.Lstat(f.name); err == nil {
			return nil
		}
		_, err = to.put(f)
		return err
	}}
	return errors.Join(w.run(ctx, src), to.close())
}

// relist brings the list of a snapshot up to date with the files that are in the
// workspace now, so that they are known to be unchanged the next time.
func (t *Tree) relist(ctx context.Context, root *os.Root, id string) error {
	was, err := t.openList(id)
	if err != nil {
		return err
	}
	defer was.close()
	l, err := newList(t.state)
	if err != nil {
		return err
	}
	defer l.drop()
	before, err := l.clock()
	if err != nil {
		return err
	}
	missing := func(e entry) error { return fmt.Errorf("%q disappeared from the workspace meanwhile", e.path) }
	w := walk{skip: ownGit, before: before, file: func(f found) error {
		old, ok, err := was.upTo(f.path, missing)
		if err != nil || !ok {
			return err // a file that somebody made meanwhile
		}
		e := f.entry
		e.sum = old.sum
		return l.add(e)
	}}
	if err := errors.Join(w.run(ctx, root), was.rest(missing)); err != nil {
		return err
	}
	name, err := l.end()
	if err != nil {
		return err
	}
	return t.keep(id, name)
}

// Seed makes the workspace a copy of a folder, such as a snapshot of an earlier
// run. What snapshots leave out is left out here too.
func (t *Tree) Seed(ctx context.Context, from string) (err error) {
	if info, err := os.Stat(from); err != nil {
		return fmt.Errorf("start %s from an earlier state: %w", t.label, err)
	} else if !info.IsDir() {
		return fmt.Errorf("start %s from an earlier state: %s is not a folder", t.label, from)
	}
	done, err := t.begin(ctx)
	if err == nil {
		err = errors.Join(t.seed(ctx, from), done())
	}
	if err != nil {
		return fmt.Errorf("start %s from %s: %w", t.label, from, err)
	}
	return nil
}

func (t *Tree) seed(ctx context.Context, from string) error {
	if err := t.reset(ctx, ""); err != nil {
		return err
	}
	root, err := t.open()
	if err != nil {
		return err
	}
	defer root.Close()
	return t.fill(ctx, root, from)
}
