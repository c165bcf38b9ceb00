package datasource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/internal/confine"
	"conclave/internal/policy"
)

// A Folder is an open directory. Paths are relative to it; its methods are those
// of a [confine.Root], which may write only if that was granted.
type Folder struct {
	*confine.Root
	dir string
}

func openFolder(_ context.Context, s Source, _ Env) (Conn, error) {
	if !filepath.IsAbs(s.Where) {
		return nil, fmt.Errorf("the path %s is not absolute", s.Where)
	}
	// The directory may itself be reached over a link; those inside may not lead
	// out of it.
	dir, err := filepath.EvalSymlinks(s.Where)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("there is no directory %s", s.Where)
	} else if err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is a file; give the directory it is in, or the file as a document", s.Where)
	}
	root, err := confine.Open(policy.Place{Dir: dir, Mounts: []policy.Mount{{Path: dir, Write: s.Write}}})
	if err != nil {
		return nil, err
	}
	return &Folder{Root: root, dir: dir}, nil
}

// Rel is an absolute path in the folder as the model is shown it.
func (f *Folder) Rel(abs string) string {
	rel, err := filepath.Rel(f.dir, abs)
	if err != nil {
		return abs
	}
	return filepath.ToSlash(rel)
}

// maxWalked is how many files are looked at for a description.
const maxWalked = 20_000

// errEnough ends a walk.
var errEnough = errors.New("enough")

// Describe implements [Conn]: how much there is, of which kinds, and what lies
// at the top.
func (f *Folder) Describe(ctx context.Context) (string, error) {
	files, bytes, kinds := 0, int64(0), map[string]int{}
	err := f.Walk(ctx, ".", func(e confine.Entry) error {
		if !e.Type.IsRegular() {
			return nil
		}
		if files++; files > maxWalked {
			return errEnough
		}
		if info, err := e.Info(); err == nil {
			bytes += info.Size()
		}
		kinds[cmp.Or(strings.ToLower(filepath.Ext(e.Path)), "no ending")]++
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return "", err
	}
	var out lines
	more := ""
	if files > maxWalked {
		files, more = maxWalked, "more than "
	}
	out.add(fmt.Sprintf("A directory with %s%d files (%d bytes).", more, files, bytes))
	if len(kinds) > 0 {
		out.add("By the ending of their names: " + byCount(kinds, 12) + ".")
	}
	top, err := f.top(ctx)
	if err != nil {
		return "", err
	}
	out.add("At the top:")
	for _, name := range top {
		out.add("  " + name)
	}
	return out.text("entries"), nil
}

// top are the names in the directory itself, folders with a slash.
func (f *Folder) top(ctx context.Context) ([]string, error) {
	const most = 2000
	var out []string
	err := f.ReadDir(ctx, ".", func(e confine.Entry) error {
		name := filepath.Base(e.Path)
		if e.Type.IsDir() {
			name += "/"
		}
		if out = append(out, name); len(out) >= most {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	slices.Sort(out)
	return out, nil
}

// byCount is the most frequent of some, the first ones first.
func byCount(counts map[string]int, most int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	var out []string
	for _, n := range names[:min(len(names), most)] {
		out = append(out, fmt.Sprintf("%s %d", n, counts[n]))
	}
	if len(names) > most {
		out = append(out, fmt.Sprintf("%d others", len(names)-most))
	}
	return strings.Join(out, ", ")
}
