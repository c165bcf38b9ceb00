package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"conclave/internal/config"
	"conclave/internal/control"
)

var _ control.Looks = (*App)(nil)

// passedOver are the folders that nobody looks for files in: what version control
// and this program keep, and what is made or fetched anew at will.
var passedOver = []string{
	".git", ".hg", ".svn", ".jj", ".bzr", ".conclave",
	"node_modules", ".venv", "venv", "__pycache__", ".tox", ".mypy_cache", ".pytest_cache", ".gradle", ".terraform",
}

const (
	treeDepth  = 40        // folders
	treeFolder = 100_000   // entries of one folder that are looked at
	treeChunk  = 1_000     // of them at a time
	treeMost   = 1_000_000 // entries that anybody can ask for
)

// Tree implements [control.Looks]. What lies near is listed before what lies
// deep, so that one folder full of files does not hide the others.
func (a *App) Tree(ctx context.Context, dir string, limit int) ([]control.Entry, bool, error) {
	abs, _ := a.resolve(dir)
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, false, fmt.Errorf("list %s: %w", dir, reason(err))
	}
	defer root.Close()
	w := treeWalk{root: root, left: min(max(limit, 0), treeMost)}
	for level := []string{"."}; len(level) > 0; level = w.next {
		w.next = nil
		w.depth++
		for _, d := range level {
			if err := w.folder(ctx, d); err != nil {
				return nil, false, fmt.Errorf("list %s: %w", dir, err)
			}
		}
	}
	slices.SortFunc(w.out, func(x, y control.Entry) int {
		return slices.Compare(strings.Split(x.Path, "/"), strings.Split(y.Path, "/"))
	})
	return w.out, w.more, nil
}

// treeWalk goes over folders level by level.
type treeWalk struct {
	root  *os.Root
	left  int // how many entries may be taken
	depth int
	next  []string // folders of the next level
	out   []control.Entry
	more  bool
}

// folder takes in what is in one. Any but the first may be gone or closed to us
// by now, which is no reason to show nothing.
func (w *treeWalk) folder(ctx context.Context, name string) error {
	if w.left == 0 && w.more {
		return nil
	}
	entries, err := w.read(ctx, name)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && name == ".":
		return reason(err)
	}
	slices.SortFunc(entries, func(x, y fs.DirEntry) int { return strings.Compare(x.Name(), y.Name()) })
	for _, e := range entries {
		if !listed(e) {
			continue
		}
		if w.left == 0 {
			w.more = true
			return nil
		}
		w.entry(path.Join(name, e.Name()))
	}
	return nil
}

// listed reports whether an entry is something to look at, which a pipe or a
// device is not.
func listed(e fs.DirEntry) bool {
	if e.IsDir() {
		return !slices.Contains(passedOver, e.Name())
	}
	return e.Type().IsRegular() || e.Type()&fs.ModeSymlink != 0
}

func (w *treeWalk) entry(name string) {
	info, err := w.root.Lstat(filepath.FromSlash(name))
	if err != nil {
		return
	}
	w.left--
	w.out = append(w.out, control.Entry{Path: name, Dir: info.IsDir(), Size: info.Size(), Mod: info.ModTime()})
	switch {
	case !info.IsDir():
	case w.depth < treeDepth:
		w.next = append(w.next, name)
	default:
		w.more = true
	}
}

// read is what is in a folder, as far as anybody would want to know.
func (w *treeWalk) read(ctx context.Context, name string) ([]fs.DirEntry, error) {
	f, err := w.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []fs.DirEntry
	for ctx.Err() == nil {
		some, err := f.ReadDir(treeChunk)
		out = append(out, some...)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		if len(out) >= treeFolder {
			w.more = true
			break
		}
	}
	return out, nil
}

// reason is an error without the path in it: whoever reads it has named another.
func reason(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// Look implements [control.Looks]. The user's own file counts, and over it the
// project's, but for the keys: whoever wrote the project must not decide what a
// key of the user's does.
func (a *App) Look(context.Context) (control.Look, error) {
	var out control.Look
	if dir, ok := config.UserDir(); ok {
		out.File = filepath.Join(dir, "config.yaml")
	}
	base, own := config.UserFile()
	var ui config.UI
	if own {
		f, err := config.LoadOver(base, "")
		if err != nil {
			return out, &control.Usage{Err: err}
		}
		ui = f.UI
	}
	keys := ui.Keys
	if file := a.state("config.yaml"); exists(file) {
		switch f, err := config.LoadOver(base, file); {
		case err != nil:
			out.Warnings = append(out.Warnings, "the project's configuration is not in order, so it does not change how things look; see: conclave validate "+file)
		default:
			ui = f.UI
			if moved(keys, ui.Keys) {
				out.Warnings = append(out.Warnings, fmt.Sprintf("ui.keys in %s does not count: only your own file binds keys, %s", file, out.File))
			}
		}
	}
	out.Theme, out.Keys = ui.Theme, keys
	out.NoMouse, out.NoNotify = ui.Mouse != nil && !*ui.Mouse, ui.Notify != nil && !*ui.Notify
	out.Plain = ui.Plain != nil && *ui.Plain || ui.Plain == nil && ui.Display == "simple"
	return out, nil
}

// moved reports whether any key of the one is another in the other.
func moved(own, all map[string][]string) bool {
	for action, keys := range all {
		if mine, ok := own[action]; !ok || !slices.Equal(mine, keys) {
			return true
		}
	}
	return false
}
