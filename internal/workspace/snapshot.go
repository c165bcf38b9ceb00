package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Snapshot keeps the workspace as it is and returns the id of its content: the
// same content has the same id, and costs no more than looking at every file.
// What says in a few words what the snapshot is of.
//
// A [*TooLargeError] and a full disk leave the snapshots that were there before.
func (t *Tree) Snapshot(ctx context.Context, what string) (id string, err error) {
	done, err := t.begin(ctx)
	if err != nil {
		return "", fmt.Errorf("take a snapshot of %s: %w", t.label, err)
	}
	defer func() { err = errors.Join(err, done()) }()
	base, err := t.base(ctx)
	if err != nil {
		return "", fmt.Errorf("take a snapshot of %s: %w", t.label, err)
	}
	id, err = t.snapshot(ctx, what, base)
	if err != nil && base != "" && (errors.Is(err, errDamaged) || errors.Is(err, errBase)) {
		// What the last snapshot left here is of no use: read everything.
		id, err = t.snapshot(ctx, what, "")
	}
	if err != nil {
		return "", fmt.Errorf("take a snapshot of %s: %w", t.label, err)
	}
	return id, nil
}

// errBase is a checkout of which parts have disappeared.
var errBase = errors.New("the last snapshot is incomplete")

func (t *Tree) snapshot(ctx context.Context, what, base string) (string, error) {
	s, err := t.scan(ctx, base)
	if err != nil {
		return "", err
	}
	defer s.close()
	t.run.step("scanned")
	id := s.tree.String()
	if id != base {
		if err := t.publish(ctx, s, what); err != nil {
			return "", err
		}
	}
	if s.touched {
		if err := t.keep(id, s.list); err != nil {
			return "", err
		}
	}
	if id != base {
		t.refresh(ctx, id)
		t.run.step("refreshed")
	}
	return id, nil
}

// A scan is what was found in a workspace.
type scan struct {
	base    string // the id of the tree that it is compared with, or empty
	draft   *draft // holds the files that are not as they were
	list    string // the entries of all files
	changes string // of those that changed; gone ones have no kind
	fresh   int    // how many changed
	touched bool   // something about some file is not as it was
	tree    sum
	left    leftOut
}

func (s *scan) close() {
	s.draft.close()
	for _, name := range []string{s.list, s.changes} {
		os.Remove(name) // gone if it was kept
	}
}

// leftOut names what a snapshot does not hold.
type leftOut struct {
	names []string
	more  int
}

func (l *leftOut) add(p string) error {
	if len(l.names) < 20 {
		l.names = append(l.names, p)
	} else {
		l.more++
	}
	return nil
}

// message is the text of the commit.
func (s *scan) message(what string) string {
	text := strings.ToValidUTF8(strings.ReplaceAll(what, "\x00", ""), "?")
	if len(s.left.names) == 0 {
		return text
	}
	text += "\n\nLeft out:\n"
	for _, n := range s.left.names {
		text += "  " + shown(n) + "\n"
	}
	if s.left.more > 0 {
		text += fmt.Sprintf("  and %d more\n", s.left.more)
	}
	return text
}

// A scanner fills a scan.
type scanner struct {
	*scan
	was     *listReader // nil without a base
	hash    treeHash
	all     *listWriter
	changed *listWriter
}

// scan looks at every file of the workspace and copies those that are not surely
// as they were in the base.
func (t *Tree) scan(ctx context.Context, base string) (_ *scan, err error) {
	s := scanner{scan: &scan{base: base, touched: base == ""}}
	root, err := t.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if base != "" {
		if s.was, err = t.openList(base); err != nil {
			return nil, err
		}
		defer s.was.close()
	}
	if s.draft, err = t.newDraft(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.all, err = newList(t.state); err != nil {
		return nil, err
	}
	s.list = s.all.file.Name()
	if s.changed, err = newList(t.state); err != nil {
		return nil, err
	}
	s.changes = s.changed.file.Name()
	before, err := s.all.clock()
	if err != nil {
		return nil, err
	}
	w := walk{file: s.file, skip: ownGit, made: true, left: s.left.add, force: true, before: before, limits: t.run.limits}
	if err := errors.Join(w.run(ctx, root), s.end()); err != nil {
		return nil, err
	}
	return s.scan, nil
}

// ownGit skips the git directory of a workspace.
func ownGit(path string, _ bool) bool { return path == gitDir }

// file takes one file in.
func (s *scanner) file(f found) error {
	e, old, err := f.entry, entry{}, error(nil)
	if s.was != nil {
		if old, _, err = s.was.upTo(e.path, s.gone); err != nil {
			return err
		}
	}
	asBefore := e.same(old)
	if asBefore {
		e.sum = old.sum
	} else if e, err = s.draft.put(f); errors.Is(err, errGone) && old.kind != 0 {
		return s.gone(old)
	} else if err != nil {
		return err
	}
	s.touched = s.touched || !asBefore
	switch {
	case e.kind != old.kind || e.sum != old.sum:
		s.fresh++
		err = s.changed.add(e)
	case !asBefore: // touched, and no more
		err = s.draft.remove(e.path)
	}
	s.hash.add(e)
	return errors.Join(err, s.all.add(e))
}

// gone takes in that a file of the base is not there any more.
func (s *scanner) gone(e entry) error {
	s.touched = true
	return s.changed.add(entry{path: e.path})
}

func (s *scanner) end() error {
	var err error
	if s.was != nil {
		err = s.was.rest(s.gone)
	}
	_, err1 := s.all.end()
	_, err2 := s.changed.end()
	s.tree = s.hash.sum()
	return errors.Join(err, err1, err2)
}

// few is up to how many files are made durable one by one.
const few = 32

// publish records the tree in git and gives its checkout its name.
func (t *Tree) publish(ctx context.Context, s *scan, what string) error {
	if s.base != "" {
		if err := s.draft.share(ctx, t.checkout(s.base), s.list, s.changes); err != nil {
			return err
		}
		t.run.step("linked")
	}
	if err := t.record(ctx, s, what); err != nil {
		return fmt.Errorf("record it: %w", err)
	}
	t.run.step("recorded")
	if s.fresh > few {
		if err := flush(s.draft.dir); err != nil {
			return err
		}
	}
	if err := t.settle(ctx, s.tree.String(), s.draft); err != nil {
		return err
	}
	t.run.step("published")
	return nil
}

// record commits the scanned tree. A git directory that does not work is made
// anew, with all of the tree in it: a full disk and an impatient caller are no
// reason to.
func (t *Tree) record(ctx context.Context, s *scan, what string) error {
	if err := t.guard(); err != nil {
		return err
	}
	c := commit{message: s.message(what), base: s.base, list: s.changes, files: s.draft.dir, tree: s.tree, sync: s.fresh <= few}
	err := t.archive(ctx, c)
	if _, exit := errors.AsType[*exec.ExitError](err); !exit && !errors.Is(err, errOther) {
		return err
	}
	if rerr := t.renew(); rerr != nil {
		return errors.Join(err, rerr)
	}
	t.run.step("renewed")
	c.base, c.list = "", s.list
	return t.archive(ctx, c)
}

// Lists of snapshots are kept by id; the head names the one that the workspace
// was last known to be like.

func (t *Tree) listName(id string) string { return filepath.Join(t.state, id+".list") }

func (t *Tree) openList(id string) (*listReader, error) {
	return openList(t.listName(id))
}

// keep makes list, a file, the list of the snapshot id and id the head.
func (t *Tree) keep(id, list string) error {
	if err := os.Rename(list, t.listName(id)); err != nil {
		return err
	}
	t.run.step("listed")
	return t.setHead(id)
}

func (t *Tree) setHead(id string) error {
	name := filepath.Join(t.state, "head")
	if got, err := os.ReadFile(name); err == nil && string(got) == id {
		return nil
	}
	return replaceFile(name, []byte(id))
}

// base is the snapshot that the workspace was last like, if it is of use to
// compare with.
func (t *Tree) base(ctx context.Context) (string, error) {
	got, err := os.ReadFile(filepath.Join(t.state, "head"))
	if id := string(got); err == nil && validID(id) {
		if ok, err := t.whole(ctx, id); ok || err != nil {
			return id, err
		}
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return "", nil
}
