package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"conclave/internal/event"
)

// A Publication is a deliverable as it shall be.
type Publication struct {
	Path    string // below deliverables/
	Content io.Reader
	// Expect is the hash of what is there now, or at least its first twelve digits;
	// empty if nothing is.
	Expect event.Hash
	Run    event.FlowID // it came from, if any
	Note   string       // what is new
	By     string
}

// A Conflict is the error of publishing over something else than what was expected.
// Nothing was changed.
type Conflict struct {
	Path    string
	Expect  event.Hash
	Current event.Hash // empty: there is none
	Version int        // that it is; zero if it is none
}

func (c *Conflict) Error() string {
	switch {
	case c.Current == "":
		return fmt.Sprintf("there is no deliverable %s (any more), but a hash was expected. Nothing was changed. To publish it anew, expect none", c.Path)
	case c.Expect == "":
		return fmt.Sprintf("there is a deliverable %s already%s. Nothing was changed. Read it, bring both together, and publish again expecting the hash %s", c.Path, c.which(), c.Current)
	}
	return fmt.Sprintf("the deliverable %s is not the one that was expected: somebody has changed it since%s. Nothing was changed. Read it, bring both together, and publish again expecting the hash %s", c.Path, c.which(), c.Current)
}

func (c *Conflict) which() string {
	if c.Version == 0 {
		return ", by hand"
	}
	return fmt.Sprintf(" (it is version %d)", c.Version)
}

// Publish puts a deliverable in its place and keeps it as a version. If what is
// there is not what was expected the error is a *Conflict. Publishing what is there
// already changes nothing, so that it can be repeated; what somebody has written
// there by hand becomes a version before it is replaced.
func (s Store) Publish(ctx context.Context, name string, p Publication) (Version, error) {
	if err := CheckPath(p.Path); err != nil {
		return Version{}, err
	}
	if len(p.Note) > maxText || !utf8.ValidString(p.Note) {
		return Version{}, fmt.Errorf("the note is not text of at most %d bytes", maxText)
	}
	var v Version
	err := s.change(ctx, name, func(f *folder) (err error) {
		if v, err = f.publish(ctx, p); err != nil {
			return fmt.Errorf("publish %s in project %s: %w", p.Path, name, err)
		}
		return nil
	})
	return v, err
}

func (f *folder) publish(ctx context.Context, p Publication) (Version, error) {
	file := path.Join(deliverDir, p.Path)
	h, err := f.history(p.Path)
	if err != nil {
		return Version{}, err
	}
	if info, err := f.root.Lstat(file); err == nil && info.IsDir() {
		return Version{}, fmt.Errorf("%s is a folder; name a file", f.path(file))
	}
	current, size, err := f.hashFile(ctx, file)
	if err != nil {
		return Version{}, err
	}
	fresh, err := f.stage(ctx, p.Content, MaxSize)
	if err != nil {
		return Version{}, err
	}
	defer func() { _ = f.root.Remove(fresh.name) }()
	newest, any := h.newest()
	v := Version{At: f.store.now().UTC(), Hash: fresh.hash, Size: fresh.size, Run: p.Run, Note: p.Note, By: p.By}
	switch {
	case current == fresh.hash && any && newest.Hash == current:
		return newest, nil
	case current == fresh.hash: // also what a crash has cut off
	case !expected(p.Expect, current):
		return Version{}, &Conflict{Path: p.Path, Expect: p.Expect, Current: current, Version: which(h, current)}
	}
	if err := f.room(h, current == ""); err != nil {
		return Version{}, err
	}
	if current != "" && current != fresh.hash && (!any || newest.Hash != current) {
		if err := f.adopt(ctx, &h, file, current, size); err != nil {
			return Version{}, err
		}
	}
	if err := f.keep(ctx, fresh.name, fresh.hash); err != nil {
		return Version{}, err
	}
	if current != fresh.hash {
		if err := f.replace(ctx, fresh, file, current); err != nil {
			return Version{}, err
		}
	}
	return f.record(ctx, &h, v)
}

// replace puts what was staged in the place of what was there, unless somebody has
// edited that meanwhile.
func (f *folder) replace(ctx context.Context, fresh staged, file string, was event.Hash) error {
	if err := f.straight(path.Dir(file)); err != nil {
		return err
	}
	if err := f.mkdir(path.Dir(file)); err != nil {
		return err
	}
	if now, _, err := f.hashFile(ctx, file); err != nil || now != was {
		return cmp.Or(err, error(&Conflict{Path: strings.TrimPrefix(file, deliverDir+"/"), Expect: was, Current: now}))
	}
	return f.place(fresh, file)
}

// adopt makes a version of what somebody has put there by hand.
func (f *folder) adopt(ctx context.Context, h *history, file string, hash event.Hash, size int64) error {
	if err := f.keep(ctx, file, hash); err != nil {
		return err
	}
	_, err := f.record(ctx, h, Version{At: f.store.now().UTC(), Hash: hash, Size: size, Note: "edited by hand"})
	return err
}

// room is what is wrong with one version more, if anything.
func (f *folder) room(h history, fresh bool) error {
	if len(h.Versions)+2 > MaxVersions {
		return fmt.Errorf("it has %d versions, and %d is the most; publish it under another name", len(h.Versions), MaxVersions)
	}
	if !fresh || len(h.Versions) > 0 {
		return nil
	}
	entries, err := fs.ReadDir(f.root.FS(), path.Join(versionsDir, "index"))
	if err == nil && len(entries) >= MaxDeliverables {
		return fmt.Errorf("the project has %d deliverables, which is the most; begin another project", len(entries))
	}
	return nil
}

// expected reports whether a hash is the one that somebody expects.
func expected(want, have event.Hash) bool {
	if want == "" || have == "" {
		return want == have
	}
	return len(want) >= 12 && strings.HasPrefix(string(have), strings.ToLower(string(want)))
}

// which is the newest version with a hash.
func which(h history, hash event.Hash) int {
	for _, v := range slices.Backward(h.Versions) {
		if v.Hash == hash {
			return v.N
		}
	}
	return 0
}

// deliverables are the files there are and those that are gone. Unless it is
// thorough, a file that looks as it was published is not read.
func (f *folder) deliverables(ctx context.Context, thorough bool) (out []Deliverable, problems []error) {
	found := map[string]bool{}
	walk := func(name string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			problems = append(problems, fmt.Errorf("%s cannot be read: %w", f.path(name), err))
			return nil
		case e.IsDir():
			return ctx.Err()
		case len(out) == MaxDeliverables:
			problems = append(problems, fmt.Errorf("%s: only %d files were read", f.path(deliverDir), MaxDeliverables))
			return fs.SkipAll
		}
		at := strings.TrimPrefix(name, deliverDir+"/")
		if name == deliverDir {
			problems = append(problems, fmt.Errorf("%s is not a folder; move it away", f.path(name)))
			return nil
		}
		d, err := f.deliverable(ctx, at, thorough)
		if err != nil {
			problems = append(problems, err)
		}
		if found[at] = true; d.Path != "" {
			out = append(out, d)
		}
		return nil
	}
	if err := fs.WalkDir(f.root.FS(), deliverDir, walk); err != nil {
		problems = append(problems, err)
	}
	entries, _ := fs.ReadDir(f.root.FS(), path.Join(versionsDir, "index"))
	for _, e := range entries {
		h, err := f.index(path.Join(versionsDir, "index", e.Name()))
		switch newest, any := h.newest(); {
		case err != nil:
			problems = append(problems, err)
		case any && !found[h.Path]:
			slices.Reverse(h.Versions)
			out = append(out, Deliverable{Path: h.Path, Hash: newest.Hash, Size: newest.Size, Missing: true, Versions: h.Versions})
		}
	}
	slices.SortFunc(out, func(a, b Deliverable) int { return cmp.Compare(a.Path, b.Path) })
	return out, problems
}

// deliverable is one that is there. One without a path is none.
func (f *folder) deliverable(ctx context.Context, at string, thorough bool) (Deliverable, error) {
	if err := CheckPath(at); err != nil {
		return Deliverable{}, err
	}
	name := path.Join(deliverDir, at)
	file, info, err := f.openFile(name)
	if err != nil {
		return Deliverable{}, err
	}
	defer file.Close()
	d := Deliverable{Path: at, Size: info.Size()}
	h, _ := f.history(at) // what is wrong with it is told where the indexes are read
	newest, any := h.newest()
	if !thorough && any && newest.Size == info.Size() && !info.ModTime().After(newest.At) {
		d.Hash = newest.Hash
	} else if d.Hash, d.Size, err = sum(ctx, file, MaxSize, io.Discard); err != nil {
		err = fmt.Errorf("%s: %w", f.path(name), err)
	}
	d.Edited = any && newest.Hash != d.Hash
	slices.Reverse(h.Versions)
	d.Versions = h.Versions
	return d, err
}
