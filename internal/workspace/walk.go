package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// A walk goes through a folder in the order of its paths, byte by byte, which is
// the order of lists. It holds one folder's names at a time for each level and
// follows no link.
type walk struct {
	// file is called for every regular file and symbolic link.
	file func(f found) error
	// skip is asked about every name; nil skips none.
	skip func(path string, isDir bool) bool
	// made leaves out folders that a tool made and can make again.
	made bool
	// left is told what was left out. May be nil.
	left func(path string) error
	// deep is called for a folder that is nested too deeply, in place of failing.
	deep func(parent *os.Root, name string) error
	// special is called for what is neither file, link nor folder, in place of
	// left.
	special func(dir *os.Root, name string) error
	// leave is called after everything in a folder. May be nil.
	leave func(parent *os.Root, name string) error
	// force makes readable what its owner cannot read; without it, that and what
	// is nested too deeply is left out.
	force bool
	// before is a time of the file system's own clock: what was changed earlier
	// is settled.
	before int64
	limits Limits // zero is none

	files int
	bytes int64
	buf   []byte
}

// buffer is for whoever copies a file in the course of the walk.
func (w *walk) buffer() []byte {
	if w.buf == nil {
		w.buf = make([]byte, 64<<10)
	}
	return w.buf
}

// deepest is how far folders may be nested; each level holds a handle open.
const deepest = 256

// found is a file that a walk came by.
type found struct {
	entry
	dir  *os.Root // the folder it is in
	name string
	w    *walk
}

// run walks through root.
func (w *walk) run(ctx context.Context, root *os.Root) error {
	return w.folder(ctx, root, "", 0)
}

func (w *walk) folder(ctx context.Context, dir *os.Root, at string, depth int) error {
	if depth > deepest && !w.force {
		return w.leftOut(at)
	}
	if depth > deepest {
		return &TooLargeError{Limits: w.limits, Deep: true, In: at}
	}
	names, err := readDir(dir)
	if err != nil {
		return fmt.Errorf("%q: %w", at, err)
	}
	if w.made && at != "" && isMade(dir, path.Base(at), names) {
		return w.leftOut(at)
	}
	for _, d := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		p := path.Join(at, d.Name())
		if w.skip != nil && w.skip(p, d.IsDir()) {
			continue
		}
		if err := w.count(p, 1, 0); err != nil {
			return err
		}
		if d.IsDir() {
			err = w.down(ctx, dir, d.Name(), p, depth)
		} else {
			err = w.one(dir, d.Name(), p)
		}
		if err != nil && !errors.Is(err, errGone) {
			return err
		}
	}
	return nil
}

// down walks through a folder inside dir.
func (w *walk) down(ctx context.Context, dir *os.Root, name, p string, depth int) error {
	if w.force {
		if err := unlockDir(dir, name); err != nil {
			return fmt.Errorf("%q: %w", p, gone(err))
		}
	}
	if depth == deepest && w.deep != nil {
		return w.deep(dir, name)
	}
	sub, err := dir.OpenRoot(name)
	if errors.Is(err, fs.ErrPermission) && !w.force {
		return w.leftOut(p)
	}
	if err != nil {
		return fmt.Errorf("%q: %w", p, gone(err))
	}
	err = errors.Join(w.folder(ctx, sub, p, depth+1), sub.Close())
	if err == nil && w.leave != nil {
		err = w.leave(dir, name)
	}
	return err
}

// unlockDir gives the owner of a folder the rights to work in it.
func unlockDir(dir *os.Root, name string) error {
	info, err := dir.Lstat(name)
	if err != nil || !info.IsDir() || info.Mode()&0o700 == 0o700 {
		return err
	}
	return dir.Chmod(name, info.Mode().Perm()|0o700)
}

// one looks at what is not a folder.
func (w *walk) one(dir *os.Root, name, p string) error {
	info, err := dir.Lstat(name)
	if errors.Is(err, fs.ErrPermission) && !w.force {
		return w.leftOut(p)
	}
	if err != nil {
		return fmt.Errorf("%q: %w", p, gone(err))
	}
	f := found{entry: entry{path: p, stat: statOf(info)}, dir: dir, name: name, w: w}
	switch info.Mode().Type() {
	case 0:
		f.kind = kindOf(info)
	case fs.ModeSymlink:
		f.kind = symlink
	default:
		if w.special != nil {
			return w.special(dir, name)
		}
		return w.leftOut(p)
	}
	f.settled = f.settle(f.stat)
	if err := w.count(p, 0, f.size); err != nil {
		return err
	}
	if err := w.file(f); err != nil {
		return fmt.Errorf("%q: %w", p, err)
	}
	return nil
}

// errGone is a file that disappeared while the walk was on its way to it: as if
// it had never been there.
var errGone = errors.New("it has disappeared")

func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errGone
	}
	return err
}

// settle reports whether a file with that stat was left alone before the walk.
func (f found) settle(s stat) bool { return s.ctime < f.w.before && s.mtime < f.w.before }

// count adds up what the limits are about.
func (w *walk) count(p string, files int, bytes int64) error {
	w.files += files
	w.bytes += bytes
	if w.limits.Files > 0 && w.files > w.limits.Files {
		return &TooLargeError{Limits: w.limits, Files: true, In: p}
	}
	if w.limits.Bytes > 0 && w.bytes > w.limits.Bytes {
		return &TooLargeError{Limits: w.limits, In: p}
	}
	return nil
}

func (w *walk) leftOut(p string) error {
	if w.left == nil {
		return nil
	}
	return w.left(p)
}

// open opens a found file for reading, if it is still the one that was found.
func (f found) open() (*os.File, error) {
	file, err := f.dir.OpenFile(f.name, os.O_RDONLY|nonblock, 0)
	if errors.Is(err, fs.ErrPermission) && f.w.force {
		if err := f.dir.Chmod(f.name, 0o644|fs.FileMode(f.kind)&0o777); err != nil {
			return nil, err
		}
		file, err = f.dir.OpenFile(f.name, os.O_RDONLY|nonblock, 0)
	}
	if err != nil {
		return nil, gone(err)
	}
	info, err := file.Stat()
	if err == nil && statOf(info).inode != f.inode {
		err = errMoving
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// readDir returns the names in a folder in the order of the paths below them.
func readDir(dir *os.Root) ([]fs.DirEntry, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(names, func(a, b fs.DirEntry) int {
		return compareNames(a.Name(), a.IsDir(), b.Name(), b.IsDir())
	})
	return names, nil
}

// compareNames orders names as the paths that begin with them: the name of a
// folder ends in a slash.
func compareNames(a string, aDir bool, b string, bDir bool) int {
	n := min(len(a), len(b))
	if c := strings.Compare(a[:n], b[:n]); c != 0 {
		return c
	}
	end := func(s string, dir bool) int {
		switch {
		case len(s) > n:
			return int(s[n])
		case dir:
			return '/'
		}
		return -1
	}
	return end(a, aDir) - end(b, bDir)
}

// isMade reports whether a folder is the work of a tool that can make it again.
func isMade(dir *os.Root, name string, names []fs.DirEntry) bool {
	switch name {
	case "node_modules", "__pycache__", ".cache":
		return true
	}
	return slices.ContainsFunc(names, func(d fs.DirEntry) bool {
		return d.Type().IsRegular() && (d.Name() == "pyvenv.cfg" || d.Name() == "CACHEDIR.TAG" && isSigned(dir))
	})
}

// isSigned reports whether a folder's tag says that it is a cache, as
// bford.info/cachedir defines it.
func isSigned(dir *os.Root) bool {
	const signature = "Signature: 8a477f597d28d172789f06886806bc55"
	f, err := dir.OpenFile("CACHEDIR.TAG", os.O_RDONLY|nonblock, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	got := make([]byte, len(signature))
	_, err = io.ReadFull(f, got)
	return err == nil && bytes.Equal(got, []byte(signature))
}
