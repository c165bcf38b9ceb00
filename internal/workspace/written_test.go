//go:build unix

package workspace

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/event"
)

// remembered is a run that has taken its baseline of a folder with these files,
// which were last written long ago.
func remembered(t *testing.T, fs files) (r *Run, dir string) {
	t.Helper()
	r, dir = opened(t, t.TempDir()), t.TempDir()
	write(t, dir, fs)
	must(t, r.Baseline(t.Context(), []event.ContextPath{{Path: dir, Write: true}}))
	return r, dir
}

// changes checks what was written, as "kind path" with paths below dir.
func changes(t *testing.T, r *Run, dir string, want ...string) {
	t.Helper()
	w, err := r.Written(t.Context())
	must(t, err)
	var got []string
	for _, c := range w.Changes {
		got = append(got, c.Kind+" "+strings.TrimPrefix(c.Path, dir+"/"))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("changes (-want +got):\n%s", d)
	}
	if w.Total != len(want) {
		t.Errorf("total %d, want %d", w.Total, len(want))
	}
}

// TM-13.1 TM-13.2
func TestWrittenFiles(t *testing.T) {
	r, dir := remembered(t, files{
		"same": "s", "touched": "t", "chmod": "c", "edited": "one", "shorter": "long", "preserved": "aaa", "replaced": "r",
		"removed": "x", "moved": "m", "link": "-> same", "relinked": "-> same", "d/deep": "d", "gone/a": "1", "gone/b": "2",
		".git/index": "g", "sub/.git/HEAD": "h", ".conclave/x": "c", "becomes dir": "f", "becomes link": "same",
	})
	changes(t, r, dir)
	p := func(n string) string { return filepath.Join(dir, n) }
	must(t, os.Chtimes(p("touched"), time.Now(), time.Now().Add(-time.Hour)))
	must(t, os.Chmod(p("chmod"), 0o755))
	info, err := os.Stat(p("preserved"))
	must(t, err)
	write(t, dir, files{"edited": "two", "shorter": "x", "preserved": "bbb", "new": "n", "fresh/x": "y", ".git/index": "G", "sub/.git/HEAD": "H", ".conclave/y": "c"})
	must(t, os.Chtimes(p("preserved"), info.ModTime(), info.ModTime()))
	must(t, os.WriteFile(p("tmp"), []byte("r"), 0o644))
	must(t, os.Rename(p("tmp"), p("replaced"))) // the same content in another file
	for _, n := range []string{"removed", "relinked", "becomes dir", "becomes link"} {
		must(t, os.Remove(p(n)))
	}
	must(t, os.RemoveAll(p("gone")))
	must(t, os.Rename(p("moved"), p("moved2")))
	write(t, dir, files{"relinked": "-> d", "becomes dir/x": "1", "becomes link": "-> same"})
	changes(t, r, dir,
		"deleted becomes dir", "new becomes dir/x", "modified becomes link", "modified edited", "new fresh/x",
		"deleted gone/a", "deleted gone/b", "deleted moved", "new moved2", "new new", "modified preserved", "modified relinked",
		"deleted removed", "modified shorter")
}

// TM-13.1
func TestBaselineIsTakenOnce(t *testing.T) {
	r, dir := remembered(t, files{"a": "1"})
	write(t, dir, files{"a": "2", "b": "x"})
	again := opened(t, r.dir) // after a crash
	must(t, again.Baseline(t.Context(), []event.ContextPath{{Path: dir, Write: true}}))
	changes(t, again, dir, "modified a", "new b")
}

func TestWrittenWithoutBaseline(t *testing.T) {
	if _, err := opened(t, t.TempDir()).Written(t.Context()); err == nil {
		t.Error("nothing was remembered and nothing was said")
	}
}

// Only paths that may be written to are looked at, each once.
func TestWhichPathsAreWatched(t *testing.T) {
	r, dir := opened(t, t.TempDir()), t.TempDir()
	write(t, dir, files{"rw/a": "1", "rw/ro/b": "2", "ro/c": "3", "file": "4", "other": "5", "real/d": "6", "link": "-> real", "rw-2/e": "7"})
	p := func(n string) string { return filepath.Join(dir, n) }
	must(t, r.Baseline(t.Context(), []event.ContextPath{
		{Path: p("rw"), Write: true}, {Path: p("rw/ro")}, {Path: p("rw/sub"), Write: true}, {Path: p("ro")},
		{Path: p("file"), Write: true}, {Path: p("missing"), Write: true}, {Path: p("missing file"), Write: true}, {Path: p("link"), Write: true}, {Path: p("rw-2"), Write: true},
	}))
	changes(t, r, dir)
	write(t, dir, files{"rw/a": "x", "rw/ro/b": "x", "rw/sub/n": "x", "ro/c": "x", "file": "x", "other": "x", "real/d": "x", "missing/n": "x", "missing file": "x", "rw-2/e": "x"})
	changes(t, r, dir, "modified file", "modified link/d", "new missing file", "new missing/n", "modified rw-2/e", "modified rw/a", "new rw/sub/n")
	must(t, os.Remove(p("file")))
	changes(t, r, dir, "deleted file", "modified link/d", "new missing file", "new missing/n", "modified rw-2/e", "modified rw/a", "new rw/sub/n")
}

// A path that leads out of a context path is not followed, a pipe not opened.
func TestWrittenFollowsNothing(t *testing.T) {
	outside := t.TempDir()
	write(t, outside, files{"x": "1"})
	r, dir := remembered(t, files{"out": "-> " + outside, "file": "-> " + outside + "/x"})
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644))
	write(t, outside, files{"x": "2", "y": "3"})
	changes(t, r, dir)
}

// Of large files the stat decides.
func TestLargeFiles(t *testing.T) {
	r, dir := opened(t, t.TempDir()), t.TempDir()
	for _, n := range []string{"same", "written"} {
		must(t, os.WriteFile(filepath.Join(dir, n), make([]byte, small+1), 0o644))
	}
	must(t, r.Baseline(t.Context(), []event.ContextPath{{Path: dir, Write: true}}))
	f, err := os.OpenFile(filepath.Join(dir, "written"), os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt([]byte("x"), small/2)
	must(t, err)
	must(t, f.Close())
	changes(t, r, dir, "modified written")
}

// TM-13.4
func TestManyWrittenFiles(t *testing.T) {
	r, dir := remembered(t, nil)
	list := filepath.Join(r.dir, "context_path_writes.txt")
	for n := range 5 {
		write(t, dir, files{fmt.Sprintf("f%03d", n): "x"})
	}
	w, err := r.Written(t.Context())
	must(t, err)
	if w.Total != 5 || w.List != "" {
		t.Errorf("five files: total %d, list %q", w.Total, w.List)
	}
	for n := range 150 {
		write(t, dir, files{fmt.Sprintf("f%03d", n): "x"})
	}
	write(t, dir, files{"z\nz": "x"})
	w, err = r.Written(t.Context())
	must(t, err)
	if w.Total != 151 || len(w.Changes) != 100 || w.List != list || w.Changes[99].Path != filepath.Join(dir, "f099") {
		t.Errorf("total %d, %d inline, list %q, last %v", w.Total, len(w.Changes), w.List, w.Changes[len(w.Changes)-1])
	}
	text, err := os.ReadFile(list)
	must(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 151 || lines[0] != "new       "+filepath.Join(dir, "f000") || !strings.HasSuffix(lines[150], `z\nz"`) {
		t.Errorf("%d lines, from %q to %q", len(lines), lines[0], lines[len(lines)-1])
	}
	must(t, os.RemoveAll(dir))
	w, err = r.Written(t.Context())
	must(t, err)
	if _, err := os.Stat(list); err == nil || w.Total != 0 || w.List != "" {
		t.Errorf("afterwards: total %d, list %q", w.Total, w.List)
	}
}

// volume is how many files the large test has: a hundred thousand take half a
// minute on a disk, so they are for CI without the race detector.
var volume = flag.Int("files", map[bool]int{false: 5_000, true: 100_000}[os.Getenv("CI") != "" && !raced], "files of the large test")

// ceiling is how much the heap may grow over a workspace, however many files are
// in it and have changed.
const ceiling = 16 << 20

// Many changes are all found and kept, below a ceiling of memory.
func TestThousandsOfFiles(t *testing.T) {
	n := *volume
	r, dir := remembered(t, nil)
	many(t, dir, n)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	defer func() {
		runtime.ReadMemStats(&after)
		if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > ceiling {
			t.Errorf("the heap has grown by %d MiB over %d files", grown>>20, n)
		}
	}()
	w, err := r.Written(t.Context())
	must(t, err)
	if w.Total != n || len(w.Changes) != 100 {
		t.Errorf("total %d, %d inline", w.Total, len(w.Changes))
	}
	needGit(t)
	tree := treeOf(t, r, "agent1")
	must(t, os.Rename(dir, filepath.Join(tree.Dir(), "all")))
	id := snap(t, tree)
	if got := gitSays(t, tree, "rev-parse", "main^{tree}"); got != id {
		t.Errorf("git's tree is %s, the id is %s", got, id)
	}
	must(t, os.RemoveAll(filepath.Join(tree.Dir(), "all", "d000")))
	must(t, tree.Reset(t.Context(), id))
	if got := snap(t, tree); got != id {
		t.Errorf("after the reset the id is %s, was %s", got, id)
	}
}

func TestDamagedBaselineIsAnError(t *testing.T) {
	r, dir := remembered(t, files{"a": "1", "b": "2"})
	name := listOf(filepath.Join(r.dir, baselineDir), 0)
	text, err := os.ReadFile(name)
	must(t, err)
	for cut := range len(text) {
		must(t, os.WriteFile(name, text[:cut], 0o644))
		if _, err := r.Written(t.Context()); err == nil {
			t.Fatalf("cut after %d of %d bytes, nothing was noticed", cut, len(text))
		}
	}
	for i := range text {
		bad := append([]byte(nil), text...)
		bad[i] ^= 0x40
		must(t, os.WriteFile(name, bad, 0o644))
		if _, err := r.Written(t.Context()); err == nil {
			t.Fatalf("byte %d of %d was changed, nothing was noticed", i, len(text))
		}
	}
	must(t, os.WriteFile(name, text, 0o644))
	changes(t, r, dir)
}

func TestDiff(t *testing.T) {
	r, tree := world(t)
	write(t, tree.Dir(), files{"a": "1", "b": "2", "c/d": "3", "same/e": "4", "l": "-> a"})
	one := r.Checkout("agent1", snap(t, tree))
	must(t, os.RemoveAll(filepath.Join(tree.Dir(), "c")))
	must(t, os.Remove(filepath.Join(tree.Dir(), "l")))
	write(t, tree.Dir(), files{"b": "x", "c": "4", "new": "n", "l": "-> b"})
	two := r.Checkout("agent1", snap(t, tree))
	got, err := Diff(t.Context(), one, two)
	must(t, err)
	want := []event.Change{{Path: "b", Kind: "modified"}, {Path: "c", Kind: "new"}, {Path: "c/d", Kind: "deleted"}, {Path: "l", Kind: "modified"}, {Path: "new", Kind: "new"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got, err := Diff(t.Context(), "", one); err != nil || len(got) != 5 || got[0].Kind != "new" {
		t.Errorf("from nothing: %v, %v", got, err)
	}
}
