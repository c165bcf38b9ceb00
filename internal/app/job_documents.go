package app

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/policy"
)

// Limits of what a job is given.
const (
	maxDocuments    = 2000
	maxDocument     = 64 << 20
	maxAllDocuments = 512 << 20
	maxDocumentName = 200 // bytes, of one part of a path
)

// documents copies what a job is given into a folder. What is copied is what was
// named and nothing that a link leads to from there.
type documents struct {
	into  *os.Root
	taken map[string]bool // by their names without regard to case
	all   []event.Document
	size  int64
}

// gather copies files, folders and uploads into dir, which it makes.
func (a *App) gather(dir string, paths []string, uploads []control.Upload) ([]event.Document, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make room for documents: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("make room for documents: %w", err)
	}
	defer root.Close()
	d := &documents{into: root, taken: map[string]bool{}}
	for _, p := range paths {
		if err := d.path(a, p); err != nil {
			return nil, err
		}
	}
	for _, u := range uploads {
		f, err := u.Open()
		if err != nil {
			return nil, control.Usagef("the document %s cannot be read: %w", u.Name, err)
		}
		err = errors.Join(d.copy(u.Name, f), f.Close())
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(d.all, func(x, y event.Document) int { return strings.Compare(x.Path, y.Path) })
	return d.all, nil
}

// path copies a file or a folder of the user's.
func (d *documents) path(a *App, typed string) error {
	abs, there := a.resolve(typed)
	if !there {
		return control.Usagef("the document %s does not exist; paths begin in %s", typed, a.dir)
	}
	real, err := a.real(abs)
	if err != nil {
		return err
	}
	if err := a.allowed([]event.ContextPath{{Path: real}}); err != nil {
		return err
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return control.Usagef("the document %s cannot be read: %w", typed, err)
	case info.IsDir():
		return d.folder(real, filepath.Base(abs))
	}
	folder, err := os.OpenRoot(filepath.Dir(real))
	if err != nil {
		return control.Usagef("the document %s cannot be read: %w", typed, err)
	}
	defer folder.Close()
	return d.file(folder, filepath.Base(real), filepath.Base(abs))
}

// folder copies all files of a folder, under its name.
func (d *documents) folder(dir, name string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return control.Usagef("the documents in %s cannot be read: %w", dir, err)
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return control.Usagef("the documents in %s cannot be read: %w", dir, err)
		case e.IsDir() && p != "." && policy.Guarded(e.Name()):
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		return d.file(root, p, path.Join(name, p))
	})
}

// file copies one file. A link counts as the file it leads to if that is in the
// same folder.
func (d *documents) file(root *os.Root, from, as string) error {
	info, err := root.Stat(from) // before it is opened: a pipe would wait
	switch {
	case err != nil:
		return control.Usagef("the document %s cannot be read: %w\nLinks that lead out of what was named are not followed; name what they lead to as well", filepath.Join(root.Name(), from), err)
	case info.IsDir():
		return nil // a link to a folder, which is met by its own name
	case !info.Mode().IsRegular():
		return control.Usagef("the document %s is neither a file nor a folder", filepath.Join(root.Name(), from))
	}
	f, err := root.Open(from)
	if err != nil {
		return control.Usagef("the document %s cannot be read: %w", filepath.Join(root.Name(), from), err)
	}
	defer f.Close()
	return d.copy(as, f)
}

// copy takes in one document under a name that is clean and its own.
func (d *documents) copy(name string, from io.Reader) error {
	if len(d.all) == maxDocuments {
		return control.Usagef("a job takes at most %d documents; name fewer, or give the folder as a datasource: --datasource dir:PATH", maxDocuments)
	}
	name, err := d.name(name)
	if err != nil {
		return err
	}
	if err := d.into.MkdirAll(path.Dir(name), 0o755); err != nil {
		return fmt.Errorf("copy the document %s: %w", name, err)
	}
	f, err := d.into.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("copy the document %s: %w", name, err)
	}
	sum := sha256.New()
	most := min(maxDocument, maxAllDocuments-d.size)
	n, err := io.Copy(io.MultiWriter(f, sum), io.LimitReader(from, most+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("copy the document %s: %w", name, err)
	}
	switch {
	case n > maxDocument:
		return control.Usagef("the document %s is larger than %d MiB; give it as a datasource, or a part of it", name, maxDocument>>20)
	case n > most:
		return control.Usagef("the documents are larger than %d MiB together; name fewer, or give a folder as a datasource: --datasource dir:PATH", maxAllDocuments>>20)
	}
	d.size += n
	d.all = append(d.all, event.Document{Path: name, Size: n, Hash: event.Hash(hex.EncodeToString(sum.Sum(nil)))})
	return nil
}

// name is a name as a document can have it, that no other has.
func (d *documents) name(as string) (string, error) {
	var parts []string
	for part := range strings.SplitSeq(strings.ReplaceAll(as, `\`, "/"), "/") {
		if part = cleanName(part); part != "" {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return "", control.Usagef("a document has no name that can be used: %q", as)
	}
	name := strings.Join(parts, "/")
	ext := path.Ext(name)
	for base, n := strings.TrimSuffix(name, ext), 2; d.taken[strings.ToLower(name)]; n++ {
		name = fmt.Sprintf("%s (%d)%s", base, n, ext)
	}
	d.taken[strings.ToLower(name)] = true
	return name, nil
}

// cleanName is a part of a path without what file systems, terminals and version
// control take for something else.
func cleanName(part string) string {
	part = strings.Map(func(r rune) rune {
		switch {
		case r == unicode.ReplacementChar, unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		case strings.ContainsRune(`<>:"|?*`, r):
			return '_'
		}
		return r
	}, strings.ToValidUTF8(part, "_"))
	part = strings.TrimRight(strings.TrimSpace(part), ". ")
	if policy.Guarded(part) {
		part = "_" + part
	}
	for len(part) > maxDocumentName { // by whole characters
		_, size := utf8.DecodeLastRuneInString(part)
		part = part[:len(part)-size]
	}
	return part
}
