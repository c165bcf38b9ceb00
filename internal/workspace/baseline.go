package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/internal/event"
)

// A watched path is a context path that may be written to.
type watched struct {
	Path string `json:"path"` // as it was given
	// Real is where it leads: the user's own links are followed, once.
	Real string `json:"real"`
	// File: it was a file; None: there was nothing.
	File bool `json:"file,omitempty"`
	None bool `json:"none,omitempty"`
	// Except are paths inside that are only read.
	Except []string `json:"except,omitempty"`
}

const (
	// small is up to which size the baseline knows the content of a file. Of
	// larger ones the stat decides.
	small = 1 << 20
	// mostHashed bounds what is read for it; after that, too, the stat decides.
	mostHashed = 1 << 30
	// grain is how coarse a file system's clock may be.
	grain = 2 * time.Second
)

// Baseline remembers what is in the context paths that may be written to, for
// [Run.Written] to compare with. It is taken once, before the first write: a
// second call keeps the first one's, also after a crash. What is in a folder
// called .git or .conclave is not remembered and no change in it is reported.
// Protected paths are watched like any others: should one change all the same,
// it is the first thing to know. Baseline and Written are for whoever drives the
// run.
func (r *Run) Baseline(ctx context.Context, paths []event.ContextPath) error {
	r.watching.Lock()
	defer r.watching.Unlock()
	dir := filepath.Join(r.dir, baselineDir)
	if _, err := os.Lstat(dir); err == nil {
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remember the state of the context paths: %w", err)
	}
	if err := r.baseline(ctx, dir, watch(paths)); err != nil {
		return fmt.Errorf("remember the state of the context paths: %w", err)
	}
	return nil
}

func (r *Run) baseline(ctx context.Context, dir string, ws []watched) error {
	tmp := filepath.Join(r.dir, stateDir, temporary+baselineDir)
	if err := removeAll(tmp); err != nil { // of a process that was killed
		return err
	}
	if err := os.Mkdir(tmp, 0o755); err != nil {
		return err
	}
	budget := int64(mostHashed)
	for i, w := range ws {
		if err := w.list(ctx, tmp, i, &budget); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", w.Path, err), removeAll(tmp))
		}
		r.step("remembered")
	}
	text, err := json.Marshal(ws)
	if err == nil {
		err = replaceFile(filepath.Join(tmp, "paths.json"), text)
	}
	if err == nil {
		err = os.Rename(tmp, dir)
	}
	if err != nil {
		return errors.Join(err, removeAll(tmp))
	}
	return syncDir(r.dir)
}

// watch picks the paths that may be written to, each once: what lies inside
// another one is part of it.
func watch(paths []event.ContextPath) []watched {
	var out []watched
	for _, p := range paths {
		if !p.Write {
			continue
		}
		w := watched{Path: filepath.Clean(p.Path), Real: filepath.Clean(p.Path)}
		if real, err := filepath.EvalSymlinks(w.Path); err == nil {
			w.Real = real
		}
		info, err := os.Stat(w.Real)
		w.None, w.File = err != nil, err == nil && !info.IsDir()
		out = append(out, w)
	}
	// In the order of the paths below them.
	slices.SortFunc(out, func(a, b watched) int { return compareNames(a.Real, !a.File, b.Real, !b.File) })
	out = outermost(out)
	for i := range out {
		for _, p := range paths {
			if rel, in := inside(out[i].Real, filepath.Clean(p.Path)); in && rel != "" && !p.Write {
				out[i].Except = append(out[i].Except, rel)
			}
		}
	}
	return out
}

// outermost drops what lies inside another, which comes before it.
func outermost(ws []watched) []watched {
	var out []watched
	for _, w := range ws {
		if !slices.ContainsFunc(out, func(o watched) bool { _, in := inside(o.Real, w.Real); return in }) {
			out = append(out, w)
		}
	}
	return out
}

// inside reports whether p is dir or lies in it, and where, with slashes.
func inside(dir, p string) (rel string, ok bool) {
	if p == dir {
		return "", true
	}
	rest, ok := strings.CutPrefix(p, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
	return filepath.ToSlash(rest), ok
}

// skip leaves out what is not the agents' to change.
func (w watched) skip(p string, isDir bool) bool {
	name := path.Base(p)
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, ".conclave") || slices.Contains(w.Except, p)
}

func listOf(dir string, i int) string { return filepath.Join(dir, fmt.Sprintf("%d.list", i)) }

// list writes down what is there now.
func (w watched) list(ctx context.Context, dir string, i int, budget *int64) error {
	l, err := newList(dir)
	if err != nil {
		return err
	}
	err = w.files(ctx, func(f found) error {
		return l.add(w.remember(f, budget))
	})
	name, err1 := l.end()
	if err := errors.Join(err, err1); err != nil {
		return err
	}
	return os.Rename(name, listOf(dir, i))
}

// remember is the entry of a file, with its hash if that is worth it. A file
// that cannot be read is known by its stat.
func (w watched) remember(f found, budget *int64) entry {
	if f.kind != symlink && f.settled && (f.size > small || f.size > *budget) {
		return f.entry
	}
	*budget -= f.size
	if e, err := f.take(io.Discard, func() error { return nil }); err == nil {
		return e
	}
	return f.entry
}

// files calls do for every file there is, in order.
func (w watched) files(ctx context.Context, do func(found) error) error {
	walk := walk{file: do, skip: w.skip, before: time.Now().Add(-grain).UnixNano()}
	info, err := os.Lstat(w.Real)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		root, err := os.OpenRoot(w.Real)
		if err != nil {
			return err
		}
		return errors.Join(walk.run(ctx, root), root.Close())
	}
	dir, err := os.OpenRoot(filepath.Dir(w.Real))
	if err != nil {
		return err
	}
	defer dir.Close()
	// The path of the only file there is; nothing in a folder is called so.
	if err := walk.one(dir, filepath.Base(w.Real), "."); !errors.Is(err, errGone) {
		return err
	}
	return nil
}
