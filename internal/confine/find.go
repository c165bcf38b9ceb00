package confine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"conclave/internal/policy"
)

// How a path is gone along.
type how int

const (
	follow how = 1 << iota // the last component too, if it is a link
	create                 // folders on the way that are not there
)

// maxLinks is how many links a path may lead over.
const maxLinks = 40

// A spot is where a path leads: a name in an open folder.
type spot struct {
	mount *mount
	abs   string   // without links
	dir   *os.Root // the folder it is in
	base  string   // its name there; "." is the mount itself
	marks []mark   // of the mount, when it was found
	owned bool     // dir is to be closed
}

func (s *spot) close() {
	if s.owned {
		s.dir.Close() // nothing was written through it
	}
}

// find goes to a path. It need not exist, but the folder that it is in must.
func (r *Root) find(path string, a policy.Access, h how) (*spot, error) {
	abs, err := r.Abs(path)
	if err != nil {
		return nil, err
	}
	var home *mount
	now := r.now.Load()
	for range maxLinks {
		if v := now.place.May(abs, a); v.Decision != policy.Allow {
			return nil, refused(abs, "%s", v.Reason)
		}
		given, rel, _ := now.place.Find(abs)
		m := now.mounts[given.Path]
		if home == nil {
			home = m
		} else if home != m {
			return nil, refused(path, "%s leads over a symbolic link from %s to %s. Use that path itself.", path, home.Path, abs)
		}
		s, next, err := r.walk(m, abs, rel, a, h)
		if err != nil {
			return nil, err
		}
		if next == "" {
			return s, nil
		}
		abs = next
	}
	return nil, refused(path, "%s leads over more than %d symbolic links.", path, maxLinks)
}

// walk goes to a path in a mount, and stops at the first link that is to be
// followed: next is where it leads.
func (r *Root) walk(m *mount, abs, rel string, a policy.Access, h how) (s *spot, next string, err error) {
	marks := r.marks(m)
	if m.file != "" {
		if rel != "." {
			return nil, "", refused(abs, "%s is a file: there is nothing in it.", m.Path)
		}
		return m.single(marks)
	}
	s = &spot{mount: m, abs: abs, dir: m.root, base: ".", marks: marks}
	if rel == "." {
		return s, "", nil
	}
	at := m.Path
	parts := strings.Split(rel, string(filepath.Separator))
	for i, part := range parts {
		last := i == len(parts)-1
		info, err := s.dir.Lstat(part)
		if last && (errors.Is(err, fs.ErrNotExist) || err == nil && (h&follow == 0 || info.Mode()&fs.ModeSymlink == 0)) {
			s.base = part
			if err == nil {
				err = trespass(marks, info, abs, a)
			} else {
				err = nil
			}
			if err != nil {
				s.close()
				return nil, "", err
			}
			return s, "", nil
		}
		if errors.Is(err, fs.ErrNotExist) && h&create != 0 {
			info, err = mkdir(s.dir, part)
		}
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			next, err := target(s.dir, at, part, parts[i+1:])
			s.close()
			return nil, next, err
		}
		if err == nil && !info.IsDir() {
			err = refused(abs, "%s is %s: there is nothing in it.", filepath.Join(at, part), named(info))
		}
		if err == nil {
			err = s.enter(part, a)
		}
		if err != nil {
			s.close()
			return nil, "", err
		}
		at = filepath.Join(at, part)
	}
	return s, "", nil
}

func named(info fs.FileInfo) string {
	if info.Mode().IsRegular() {
		return "a file"
	}
	return kind(info.Mode())
}

func mkdir(dir *os.Root, name string) (fs.FileInfo, error) {
	if err := dir.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return dir.Lstat(name)
}

// single is the spot of a mount that is a file.
func (m *mount) single(marks []mark) (*spot, string, error) {
	info, err := m.root.Lstat(m.file)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		err = refused(m.Path, "%s is a symbolic link now. It cannot be used.", m.Path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, "", err
	}
	return &spot{mount: m, abs: m.Path, dir: m.root, base: m.file, marks: marks}, "", nil
}

// target is where a link in the folder at leads, with the rest of the path.
func target(dir *os.Root, at, name string, rest []string) (string, error) {
	to, err := dir.Readlink(name)
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(at, to)
	}
	return filepath.Join(append([]string{to}, rest...)...), nil
}

// enter goes into a folder.
func (s *spot) enter(name string, a policy.Access) error {
	sub, err := openDir(s.dir, name, s.abs)
	if err != nil {
		return err
	}
	info, err := sub.Stat(".")
	if err == nil {
		err = trespass(s.marks, info, s.abs, a)
	}
	if err != nil {
		sub.Close() // the first error tells
		return err
	}
	s.close()
	s.dir, s.owned = sub, true
	return nil
}

// openDir opens a folder that is not a link. Should a link be put there at this
// moment, what was opened is not what is there.
func openDir(dir *os.Root, name, abs string) (*os.Root, error) {
	if name == "." {
		return dir.OpenRoot(name)
	}
	before, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.IsDir() {
		return nil, refused(abs, "%s is %s, not a folder.", abs, named(before))
	}
	sub, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	info, err := sub.Stat(".")
	if err == nil && !os.SameFile(info, before) {
		err = swapped(abs)
	}
	if err != nil {
		sub.Close() // the first error tells
		return nil, err
	}
	return sub, nil
}

// swapped is what came of a path that became another while it was opened.
func swapped(abs string) error {
	return refused(abs, "%s was replaced by something else at this moment. Try again.", abs)
}

// A mark is the identity of something that must not be reached by another name.
type mark struct {
	info  fs.FileInfo
	path  string
	reads bool // it may be read
}

// marks are what is protected and hidden in a mount, and the other mounts.
func (r *Root) marks(m *mount) []mark {
	var out []mark
	add := func(rel string, reads bool) {
		if filepath.IsAbs(rel) {
			if in, err := filepath.Rel(m.Path, rel); err == nil {
				rel = in
			}
		}
		if info, err := m.root.Stat(rel); err == nil && rel != "." {
			out = append(out, mark{info, filepath.Join(m.Path, rel), reads})
		}
	}
	if m.file == "" {
		for _, p := range append(policy.GuardedNames(), m.Protected...) {
			add(p, true)
		}
		for _, p := range m.Hidden {
			add(p, false)
		}
	}
	for _, o := range r.now.Load().mounts {
		name := "."
		if o.file != "" {
			name = o.file
		}
		if info, err := o.root.Stat(name); err == nil && o != m {
			out = append(out, mark{info, o.Path, false})
		}
	}
	return out
}

// trespass refuses what is marked. By its own name it never comes here.
func trespass(marks []mark, info fs.FileInfo, abs string, a policy.Access) error {
	for _, k := range marks {
		if !os.SameFile(k.info, info) || k.reads && a == policy.ToRead {
			continue
		}
		if k.reads {
			return refused(abs, "%s leads to %s, which is protected and stays as it is.", abs, k.path)
		}
		return refused(abs, "%s leads into another place under another name. It cannot be reached this way.", abs)
	}
	return nil
}
