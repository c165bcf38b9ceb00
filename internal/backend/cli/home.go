package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// A program's home is written by whatever runs in its room, and read and written by
// us outside of it. So a name in it may lead anywhere, and may be of anything: it is
// followed within the home alone, and only files are read.

// ReadFile reads a file in a program's home, of up to limit bytes.
func ReadFile(home, name string, limit int64) ([]byte, error) {
	root, err := os.OpenRoot(home)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return ReadIn(root, name, limit)
}

// ReadIn reads a file in a folder that others write to. It does not wait for
// whatever is no file.
func ReadIn(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := openFile(root, name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(p)) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	return p, err
}

// WriteIn writes a file in a folder that others write to, where it stands.
func WriteIn(root *os.Root, name string, p []byte, perm fs.FileMode) error {
	f, err := openFile(root, name, os.O_WRONLY|os.O_CREATE, perm)
	if err != nil {
		return err
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.Write(p)
	}
	return errors.Join(err, f.Close())
}

// openFile opens what is a file, and nothing that would have us wait.
func openFile(root *os.Root, name string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := root.OpenFile(name, flag|syscall.O_NONBLOCK, perm)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", name)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// WriteFile writes a file in a program's home as a whole, so that nobody reads half
// of one, in the place of whatever has its name.
func WriteFile(home, name string, p []byte) error {
	return within(home, name, func(root *os.Root) error {
		draft := filepath.Join(filepath.Dir(name), ".new-"+rand.Text())
		f, err := root.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = f.Write(p)
		if err = errors.Join(err, f.Close()); err == nil {
			err = root.Rename(draft, name)
		}
		if err != nil {
			_ = root.Remove(draft)
		}
		return err
	})
}

// Lead makes a name in a program's home lead to a file elsewhere.
func Lead(home, name, to string) error {
	return within(home, name, func(root *os.Root) error {
		if at, err := root.Readlink(name); err == nil && at == to {
			return nil
		}
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return root.Symlink(to, name)
	})
}

// within opens a program's home, with the folder of a file in it.
func within(home, name string, do func(*os.Root) error) error {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(home)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return do(root)
}
