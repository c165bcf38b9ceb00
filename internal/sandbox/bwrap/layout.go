//go:build linux

package bwrap

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
	"conclave/internal/sandbox/internal/system"
)

// kernel are parts of /proc that are the machine's and not a process's.
var kernel = []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/acpi", "/proc/scsi", "/proc/mtrr", "/proc/driver", "/proc/fs"}

const (
	home = "/home/agent"
	tmp  = "/tmp"
)

// what is put at a path of a box.
type what int

const (
	pin     what = iota // the folder itself, so that it cannot be renamed
	bind                // the path, to be written
	bindRO              // the path, to be read
	conceal             // an empty folder in its place
	blank               // an empty file in its place
)

// item is one thing at a path of a box.
type item struct {
	path string
	what what
}

// layout is everything a place puts into a box, outermost first, so that the
// innermost decides. Held are the folders that were put where nothing may be
// made: nothing below them is looked for.
func layout(p policy.Place, held []string) ([]item, error) {
	var out []item
	for _, m := range p.Mounts {
		kind := bindRO
		if m.Write {
			kind = bind
		}
		if err := plain(m.Path); err != nil {
			return nil, err
		}
		out = append(out, item{m.Path, kind})
		for _, path := range m.Hidden {
			it, err := hide(m, path, held)
			if err != nil {
				return nil, err
			}
			out = append(out, it...)
		}
		if !m.Write {
			continue
		}
		for _, path := range m.Protected {
			it, err := protect(m, path, held)
			if err != nil {
				return nil, err
			}
			out = append(out, it...)
		}
	}
	for _, m := range p.Mounts {
		out = append(out, pins(p, m.Path)...)
	}
	slices.SortStableFunc(out, func(a, b item) int {
		return cmp.Or(cmp.Compare(strings.Count(a.path, "/"), strings.Count(b.path, "/")), cmp.Compare(a.path, b.path), cmp.Compare(a.what, b.what))
	})
	// A folder is pinned by whatever else is put there.
	return slices.DeleteFunc(out, func(i item) bool {
		return i.what == pin && slices.ContainsFunc(out, func(o item) bool { return o.path == i.path && o.what != pin })
	}), nil
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

// protect keeps a path in a writable mount as it is. What does not exist is
// kept from being made: an empty folder is put there while the box is open.
func protect(m policy.Mount, path string, held []string) ([]item, error) {
	at, _, err := within(m, path, held)
	if err != nil {
		return nil, err
	}
	return append(ancestors(m.Path, at), item{at, bindRO}), nil
}

// hide puts something empty over a path. What does not exist needs no hiding,
// and may be made.
func hide(m policy.Mount, path string, held []string) ([]item, error) {
	at, info, err := within(m, path, held)
	if err != nil || info == nil {
		return nil, err
	}
	kind := blank
	if info.IsDir() {
		kind = conceal
	}
	var out []item
	if m.Write {
		out = ancestors(m.Path, at)
	}
	return append(out, item{at, kind}), nil
}

// ancestors are the folders between a mount and a path in it, pinned: a folder
// that could be renamed would take with it what is protected inside, and another
// could be made in its place.
func ancestors(mount, path string) []item {
	var out []item
	for dir := filepath.Dir(path); len(dir) > len(mount); dir = filepath.Dir(dir) {
		out = append(out, item{dir, pin})
	}
	return out
}

// pins are the folders between a mount and the writable one it lies in.
func pins(p policy.Place, path string) []item {
	outer := ""
	for _, m := range p.Mounts {
		if m.Write && strings.HasPrefix(path, m.Path+"/") && len(m.Path) > len(outer) {
			outer = m.Path
		}
	}
	if outer == "" {
		return nil
	}
	// What is hidden in between is not there to be renamed.
	return slices.DeleteFunc(ancestors(outer, path), func(i item) bool { return concealed(p, i.path) })
}

// concealed reports whether a path is at or below something hidden.
func concealed(p policy.Place, path string) bool {
	for _, m := range p.Mounts {
		for _, h := range m.Hidden {
			if path == h || strings.HasPrefix(path, h+"/") {
				return true
			}
		}
	}
	return false
}

// missing are the paths of a layout that have to be made while a box is open.
func missing(items []item) []string {
	var out []string
	for _, i := range items {
		if _, err := os.Lstat(i.path); errors.Is(err, fs.ErrNotExist) && !slices.Contains(out, i.path) {
			out = append(out, i.path)
		}
	}
	return out
}

// arguments are the options of bwrap for a layout.
func arguments(items []item, empty string) []string {
	var out, after []string
	for _, i := range items {
		switch i.what {
		case pin, bind:
			out = append(out, "--bind", i.path, i.path)
		case bindRO:
			out = append(out, "--ro-bind", i.path, i.path)
		case blank:
			out = append(out, "--ro-bind", empty, i.path)
		case conceal:
			// Made read-only when all that is brought back has its place in it.
			out = append(out, "--tmpfs", i.path)
			after = append(after, "--remount-ro", i.path)
		}
	}
	return append(out, after...)
}

// machine are the options of bwrap for what every box has.
func machine() []string {
	var out []string
	for _, path := range system.Paths {
		info, err := os.Lstat(path)
		if err != nil {
			continue
		}
		if to, err := os.Readlink(path); err == nil && info.Mode()&fs.ModeSymlink != 0 && !strings.HasPrefix(path, "/etc/") {
			out = append(out, "--symlink", to, path)
			continue
		}
		out = append(out, "--ro-bind-try", path, path)
	}
	out = append(out, "--proc", "/proc", "--dev", "/dev")
	// Settings of the kernel belong to whoever is root outside, by name alone.
	for _, path := range kernel {
		out = append(out, "--ro-bind-try", path, path)
	}
	return out
}
