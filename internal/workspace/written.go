package workspace

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"conclave/internal/event"
)

const (
	// mostInline is how many changes a fact carries; see the list for the rest.
	mostInline = 100
	// mostRead is how many a person reads without a list.
	mostRead = 5
)

// Written compares the context paths with the baseline. A file counts if its
// content is another one, or it came into being or disappeared; a file that was
// moved did both. Turn is for the caller to fill in.
//
// Where more than five files changed, all are listed in context_path_writes.txt,
// the file named by List.
func (r *Run) Written(ctx context.Context) (event.Written, error) {
	r.watching.Lock()
	defer r.watching.Unlock()
	w, err := r.written(ctx)
	if err != nil {
		return event.Written{}, fmt.Errorf("find what was written: %w", err)
	}
	return w, nil
}

func (r *Run) written(ctx context.Context) (event.Written, error) {
	dir := filepath.Join(r.dir, baselineDir)
	text, err := os.ReadFile(filepath.Join(dir, "paths.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return event.Written{}, errors.New("the state of the context paths before was not remembered")
	}
	if err != nil {
		return event.Written{}, err
	}
	var ws []watched
	if err := json.Unmarshal(text, &ws); err != nil {
		return event.Written{}, err
	}
	rep, err := r.newReport()
	if err != nil {
		return event.Written{}, err
	}
	for i, w := range ws {
		if err := w.changes(ctx, listOf(dir, i), rep.add); err != nil {
			return event.Written{}, errors.Join(fmt.Errorf("%s: %w", w.Path, err), rep.drop())
		}
	}
	return rep.end()
}

// changes calls do for every change since the baseline, in order.
func (w watched) changes(ctx context.Context, list string, do func(event.Change) error) error {
	was, err := openList(list)
	if err != nil {
		return err
	}
	defer was.close()
	say := func(p, what string) error {
		return do(event.Change{Path: shown(filepath.Join(w.Path, filepath.FromSlash(p))), Kind: what})
	}
	gone := func(e entry) error { return say(e.path, event.ChangeDeleted) }
	err = w.files(ctx, func(f found) error {
		old, ok, err := was.upTo(f.path, gone)
		switch {
		case err != nil:
			return err
		case !ok:
			return say(f.path, event.ChangeNew)
		case f.changed(old):
			return say(f.path, event.ChangeModified)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return was.rest(gone)
}

// changed reports whether a file has another content than before. The stat says
// that it has not, the hash decides when the stat differs, and without a hash
// the stat is all there is.
func (f found) changed(old entry) bool {
	if f.same(old) {
		return false
	}
	if (f.kind == symlink) != (old.kind == symlink) || f.size != old.size {
		return true
	}
	if old.sum == (sum{}) {
		return f.mtime != old.mtime || f.ctime != old.ctime
	}
	e, err := f.take(io.Discard, func() error { return nil })
	return err != nil || e.sum != old.sum
}

// A report gathers changes.
type report struct {
	dir  string
	file *os.File
	buf  *bufio.Writer
	w    event.Written
}

func (r *Run) newReport() (*report, error) {
	// One name: what a killed process has left is written over.
	f, err := os.Create(filepath.Join(r.dir, stateDir, temporary+"written"))
	if err != nil {
		return nil, err
	}
	return &report{dir: r.dir, file: f, buf: bufio.NewWriter(f)}, nil
}

func (r *report) add(c event.Change) error {
	r.w.Total++
	if len(r.w.Changes) < mostInline {
		r.w.Changes = append(r.w.Changes, c)
	}
	_, err := fmt.Fprintf(r.buf, "%-8s  %s\n", c.Kind, c.Path)
	return err
}

// end puts the list in its place, if there is need for one.
func (r *report) end() (event.Written, error) {
	slices.SortFunc(r.w.Changes, func(a, b event.Change) int { return strings.Compare(a.Path, b.Path) })
	name := filepath.Join(r.dir, writtenFile)
	if r.w.Total <= mostRead {
		err := os.Remove(name) // of an earlier turn
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return r.w, errors.Join(err, r.drop())
	}
	r.w.List = name
	err := errors.Join(r.buf.Flush(), r.file.Chmod(0o644), r.file.Sync(), r.file.Close())
	if err == nil {
		err = os.Rename(r.file.Name(), name)
	}
	if err != nil {
		return event.Written{}, errors.Join(err, os.Remove(r.file.Name()))
	}
	return r.w, syncDir(r.dir)
}

func (r *report) drop() error { return errors.Join(r.file.Close(), os.Remove(r.file.Name())) }

// shown is a path for a person and for JSON: one that holds something else than
// text on one line is quoted.
func shown(p string) string {
	if utf8.ValidString(p) && !strings.ContainsFunc(p, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return p
	}
	return strconv.Quote(p)
}
