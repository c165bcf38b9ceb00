package memory

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// Files is the folder in which memory/ is. Names are relative, with slashes.
type Files interface {
	// List names what is in a folder.
	List(dir string) ([]string, error)
	// Read is what is in a regular file; one larger than limit is an error.
	Read(name string, limit int) ([]byte, error)
	// Write replaces a file, as a whole or not at all, and makes its folder.
	Write(name string, data []byte) error
	Remove(name string) error
}

// In is the files below a root. Nothing outside it is reached, whatever links
// there are inside.
func In(r *os.Root) Files { return rooted{r} }

type rooted struct{ root *os.Root }

// maxListed bounds a listing: somebody may have filled the folder.
const maxListed = 10 * maxNotes

func (r rooted) List(dir string) ([]string, error) {
	d, err := r.root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(maxListed)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}

func (r rooted) Read(name string, limit int) ([]byte, error) {
	// Opening a pipe must not wait for somebody to write to it.
	f, err := r.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err == nil && len(data) > limit {
		err = fmt.Errorf("it has more than %d bytes", limit)
	}
	return data, err
}

func (r rooted) Write(name string, data []byte) error {
	if err := r.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	// A file is replaced, never written to: it may have another name elsewhere.
	temp := path.Join(path.Dir(name), "."+rand.Text()+".tmp")
	if err := r.create(temp, data); err != nil {
		_ = r.root.Remove(temp)
		return err
	}
	if err := r.root.Rename(temp, name); err != nil {
		_ = r.root.Remove(temp)
		return err
	}
	return nil
}

func (r rooted) create(name string, data []byte) error {
	f, err := r.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

func (r rooted) Remove(name string) error {
	info, err := r.root.Lstat(name)
	if err == nil && info.IsDir() {
		return &fs.PathError{Op: "remove", Path: name, Err: errors.New("it is a folder")}
	} else if err != nil {
		return err
	}
	return r.root.Remove(name)
}
