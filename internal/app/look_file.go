package app

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"conclave/internal/control"
)

// waitless keeps opening a file from waiting for the other end of a pipe that was
// put in its place, and from taking a terminal.
const waitless = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY

// File implements [control.Looks].
func (a *App) File(ctx context.Context, path string, limit int64) ([]byte, bool, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, false, err
	}
	abs, _ := a.resolve(path)
	f, err := a.openFile(abs)
	if err != nil {
		return nil, false, fmt.Errorf("read %s: %w", path, reason(err))
	}
	defer f.Close()
	limit = max(limit, 0)
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, false, fmt.Errorf("read %s: %w", path, reason(err))
	}
	if int64(len(text)) > limit {
		return text[:limit], true, nil
	}
	return text, false, nil
}

// openFile opens a regular file. Agents write in the folders of runs, and what
// they make there must not pass for a file of theirs if it leads elsewhere.
func (a *App) openFile(abs string) (*os.File, error) {
	open := func() (*os.File, error) { return os.OpenFile(abs, waitless, 0) }
	stat := func() (fs.FileInfo, error) { return os.Stat(abs) }
	if in, err := filepath.Rel(a.state("runs"), abs); err == nil && filepath.IsLocal(in) && in != "." {
		run, rest, _ := strings.Cut(in, string(filepath.Separator))
		root, err := os.OpenRoot(a.state("runs", run))
		if err != nil {
			return nil, err
		}
		defer root.Close()
		rest = filepath.Join(".", rest)
		open = func() (*os.File, error) { return root.OpenFile(rest, waitless, 0) }
		stat = func() (fs.FileInfo, error) { return root.Stat(rest) }
	}
	before, err := stat()
	if err == nil {
		err = readable(before)
	}
	if err != nil {
		return nil, err
	}
	f, err := open()
	if err != nil {
		return nil, err
	}
	after, err := f.Stat()
	if err == nil {
		err = readable(after)
	}
	if err != nil {
		f.Close() // the first error tells
		return nil, err
	}
	return f, nil
}

func readable(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return control.Usagef("it is a folder, not a file")
	case !info.Mode().IsRegular():
		return control.Usagef("it is not a regular file")
	}
	return nil
}
