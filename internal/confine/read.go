package confine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"conclave/internal/policy"
)

// Open opens a regular file to read it.
func (r *Root) Open(path string) (*os.File, error) {
	s, err := r.find(path, policy.ToRead, follow)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if s.base == "." {
		return nil, refused(s.abs, "%s is a folder, not a file.", s.abs)
	}
	return openFile(s.dir, s.base, s.abs, os.O_RDONLY)
}

// openFile opens a regular file that is not a link and exists. It does not wait
// for anybody: not even for the other end of a pipe that is put there now.
func openFile(dir *os.Root, name, abs string, flag int) (*os.File, error) {
	before, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if err := regular(abs, before); err != nil {
		return nil, err
	}
	f, err := dir.OpenFile(name, flag|nowait, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = regular(abs, info)
	}
	if err == nil && !os.SameFile(before, info) {
		err = swapped(abs)
	}
	if err != nil {
		f.Close() // the first error tells
		return nil, err
	}
	return f, nil
}

// ReadFile is what is in a file of at most limit bytes.
func (r *Root) ReadFile(path string, limit int64) ([]byte, error) {
	f, err := r.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if int64(len(data)) > limit {
		return nil, refused(path, "%s is larger than %d bytes, too large to be taken whole.", path, limit)
	}
	return data, nil
}

// Stat describes what a path leads to.
func (r *Root) Stat(path string) (fs.FileInfo, error) { return r.stat(path, follow) }

// Lstat describes a path, without following it if it is a link.
func (r *Root) Lstat(path string) (fs.FileInfo, error) { return r.stat(path, 0) }

func (r *Root) stat(path string, h how) (fs.FileInfo, error) {
	s, err := r.find(path, policy.ToRead, h)
	if err != nil {
		return nil, err
	}
	defer s.close()
	return s.dir.Lstat(s.base)
}

// openDir opens the folder that a path leads to.
func (r *Root) openDir(path string) (dir *os.Root, s *spot, err error) {
	s, err = r.find(path, policy.ToRead, follow)
	if err != nil {
		return nil, nil, err
	}
	defer s.close()
	dir, err = openDir(s.dir, s.base, s.abs)
	if err != nil {
		return nil, nil, err
	}
	info, err := dir.Stat(".")
	if err == nil {
		err = trespass(s.marks, info, s.abs, policy.ToRead)
	}
	if err != nil {
		dir.Close() // the first error tells
		return nil, nil, err
	}
	return dir, s, nil
}

// An Entry is something in a folder. It is valid while the function that it was
// given to runs.
type Entry struct {
	Path string // absolute, without links
	Type fs.FileMode
	dir  *os.Root
	name string
}

// Info describes the entry; a link is not followed.
func (e Entry) Info() (fs.FileInfo, error) { return e.dir.Lstat(e.name) }

// Open opens the entry to read it if it is a regular file.
func (e Entry) Open() (*os.File, error) { return openFile(e.dir, e.name, e.Path, os.O_RDONLY) }

// chunk is how many entries of a folder are held at once.
const chunk = 512

// maxDepth is how many folders deep a walk goes: each is an open file or two.
const maxDepth = 128

// ReadDir calls fn for everything in a folder that the agent may see, in no
// particular order, until fn returns an error. [fs.SkipAll] ends it without one.
func (r *Root) ReadDir(ctx context.Context, path string, fn func(Entry) error) error {
	return r.each(ctx, path, func(e Entry) error {
		if err := fn(e); err != nil {
			return err
		}
		return fs.SkipDir
	})
}

// Walk calls fn for everything below a folder, a folder before what is in it,
// otherwise in no particular order, and without following links. The folder
// itself is not among it. [fs.SkipDir] skips a folder, [fs.SkipAll] ends the
// walk. What cannot be opened, or lies more than 128 folders deep, is passed
// over.
func (r *Root) Walk(ctx context.Context, path string, fn func(Entry) error) error {
	return r.each(ctx, path, fn)
}

func (r *Root) each(ctx context.Context, path string, fn func(Entry) error) error {
	dir, s, err := r.openDir(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	w := &walker{ctx: ctx, root: r, mount: s.mount, marks: s.marks, fn: fn}
	if err := w.folder(dir, s.abs, 0); !errors.Is(err, fs.SkipAll) {
		return err
	}
	return nil
}

// A walker goes over the folders of one mount.
type walker struct {
	ctx   context.Context
	root  *Root
	mount *mount
	marks []mark
	fn    func(Entry) error
}

func (w *walker) folder(dir *os.Root, abs string, depth int) error {
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		entries, err := f.ReadDir(chunk)
		for _, e := range entries {
			if err := w.entry(Entry{Path: filepath.Join(abs, e.Name()), Type: e.Type(), dir: dir, name: e.Name()}, depth); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the folder %s: %w", abs, err)
		}
	}
}

func (w *walker) entry(e Entry, depth int) error {
	m, _, ok := w.root.Place().Find(e.Path)
	if !ok {
		return nil
	}
	err := w.fn(e)
	if errors.Is(err, fs.SkipDir) {
		return nil
	}
	if err != nil || !e.Type.IsDir() || depth >= maxDepth {
		return err
	}
	if m.Path != w.mount.Path { // a place of its own
		dir, s, err := w.root.openDir(e.Path)
		if err != nil {
			return w.ctx.Err()
		}
		defer dir.Close()
		inner := &walker{ctx: w.ctx, root: w.root, mount: s.mount, marks: s.marks, fn: w.fn}
		return inner.folder(dir, e.Path, depth+1)
	}
	sub, err := openDir(e.dir, e.name, e.Path)
	if err != nil {
		return w.ctx.Err()
	}
	defer sub.Close()
	info, err := sub.Stat(".")
	if err != nil || trespass(w.marks, info, e.Path, policy.ToRead) != nil {
		return w.ctx.Err()
	}
	return w.folder(sub, e.Path, depth+1)
}
