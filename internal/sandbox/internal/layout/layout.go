// Package layout turns a place into what has to be put where in a box that has
// a file system of its own, outermost first, so that the innermost decides.
//
// A protected path that does not exist is kept from being made by an empty
// folder that is put there while a box is open: [Holds] counts those folders for
// all boxes of an engine. A protected or hidden path that is a symbolic link is
// an error.
package layout

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/internal/policy"
)

// What is put at a path of a box.
type What int

// In this order: of two for one path the later one decides.
const (
	Pin     What = iota // the folder itself, so that it cannot be renamed
	Write               // the path, to be written
	Read                // the path, to be read
	Conceal             // an empty folder in its place
	Blank               // an empty file in its place
)

// An Item is one thing at a path of a box.
type Item struct {
	Path string
	What What
}

// Of is everything a place puts into a box, each path once. Held are the folders
// that were put where nothing may be made: nothing below them is looked for.
func Of(p policy.Place, held []string) ([]Item, error) {
	var out []Item
	for _, m := range p.Mounts {
		items, err := ofMount(m, held)
		if err != nil {
			return nil, err
		}
		out = append(out, items...)
	}
	for _, m := range p.Mounts {
		out = append(out, pins(p, m.Path)...)
	}
	slices.SortStableFunc(out, func(a, b Item) int {
		return cmp.Or(cmp.Compare(strings.Count(a.Path, "/"), strings.Count(b.Path, "/")), cmp.Compare(a.Path, b.Path), cmp.Compare(b.What, a.What))
	})
	return slices.CompactFunc(out, func(a, b Item) bool { return a.Path == b.Path }), nil
}

func ofMount(m policy.Mount, held []string) ([]Item, error) {
	if err := plain(m.Path); err != nil {
		return nil, err
	}
	out := []Item{{m.Path, Read}}
	if m.Write {
		out[0].What = Write
	}
	for _, path := range m.Hidden {
		items, err := hide(m, path, held)
		if err != nil {
			return nil, err
		}
		out = append(out, items...)
	}
	if !m.Write {
		return out, nil
	}
	for _, path := range m.Protected {
		items, err := protect(m, path, held)
		if err != nil {
			return nil, err
		}
		out = append(out, items...)
	}
	return out, nil
}

// plain is that a path exists and no part of it is a link: it would be followed
// outside the box.
func plain(path string) error {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path || path == "/" {
		return fmt.Errorf("%q is not an absolute and clean path that could be put into a box", path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("put %s into the box: %w", path, err)
	}
	if real != path {
		return fmt.Errorf("put %s into the box: a part of it is a symbolic link, it leads to %s; name that path", path, real)
	}
	return nil
}

// within is what of a path inside a mount exists: the path itself, or the first
// part of it that is missing.
func within(m policy.Mount, path string, held []string) (at string, info fs.FileInfo, err error) {
	rel, err := filepath.Rel(m.Path, path)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return "", nil, fmt.Errorf("%s is not inside %s", path, m.Path)
	}
	at = m.Path
	for part := range strings.SplitSeq(rel, "/") {
		at = filepath.Join(at, part)
		info, err = os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) || slices.Contains(held, at) {
			return at, nil, nil
		}
		if err != nil {
			return "", nil, fmt.Errorf("look at %s: %w", at, err)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return "", nil, fmt.Errorf("%s is a symbolic link, which cannot be protected or hidden; remove it or name what it leads to", at)
		}
	}
	return at, info, nil
}

// protect keeps a path in a writable mount as it is.
func protect(m policy.Mount, path string, held []string) ([]Item, error) {
	at, _, err := within(m, path, held)
	if err != nil {
		return nil, err
	}
	return append(ancestors(m.Path, at), Item{at, Read}), nil
}

// hide puts something empty over a path. What does not exist needs no hiding,
// and may be made.
func hide(m policy.Mount, path string, held []string) ([]Item, error) {
	at, info, err := within(m, path, held)
	if err != nil || info == nil {
		return nil, err
	}
	what := Blank
	if info.IsDir() {
		what = Conceal
	}
	var out []Item
	if m.Write {
		out = ancestors(m.Path, at)
	}
	return append(out, Item{at, what}), nil
}

// ancestors are the folders between a mount and a path in it, pinned: a folder
// that could be renamed would take with it what is protected inside, and another
// could be made in its place.
func ancestors(mount, path string) []Item {
	var out []Item
	for dir := filepath.Dir(path); len(dir) > len(mount); dir = filepath.Dir(dir) {
		out = append(out, Item{dir, Pin})
	}
	return out
}

// pins are the folders between a mount and the writable one it lies in.
func pins(p policy.Place, path string) []Item {
	outer := ""
	for _, m := range p.Mounts {
		if m.Write && Below(path, m.Path) && len(m.Path) > len(outer) {
			outer = m.Path
		}
	}
	if outer == "" {
		return nil
	}
	// What is hidden in between is not there to be renamed.
	return slices.DeleteFunc(ancestors(outer, path), func(i Item) bool { return concealed(p, i.Path) })
}

// concealed reports whether a path is at or below something hidden.
func concealed(p policy.Place, path string) bool {
	for _, m := range p.Mounts {
		for _, h := range m.Hidden {
			if path == h || Below(path, h) {
				return true
			}
		}
	}
	return false
}

// Below reports whether a path lies inside a folder.
func Below(path, dir string) bool { return strings.HasPrefix(path, dir+"/") }
