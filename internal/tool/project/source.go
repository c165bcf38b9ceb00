package projects

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// source opens a file below one of the roots. It goes through the root's own handle:
// no link leads out, whoever makes one meanwhile.
func (d *desk) source(path string) (*os.File, error) {
	var roots []string
	if d.Roots != nil {
		roots = d.Roots()
	}
	if !filepath.IsAbs(path) && len(roots) > 0 {
		path = filepath.Join(roots[0], path)
	}
	if dir, rel, ok := within(roots, path); ok {
		return below(dir, rel, path)
	}
	return nil, fmt.Errorf("%.400s is in none of the folders that files can be published from: %s", path, strings.Join(roots, ", "))
}

// within is the root that a path is in, and where in it.
func within(roots []string, path string) (dir, rel string, ok bool) {
	for _, dir := range roots {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			return dir, rel, true
		}
	}
	return "", "", false
}

// gone reports whether nothing is at a path. Of what is in none of the roots it says
// nothing: the agent may not even know whether that is there.
func (d *desk) gone(path string) bool {
	if d.Roots == nil {
		return false
	}
	dir, rel, ok := within(d.Roots(), path)
	if !ok {
		return false
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	_, err = root.Stat(rel)
	return errors.Is(err, fs.ErrNotExist)
}

func below(dir, rel, path string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(rel) // before it is opened: a pipe would wait
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no file %s", path)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", path)
	}
	f, err := root.OpenFile(rel, os.O_RDONLY|nowait, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("%s is not a file", path), f.Close())
	}
	return f, nil
}
