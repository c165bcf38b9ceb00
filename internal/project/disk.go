package project

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"conclave/internal/event"
)

const (
	projects = "projects"
	scratch  = "scratch"

	lockFile = ".lock"
	tempDir  = ".tmp" // of the project's own: what is in it while nobody holds the lock is waste
)

// A folder is an open project. Names in it are relative, with slashes.
type folder struct {
	store Store
	name  string
	root  *os.Root
	held  *os.File // the lock, once it is taken
}

// open opens a project that is there. Its error is a *NotFound if it is not.
func (s Store) open(name string) (*folder, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	top, err := os.OpenRoot(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &NotFound{Name: name}
	}
	if err != nil {
		return nil, fmt.Errorf("open the workspace of sessions: %w", err)
	}
	defer top.Close()
	for _, dir := range []string{projects, path.Join(projects, name)} {
		info, err := top.Lstat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, &NotFound{Name: name, Have: s.names()}
		case err != nil:
			return nil, fmt.Errorf("open project %s: %w", name, err)
		case !info.IsDir():
			return nil, fmt.Errorf("open project %s: %s is not a folder; move it away", name, filepath.Join(s.Dir, filepath.FromSlash(dir)))
		}
	}
	root, err := top.OpenRoot(path.Join(projects, name))
	if err != nil {
		return nil, fmt.Errorf("open project %s: %w", name, err)
	}
	return &folder{store: s, name: name, root: root}, nil
}

func (f *folder) close() {
	if f.held != nil {
		f.held.Close()
	}
	f.root.Close()
}

// lock takes the project for oneself, and clears away what a crash has left.
func (f *folder) lock(ctx context.Context) error {
	file, err := f.root.OpenFile(lockFile, os.O_RDWR|os.O_CREATE|nowait, 0o644)
	if err != nil {
		return err
	}
	if err := lock(ctx, file); err != nil {
		return fmt.Errorf("wait for whoever is changing project %s: %w", f.name, errors.Join(err, file.Close()))
	}
	f.held = file
	return f.root.RemoveAll(tempDir)
}

// glance takes the lock to look only: where that cannot be done, as on a disk that
// cannot be written to, nobody changes anything meanwhile.
func (f *folder) glance(ctx context.Context) error {
	file, err := f.root.OpenFile(lockFile, os.O_RDWR|nowait, 0)
	if err != nil {
		return nil
	}
	if err := lock(ctx, file); err != nil {
		file.Close()
		return ctx.Err()
	}
	f.held = file
	return nil
}

// change opens a project and does something to it alone.
func (s Store) change(ctx context.Context, name string, do func(*folder) error) error {
	f, err := s.open(name)
	if err != nil {
		return err
	}
	defer f.close()
	if err := f.lock(ctx); err != nil {
		return err
	}
	return do(f)
}

// path is where a file of the project is, for people.
func (f *folder) path(name string) string {
	return filepath.Join(f.store.Dir, projects, f.name, filepath.FromSlash(name))
}

// step is asked before the disk is changed.
func (f *folder) step(what string) error {
	if f.store.fail == nil {
		return nil
	}
	return f.store.fail(what)
}

// openFile opens a regular file with one name, reached without links.
func (f *folder) openFile(name string) (*os.File, fs.FileInfo, error) {
	if err := f.straight(name); err != nil {
		return nil, nil, err
	}
	file, err := f.root.OpenFile(name, os.O_RDONLY|nowait, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is not a regular file", f.path(name))
	case links(file, info) > 1:
		err = fmt.Errorf("%s has a second name somewhere else; put a copy in its place", f.path(name))
	default:
		return file, info, nil
	}
	return nil, nil, errors.Join(err, file.Close())
}

// straight refuses a name that leads over a link.
func (f *folder) straight(name string) error {
	for at := name; at != "."; at = path.Dir(at) {
		info, err := f.root.Lstat(at)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a symbolic link; put the file or folder itself in its place", f.path(at))
		}
	}
	return nil
}

// read is what is in a file; nil if there is none. One longer than most is an
// error.
func (f *folder) read(name string, most int) ([]byte, error) {
	file, _, err := f.openFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p, err := io.ReadAll(io.LimitReader(file, int64(most)+1))
	if err != nil {
		return nil, err
	}
	if len(p) > most {
		return nil, fmt.Errorf("%s has more than %d bytes, which is the most; shorten it", f.path(name), most)
	}
	if p == nil {
		p = []byte{}
	}
	return p, nil
}

// mkdir makes a folder and those it is in, and has them stay.
func (f *folder) mkdir(dir string) error {
	if info, err := f.root.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	if err := f.step("mkdir"); err != nil {
		return err
	}
	if err := f.root.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for dir != "." {
		dir = path.Dir(dir)
		if err := f.flush(dir); err != nil {
			return err
		}
	}
	return nil
}

func (f *folder) flush(dir string) error {
	d, err := f.root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(flush(d), d.Close())
}

// A staged file is complete and durable, under a name of no meaning.
type staged struct {
	name string
	hash event.Hash
	size int64
}

// stage writes what r holds to a file that is put in its place later.
func (f *folder) stage(ctx context.Context, r io.Reader, most int64) (staged, error) {
	if err := f.mkdir(tempDir); err != nil {
		return staged{}, err
	}
	s := staged{name: path.Join(tempDir, rand.Text())}
	if err := f.step("create"); err != nil {
		return staged{}, err
	}
	file, err := f.root.OpenFile(s.name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return staged{}, err
	}
	s.hash, s.size, err = sum(ctx, r, most, file)
	if err == nil {
		err = f.step("sync")
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		_ = f.root.Remove(s.name)
		return staged{}, err
	}
	return s, nil
}

// place gives a staged file its name, in one step.
func (f *folder) place(s staged, name string) error {
	err := f.mkdir(path.Dir(name))
	if err == nil {
		err = f.step("rename")
	}
	if err == nil {
		err = f.root.Rename(s.name, name)
	}
	if err != nil {
		_ = f.root.Remove(s.name)
		return err
	}
	if err := f.step("flush"); err != nil {
		return err
	}
	return f.flush(path.Dir(name))
}

// rewrite replaces a file by what do makes of it; nil is a file that is not there,
// or one that is to stay as it is. If somebody edits it meanwhile, it is read again.
func (f *folder) rewrite(ctx context.Context, name string, most int, do func([]byte) ([]byte, error)) error {
	for range 5 {
		old, err := f.read(name, most)
		if err != nil {
			return err
		}
		p, err := do(old)
		if err != nil || p == nil || old != nil && bytes.Equal(p, old) {
			return err
		}
		if len(p) > most {
			return fmt.Errorf("%s would have more than %d bytes, which is the most; shorten it first", f.path(name), most)
		}
		s, err := f.stage(ctx, bytes.NewReader(p), int64(most))
		if err != nil {
			return err
		}
		now, err := f.read(name, most)
		if err == nil && (now == nil) == (old == nil) && bytes.Equal(now, old) {
			return f.place(s, name)
		}
		_ = f.root.Remove(s.name)
		if err != nil {
			return err
		}
	}
	return fmt.Errorf("%s is being edited all the time; do it again later", f.path(name))
}
