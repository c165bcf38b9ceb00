package confine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"conclave/internal/policy"
)

// WriteFile puts data into a file, in place of what was in it. The file is there
// with the old or the new content at every moment and keeps its mode; folders
// that are missing are made.
func (r *Root) WriteFile(path string, data []byte) error {
	return r.write(path, func(f *os.File) error {
		_, err := f.Write(data)
		return err
	})
}

func (r *Root) write(path string, fill func(*os.File) error) error {
	if strings.HasSuffix(path, "/") || strings.HasSuffix(path, string(filepath.Separator)) {
		return refused(path, "The path %.200q ends like a folder. Name a file.", path)
	}
	s, err := r.find(path, policy.ToWrite, follow|create)
	if err != nil {
		return err
	}
	defer s.close()
	if s.base == "." {
		return refused(s.abs, "%s is a folder, not a file.", s.abs)
	}
	old, err := openFile(s.dir, s.base, s.abs, os.O_WRONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return replace(s, 0o666, nil, fill)
	}
	if err != nil {
		return err
	}
	defer old.Close()
	info, err := old.Stat()
	if err == nil {
		err = lone(s, old)
	}
	if err != nil {
		return err
	}
	if s.mount.file != "" {
		return overwrite(old, fill)
	}
	old.Close() // some systems do not replace what is open
	return replace(s, info.Mode().Perm(), info, fill)
}

// lone refuses an open file that has another name.
func lone(s *spot, f *os.File) error {
	n, err := links(f)
	if err != nil {
		return fmt.Errorf("look at %s: %w", s.abs, err)
	}
	if n > 1 {
		return refused(s.abs, "%s has %d names (hard links), and what is done to it would be done to the others. Write to a new file instead.", s.abs, n)
	}
	return nil
}

// replace puts a new file in the place of an old one, in one step.
func replace(s *spot, mode fs.FileMode, old fs.FileInfo, fill func(*os.File) error) error {
	temp := ".tmp-" + rand.Text()
	f, err := s.dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	err = fill(f)
	if err == nil && old != nil {
		err = keep(f, old) // the umask may have taken something of the mode
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = s.dir.Rename(temp, s.base)
	}
	if err != nil {
		return errors.Join(err, s.dir.Remove(temp))
	}
	return nil
}

// overwrite changes a file where it is: a mount that is a file is that file and
// no other, in every sandbox that has it.
func overwrite(f *os.File, fill func(*os.File) error) error {
	if err := fill(f); err != nil {
		return err
	}
	end, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	return f.Truncate(end)
}

// MkdirAll makes a folder and those it is in.
func (r *Root) MkdirAll(path string) error {
	s, err := r.find(path, policy.ToWrite, follow|create)
	if err != nil {
		return err
	}
	defer s.close()
	if s.base == "." {
		return nil
	}
	info, err := mkdir(s.dir, s.base)
	if err == nil && !info.IsDir() {
		err = refused(s.abs, "%s is %s, not a folder.", s.abs, named(info))
	}
	return err
}

// Copy copies a file in the place of what is at to. A new file gets its mode.
func (r *Root) Copy(from, to string) error {
	src, err := r.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	return r.write(to, func(f *os.File) error {
		if there, err := f.Stat(); err != nil || os.SameFile(there, info) {
			return errors.Join(err, refused(to, "%s and %s are the same file.", from, to))
		}
		if _, err := io.Copy(f, src); err != nil {
			return err
		}
		return f.Chmod(info.Mode().Perm())
	})
}

// Rename moves a file or folder, in the place of a file that is at to. Folders
// that are missing are made. Between mounts it works only where they are on the
// same file system; elsewhere the error is one of package syscall.
func (r *Root) Rename(from, to string) error {
	src, err := r.find(from, policy.ToDelete, 0)
	if err != nil {
		return err
	}
	defer src.close()
	info, err := src.dir.Lstat(src.base)
	if err != nil {
		return err
	}
	if err := removable(src, info); err != nil {
		return err
	}
	dst, err := r.find(to, policy.ToDelete, create)
	if err != nil {
		return err
	}
	defer dst.close()
	if dst.mount.file != "" || src.mount.file != "" || dst.base == "." {
		return refused(dst.abs, "%s is one of the places you were given and stays.", dst.abs)
	}
	switch there, err := dst.dir.Lstat(dst.base); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case there.IsDir():
		return refused(dst.abs, "%s is a folder. Name the new path in full, and one that is free.", dst.abs)
	default:
		if err := removable(dst, there); err != nil {
			return err
		}
	}
	return rename(src, dst)
}

// removable refuses a regular file with another name. A link is itself only.
func removable(s *spot, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return nil
	}
	n, err := linksAt(s.dir, s.base, info)
	if err != nil {
		return fmt.Errorf("look at %s: %w", s.abs, err)
	}
	if n > 1 {
		return refused(s.abs, "%s has %d names (hard links) and is left as it is.", s.abs, n)
	}
	return nil
}

// Remove deletes a file, a link or an empty folder.
func (r *Root) Remove(path string) error {
	s, err := r.find(path, policy.ToDelete, 0)
	if err != nil {
		return err
	}
	defer s.close()
	info, err := s.dir.Lstat(s.base)
	if err != nil {
		return err
	}
	if err := removable(s, info); err != nil {
		return err
	}
	return s.dir.Remove(s.base)
}

// RemoveAll deletes a folder with everything in it. Nothing is deleted if there
// is something in it that may not be.
func (r *Root) RemoveAll(ctx context.Context, path string) error {
	s, err := r.find(path, policy.ToDelete, 0)
	if err != nil {
		return err
	}
	defer s.close()
	info, err := s.dir.Lstat(s.base)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return r.Remove(path)
	}
	err = r.Walk(ctx, s.abs, func(e Entry) error {
		info, err := e.Info()
		if err != nil {
			return err
		}
		return removable(&spot{dir: e.dir, base: e.name, abs: e.Path}, info)
	})
	if err != nil {
		return err
	}
	return s.dir.RemoveAll(s.base)
}
