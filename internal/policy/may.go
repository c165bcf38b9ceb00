package policy

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
)

// An Access is what is to be done with a path.
type Access int

const (
	ToRead   Access = iota // look at it
	ToWrite                // make it, or change what is in it
	ToDelete               // take it away, by deleting or by renaming
)

// MaxPath is the longest path there can be, in bytes.
const MaxPath = 4096

// Abs is a path as a model wrote it, absolute and clean. What is wrong with one
// that cannot be used is said in a sentence.
func (p Place) Abs(path string) (string, error) {
	switch {
	case path == "":
		return "", fmt.Errorf("the path is empty; name a file or folder, or . for the workspace")
	case len(path) > MaxPath:
		return "", fmt.Errorf("the path is %d bytes long; %d is the most", len(path), MaxPath)
	case strings.ContainsRune(path, 0):
		return "", fmt.Errorf("the path %q has a NUL character in it; leave it out", path)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.Dir, path)
	}
	return filepath.Clean(path), nil
}

// Find is the mount that decides about an absolute path and where the path lies
// in it ("." is the mount itself). There is none for what is outside of every
// mount or hidden.
func (p Place) Find(path string) (m Mount, rel string, ok bool) {
	path = filepath.Clean(path)
	for _, c := range p.Mounts {
		// Of two mounts around one path the longer name is the inner one.
		if r, in := below(c.Path, path); in && (!ok || len(c.Path) >= len(m.Path)) {
			m, rel, ok = c, r, true
		}
	}
	if !ok || m.lists(m.Hidden, rel) {
		return Mount{}, "", false
	}
	return m, rel, true
}

// May judges an access by the names alone. The reason of a refusal says what to
// do instead.
func (p Place) May(path string, a Access) Verdict {
	abs, err := p.Abs(path)
	if err != nil {
		return denied("%s.", upper(err.Error()))
	}
	m, rel, ok := p.Find(abs)
	switch {
	case !ok:
		return denied("%s is not among the places you can reach. %s", abs, p.reach())
	case a == ToRead:
		return Verdict{Decision: Allow}
	case !m.Write:
		return denied("%s is read-only here. %s", abs, p.writable())
	case m.Guards(rel):
		return denied("%s is protected and stays as it is. Leave it alone, or work on a copy in %s.", abs, p.Dir)
	case a == ToDelete:
		return p.mayDelete(abs, m)
	}
	return Verdict{Decision: Allow}
}

// mayDelete spares whatever has something inside that must stay.
func (p Place) mayDelete(abs string, m Mount) Verdict {
	for _, c := range p.Mounts {
		if c.Path == abs {
			return denied("%s is one of the places you were given and stays. You may delete what is in it.", abs)
		}
		if _, in := below(abs, c.Path); in {
			return denied("%s stays, because %s inside it does. Delete single files instead.", abs, c.Path)
		}
	}
	for _, kept := range append(append([]string{}, m.Protected...), m.Hidden...) {
		if _, in := foldBelow(abs, m.abs(kept)); in {
			return denied("%s stays, because a part of it is protected. Delete single files instead.", abs)
		}
	}
	return Verdict{Decision: Allow}
}

// Guards reports whether a path inside a mount is kept from being changed: by
// the mount's own list, or because of its name.
func (m Mount) Guards(rel string) bool { return Guarded(rel) || m.lists(m.Protected, rel) }

// Guarded reports whether a path inside a mount lies in what every mount keeps
// from being changed: .git and .conclave directly inside it, by any name under
// which some file system would find them.
func Guarded(rel string) bool {
	first, _, _ := strings.Cut(filepath.ToSlash(filepath.Clean(rel)), "/")
	name := plainName(first)
	return name == ".git" || name == ".conclave" || name == "git~1" || name == "concla~1"
}

// GuardedNames are the names that are guarded directly inside every mount.
func GuardedNames() []string { return []string{".git", ".conclave"} }

// plainName is a file name as the most forgiving file systems see it: case does
// not count, nor do characters without a width, dots and spaces at the end, or
// what follows a colon.
func plainName(name string) string {
	name, _, _ = strings.Cut(name, ":")
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) {
			return -1
		}
		return folded(r)
	}, name)
	return strings.TrimRight(name, ". ")
}

// folded is the smallest of the characters that differ from r by case alone.
func folded(r rune) rune {
	least := r
	for c := unicode.SimpleFold(r); c != r; c = unicode.SimpleFold(c) {
		least = min(least, c)
	}
	return unicode.ToLower(least)
}

// lists reports whether a path inside the mount is, or is inside, one of a list.
// Case does not count: a name that differs by it may be the same file.
func (m Mount) lists(list []string, rel string) bool {
	abs := filepath.Join(m.Path, rel)
	for _, l := range list {
		if _, in := foldBelow(m.abs(l), abs); in {
			return true
		}
	}
	return false
}

// abs is an entry of one of the mount's lists as an absolute path.
func (m Mount) abs(entry string) string {
	if filepath.IsAbs(entry) {
		return filepath.Clean(entry)
	}
	return filepath.Join(m.Path, entry)
}

// below is path relative to dir if it is dir or inside it, component by
// component: /a-evil is not in /a.
func below(dir, path string) (rel string, ok bool) {
	dir = filepath.Clean(dir)
	if path == dir {
		return ".", true
	}
	if !strings.HasSuffix(dir, string(filepath.Separator)) {
		dir += string(filepath.Separator)
	}
	return strings.CutPrefix(path, dir)
}

// foldBelow is below without regard to case.
func foldBelow(dir, path string) (rel string, ok bool) {
	return below(strings.Map(folded, dir), strings.Map(folded, path))
}

// reach lists what there is, for a model that looked elsewhere.
func (p Place) reach() string {
	var out []string
	for _, m := range p.Mounts {
		right := "read only"
		if m.Write {
			right = "read and write"
		}
		out = append(out, fmt.Sprintf("%s (%s)", m.Path, right))
	}
	return "You can reach: " + listed(out) + "."
}

func (p Place) writable() string {
	var out []string
	for _, m := range p.Mounts {
		if m.Write {
			out = append(out, m.Path)
		}
	}
	if len(out) == 0 {
		return "Nothing can be written now."
	}
	return "You can write in: " + listed(out) + "."
}

// maxListed is how many places a sentence names.
const maxListed = 12

func listed(words []string) string {
	if len(words) == 0 {
		return "nothing"
	}
	if more := len(words) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(words[:maxListed], ", "), more)
	}
	return strings.Join(words, ", ")
}

func denied(format string, args ...any) Verdict {
	return Verdict{Decision: Deny, Reason: fmt.Sprintf(format, args...)}
}

// upper begins a sentence.
func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
