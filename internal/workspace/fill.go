package workspace

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// A filler writes files into a folder. They come in the order of a list, so it
// keeps the folder at hand that it wrote to last.
type filler struct {
	root   *os.Root
	frozen bool // nobody may write to the files
	at     string
	sub    *os.Root
}

// folder is a handle on a folder below the root, made if it is missing.
func (f *filler) folder(dir string) (*os.Root, error) {
	if f.sub != nil && f.at == dir {
		return f.sub, nil
	}
	if dir != "" && dir != "." {
		if err := f.root.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	} else {
		dir = "."
	}
	sub, err := f.root.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if f.sub != nil {
		err = f.sub.Close()
	}
	f.at, f.sub = dir, sub
	return sub, err
}

// put writes a copy of a found file and returns its entry, hash included.
func (f *filler) put(from found) (entry, error) {
	dir, err := f.folder(path.Dir(from.path))
	if err != nil {
		return entry{}, err
	}
	if from.kind == symlink {
		var target bytes.Buffer
		e, err := from.take(&target, nil)
		if err != nil {
			return entry{}, err
		}
		return e, dir.Symlink(target.String(), from.name)
	}
	to, err := dir.OpenFile(from.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return entry{}, err
	}
	e, err := from.take(to, func() error {
		_, err := to.Seek(0, io.SeekStart)
		return errors.Join(err, to.Truncate(0))
	})
	if err == nil {
		err = to.Chmod(f.mode(e.kind))
	}
	if err = errors.Join(err, to.Close()); err != nil {
		return entry{}, errors.Join(err, dir.Remove(from.name))
	}
	return e, nil
}

// write writes a file of which the content is at hand.
func (f *filler) write(p string, k kind, content io.Reader) error {
	dir, err := f.folder(path.Dir(p))
	if err != nil {
		return err
	}
	name := path.Base(p)
	if k == symlink {
		target, err := io.ReadAll(io.LimitReader(content, maxRecord))
		if err != nil {
			return err
		}
		return dir.Symlink(string(target), name)
	}
	to, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, content)
	if err == nil {
		err = to.Chmod(f.mode(k))
	}
	return errors.Join(err, to.Close())
}

func (f *filler) mode(k kind) fs.FileMode {
	mode := fs.FileMode(k) & 0o777
	if f.frozen {
		mode &^= 0o222
	}
	return mode
}

func (f *filler) close() error {
	if f.sub == nil {
		return nil
	}
	return f.sub.Close()
}

// removeAll removes a folder also if somebody took away the right to do so.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	err = errors.Join(unlockAll(root, 0), root.Close())
	return errors.Join(err, os.RemoveAll(dir))
}

// unlockAll gives the owner the right to write to every folder.
func unlockAll(dir *os.Root, depth int) error {
	names, err := readDir(dir)
	if err != nil || depth > deepest {
		return err
	}
	for _, n := range names {
		if !n.IsDir() {
			continue
		}
		if err := unlockDir(dir, n.Name()); err != nil {
			return err
		}
		sub, err := dir.OpenRoot(n.Name())
		if err != nil {
			return err
		}
		if err := errors.Join(unlockAll(sub, depth+1), sub.Close()); err != nil {
			return err
		}
	}
	return nil
}

// syncDir makes the names in a folder durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// replaceFile gives a file a new content, all or nothing.
func replaceFile(name string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), temporary+"file-*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(filepath.Dir(name))
}
