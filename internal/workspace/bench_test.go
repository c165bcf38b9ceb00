//go:build unix

package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"conclave/internal/event"
)

// many writes n small files in folders of a hundred.
func many(t testing.TB, dir string, n int) {
	t.Helper()
	for i := range n {
		sub := filepath.Join(dir, fmt.Sprintf("d%03d", i/100))
		if i%100 == 0 {
			must(t, os.MkdirAll(sub, 0o755))
		}
		must(t, os.WriteFile(filepath.Join(sub, fmt.Sprintf("f%02d.txt", i%100)), fmt.Appendf(nil, "file %d\n", i), 0o644))
	}
}

// BenchmarkSnapshot10k is one changed file in a workspace of ten thousand.
func BenchmarkSnapshot10k(b *testing.B) {
	_, tree := world(b)
	many(b, tree.Dir(), 10_000)
	snap(b, tree)
	for i := 0; b.Loop(); i++ {
		must(b, os.WriteFile(filepath.Join(tree.Dir(), "d042/f42.txt"), fmt.Appendf(nil, "change %d\n", i), 0o644))
		snap(b, tree)
	}
}

// BenchmarkSnapshotUnchanged10k is what an answer costs that touched no file.
func BenchmarkSnapshotUnchanged10k(b *testing.B) {
	_, tree := world(b)
	many(b, tree.Dir(), 10_000)
	snap(b, tree)
	for b.Loop() {
		snap(b, tree)
	}
}

// BenchmarkPeersRead is seven agents that each look at the newest snapshots of
// the six others: nothing is copied for a pair of them.
func BenchmarkPeersRead(b *testing.B) {
	needGit(b)
	r := opened(b, b.TempDir())
	ids := map[event.Label]string{}
	for i := range 7 {
		l := event.Label(fmt.Sprintf("agent%d", i+1))
		tree := treeOf(b, r, string(l))
		many(b, tree.Dir(), 1_000)
		ids[l] = snap(b, tree)
	}
	for b.Loop() {
		for reader := range ids {
			for author, id := range ids {
				if reader == author {
					continue
				}
				if _, err := r.Ensure(b.Context(), author, id); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}
