package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"conclave/internal/control"
)

// sink is the standard output. It remembers the first write that failed and
// tries no other: half a document with a hole in it helps nobody.
type sink struct {
	io.Writer
	err error
}

func (s *sink) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.Writer.Write(p)
	s.err = err
	return n, err
}

// fault is what went wrong with the output, if it is worth an error: a reader
// that has seen enough and closed its end is not.
func (s *sink) fault() error {
	if s.err == nil || errors.Is(s.err, syscall.EPIPE) {
		return nil
	}
	return fmt.Errorf("write to standard output: %w", s.err)
}

// answerFile is where the answer is kept besides; empty is nowhere.
type answerFile string

// check makes sure, before anything is spent, that the answer can be kept.
func (a answerFile) check() error {
	if a == "" {
		return nil
	}
	switch info, err := os.Stat(string(a)); {
	case err == nil && info.IsDir():
		return control.Usagef("--output-file %s is a directory; name a file", a)
	case err == nil && !info.Mode().IsRegular():
		return nil // opening a pipe or a device already does something
	}
	f, _, err := a.open()
	if err != nil {
		return control.Usagef("--output-file %s cannot be written: %w", a, reason(err))
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// reason is an error without the path of a file the person never named.
func reason(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	return err
}

// write puts the answer there, all of it or nothing. A file that is there keeps
// its mode; no answer leaves it as it is.
func (a answerFile) write(text string) error {
	if a == "" || text == "" {
		return nil
	}
	f, mode, err := a.open()
	if err != nil {
		return fmt.Errorf("write the answer to %s: %w", a, reason(err))
	}
	_, err = io.WriteString(f, strings.TrimRight(text, "\n")+"\n")
	if f.Name() == a.target() {
		err = errors.Join(err, f.Close())
	} else {
		if mode != 0 {
			err = errors.Join(err, f.Chmod(mode))
		}
		if err = errors.Join(err, f.Close()); err == nil {
			err = os.Rename(f.Name(), a.target())
		}
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}
	if err != nil {
		return fmt.Errorf("write the answer to %s: %w", a, err)
	}
	return nil
}

// target is the file itself, at the end of all links.
func (a answerFile) target() string {
	if t, err := filepath.EvalSymlinks(string(a)); err == nil {
		return t
	}
	return string(a)
}

// open opens a file beside the target that is to take its place, and tells the
// mode that one has. A device or a pipe has no place to take and is opened
// itself.
func (a answerFile) open() (*os.File, os.FileMode, error) {
	target := a.target()
	info, err := os.Stat(target)
	if err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(target, os.O_WRONLY, 0)
		return f, 0, err
	}
	var mode os.FileMode
	if err == nil {
		mode = info.Mode().Perm()
	}
	// Not os.CreateTemp, which would leave the file to its owner alone.
	beside := filepath.Join(filepath.Dir(target), fmt.Sprintf(".conclave-%d-%s", os.Getpid(), filepath.Base(target)))
	f, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	return f, mode, err
}
