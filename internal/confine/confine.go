// Package confine opens a [policy.Place] on disk, for tools that act on files on
// behalf of an agent.
//
// Every method of a [Root] takes a path as the model wrote it, asks policy about
// it and then goes to it through handles: from the mount's own handle, which is
// held from the beginning, component by component, each opened in the folder
// before it. A path is never checked as a name and then used as a name, so it
// does not matter what others do to the tree meanwhile: an agent's own commands
// may swap a folder for a link at any moment.
//
// A symbolic link is followed only where it leads to the same mount, and what it
// leads to is judged like any other path. What must stay as it is, or must not
// be seen, is known by identity besides: another name for it is refused too. A
// file with more than one name is not changed, for the other name may lie
// anywhere; and nothing but regular files and folders is ever opened.
//
// What is refused is a [*Refused], in a sentence for the model. Other errors are
// those of package os.
package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"conclave/internal/policy"
)

// A Root is an open place. It may be used concurrently.
type Root struct {
	now atomic.Pointer[opened] // replaced as a whole
}

// opened is a place and its open mounts, by their paths.
type opened struct {
	place  policy.Place
	mounts map[string]*mount
}

// A mount is an open mount: a folder, or one file in its folder.
type mount struct {
	policy.Mount
	root *os.Root
	file string // the name of the one file, in root
}

// A Refused path, and why, in sentences for the model.
type Refused struct {
	Path   string
	Reason string
}

func (r *Refused) Error() string { return r.Reason }

func refused(path, format string, args ...any) error {
	return &Refused{Path: path, Reason: fmt.Sprintf(format, args...)}
}

// Open opens every mount of a place. All of them have to be there.
func Open(p policy.Place) (*Root, error) {
	r, o := &Root{}, &opened{place: p, mounts: map[string]*mount{}}
	r.now.Store(o)
	var all []error
	for _, m := range p.Mounts {
		if !filepath.IsAbs(m.Path) || filepath.Clean(m.Path) != m.Path {
			all = append(all, fmt.Errorf("the path %q is not absolute and clean", m.Path))
			continue
		}
		if o.mounts[m.Path] != nil {
			all = append(all, fmt.Errorf("the path %s is given twice", m.Path))
			continue
		}
		open, err := openMount(m)
		if err != nil {
			all = append(all, err)
			continue
		}
		o.mounts[m.Path] = open
	}
	if err := errors.Join(all...); err != nil {
		return nil, errors.Join(fmt.Errorf("open the places of an agent: %w", err), r.Close())
	}
	return r, nil
}

func openMount(m policy.Mount) (*mount, error) {
	info, err := os.Stat(m.Path)
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir():
		root, err := os.OpenRoot(m.Path)
		return &mount{Mount: m, root: root}, err
	case info.Mode().IsRegular():
		dir, err := os.OpenRoot(filepath.Dir(m.Path))
		return &mount{Mount: m, root: dir, file: filepath.Base(m.Path)}, err
	}
	return nil, fmt.Errorf("%s is neither a file nor a folder", m.Path)
}

// Close gives the handles back.
func (r *Root) Close() error {
	var all []error
	for _, m := range r.now.Load().mounts {
		all = append(all, m.root.Close())
	}
	return errors.Join(all...)
}

// Place is what the root was opened for.
func (r *Root) Place() policy.Place { return r.now.Load().place }

// Mount adds a mount to the place. One that is there already stays as it is. It
// is not to be called while another Mount or Close is going on.
func (r *Root) Mount(m policy.Mount) error {
	now := r.now.Load()
	if now.mounts[m.Path] != nil {
		return nil
	}
	open, err := openMount(m)
	if err != nil {
		return fmt.Errorf("open one more place of an agent: %w", err)
	}
	next := &opened{place: now.place, mounts: maps.Clone(now.mounts)}
	next.place.Mounts = append(slices.Clip(now.place.Mounts), m)
	next.mounts[m.Path] = open
	r.now.Store(next)
	return nil
}

// Abs is a path as a model wrote it, absolute and clean.
func (r *Root) Abs(path string) (string, error) {
	abs, err := r.now.Load().place.Abs(path)
	if err != nil {
		return "", refused(path, "%s.", sentence(err))
	}
	return abs, nil
}

// Real is where a path leads when its links are followed, as far as it exists.
// It is for saying what will be done: by the time it is, it may be elsewhere.
func (r *Root) Real(path string) (string, error) {
	s, err := r.find(path, policy.ToRead, follow)
	if err != nil {
		return "", err
	}
	defer s.close()
	return s.abs, nil
}

// sentence is an error with a capital.
func sentence(err error) string {
	s := err.Error()
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		s = string(s[0]-'a'+'A') + s[1:]
	}
	return s
}

// regular refuses what is not a regular file: it is not even opened.
func regular(abs string, info fs.FileInfo) error {
	switch m := info.Mode(); {
	case m.IsRegular():
		return nil
	case m.IsDir():
		return refused(abs, "%s is a folder, not a file.", abs)
	default:
		return refused(abs, "%s is %s, not a regular file. It cannot be used.", abs, kind(m))
	}
}

func kind(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	case m.IsDir():
		return "a folder"
	}
	return "something else"
}
