package docker

import (
	"fmt"
	"io"
	"io/fs"
	"os"

	"conclave/internal/sandbox/internal/layout"
)

// anchors are what was mounted into a container, held open: so long nothing else
// can be taken for it.
type anchors map[string]anchor

type anchor struct {
	info fs.FileInfo
	file io.Closer
}

// hold opens what is at the paths of a layout.
func hold(items []layout.Item) (anchors, error) {
	out := anchors{}
	for _, i := range items {
		a, err := drop(i.Path)
		if err != nil {
			out.close()
			return nil, fmt.Errorf("look at %s: %w", i.Path, err)
		}
		out[i.Path] = a
	}
	return out, nil
}

// drop holds on to one path. What is neither a folder nor a file that can be
// read is looked at alone.
func drop(path string) (anchor, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return anchor{}, err
	}
	switch {
	case info.IsDir():
		if root, err := os.OpenRoot(path); err == nil {
			info, err := root.Stat(".")
			return anchor{info, root}, err
		}
	case info.Mode().IsRegular():
		if f, err := os.Open(path); err == nil {
			info, err := f.Stat()
			return anchor{info, f}, err
		}
	}
	return anchor{info: info}, nil
}

// intact is that everything is still what is there.
func (a anchors) intact() error {
	for path, was := range a {
		if is, err := os.Lstat(path); err != nil || !os.SameFile(was.info, is) {
			return fmt.Errorf("%s was replaced by something else", path)
		}
	}
	return nil
}

func (a anchors) close() {
	for _, was := range a {
		if was.file != nil {
			_ = was.file.Close()
		}
	}
}
