package workspace

import (
	"fmt"
	"slices"
	"strings"
)

// A treeHash computes git's hash of a tree from its entries, which come in the
// order of a list. It holds the names of one folder for each level.
type treeHash struct{ open []folderHash }

type folderHash struct {
	path  string // with a slash at its end; empty for the root
	items []item
}

type item struct {
	name string // as git knows it
	mode kind
	sum  sum
}

// folder is git's mode of a tree in a tree.
const folder kind = 0o040000

func (h *treeHash) add(e entry) {
	dir, name := e.path[:strings.LastIndexByte(e.path, '/')+1], e.path[strings.LastIndexByte(e.path, '/')+1:]
	h.enter(dir)
	top := &h.open[len(h.open)-1]
	top.items = append(top.items, item{stored(name), e.kind, e.sum})
}

// enter closes the folders that dir is not in and opens those on the way to it.
func (h *treeHash) enter(dir string) {
	if len(h.open) == 0 {
		h.open = []folderHash{{}}
	}
	for !strings.HasPrefix(dir, h.open[len(h.open)-1].path) {
		h.leave()
	}
	for at := h.open[len(h.open)-1].path; at != dir; {
		at += dir[len(at) : len(at)+strings.IndexByte(dir[len(at):], '/')+1]
		h.open = append(h.open, folderHash{path: at})
	}
}

// leave adds the innermost folder to the one around it.
func (h *treeHash) leave() {
	last := h.open[len(h.open)-1]
	h.open = h.open[:len(h.open)-1]
	top := &h.open[len(h.open)-1]
	name := strings.TrimSuffix(last.path[len(top.path):], "/")
	top.items = append(top.items, item{stored(name), folder, last.sum()})
}

// sum ends the tree. The hash of nothing is that of the empty tree.
func (h *treeHash) sum() sum {
	h.enter("")
	return h.open[0].sum()
}

func (f folderHash) sum() sum {
	slices.SortFunc(f.items, func(a, b item) int {
		return compareNames(a.name, a.mode == folder, b.name, b.mode == folder)
	})
	var b []byte
	for _, i := range f.items {
		b = fmt.Appendf(b, "%o %s\x00", i.mode, i.name)
		b = append(b, i.sum[:]...)
	}
	return sumOf("tree", b)
}

// Names that git keeps for itself and refuses in a tree. A repository inside a
// workspace has them.
var reserved = []string{".git", ".gitmodules"}

// marker is put behind such a name, and behind one that ends in markers already,
// so that the way back is clear.
const marker = "="

// stored is the name under which git keeps a name.
func stored(name string) string {
	if isReserved(strings.TrimRight(name, marker)) {
		return name + marker
	}
	return name
}

// restored is the name that is kept under a stored one.
func restored(name string) string {
	if cut, ok := strings.CutSuffix(name, marker); ok && isReserved(strings.TrimRight(cut, marker)) {
		return cut
	}
	return name
}

func isReserved(name string) bool {
	return slices.ContainsFunc(reserved, func(r string) bool { return strings.EqualFold(name, r) })
}

// storedPath is a path as git keeps it.
func storedPath(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = stored(p)
	}
	return strings.Join(parts, "/")
}
