//go:build unix

package workspace

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/event"
)

// needGit skips a test where git is missing, unless it has to be there.
func needGit(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("git is missing")
		}
		t.Skip("git is missing")
	}
}

// world is a run with one workspace.
func world(t testing.TB) (*Run, *Tree) {
	t.Helper()
	needGit(t)
	r := opened(t, t.TempDir())
	return r, treeOf(t, r, "agent1")
}

func opened(t testing.TB, dir string) *Run {
	t.Helper()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func treeOf(t testing.TB, r *Run, label string) *Tree {
	t.Helper()
	tree, err := r.Tree(t.Context(), event.Label(label))
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// files are the paths of a folder and what is in them; a link has its target
// behind an arrow, an executable file a star at the end of its name.
type files map[string]string

// write puts files into a folder. An empty folder is a name with a slash.
func write(t testing.TB, dir string, fs files) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(fs)) {
		p := filepath.Join(dir, strings.TrimSuffix(name, "*"))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, ok := strings.CutPrefix(fs[name], "-> "); ok {
			err = os.Symlink(target, p)
		} else if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(p, 0o755)
		} else if strings.HasSuffix(name, "*") {
			err = os.WriteFile(p, []byte(fs[name]), 0o755)
		} else {
			err = os.WriteFile(p, []byte(fs[name]), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// read is what is in a folder, without the .git of a workspace.
func read(t testing.TB, dir string) files {
	t.Helper()
	out := files{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, p)
		if name == gitDir {
			return filepath.SkipDir
		}
		switch d.Type() {
		case fs.ModeSymlink:
			target, err := os.Readlink(p)
			out[name] = "-> " + target
			return err
		case 0:
			text, err := os.ReadFile(p)
			if info, _ := d.Info(); info.Mode()&0o111 != 0 {
				name += "*"
			}
			out[name] = string(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func same(t testing.TB, dir string, want files) {
	t.Helper()
	if d := cmp.Diff(want, read(t, dir)); d != "" {
		t.Errorf("%s (-want +got):\n%s", filepath.Base(dir), d)
	}
}

func snap(t testing.TB, tree *Tree) string {
	t.Helper()
	id, err := tree.Snapshot(context.Background(), "test")
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// gitSays is what the real git finds in a workspace's history, trusting nothing
// of ours but its directory.
func gitSays(t testing.TB, tree *Tree, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", tree.Dir()}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

var plain = files{"a.txt": "one\n", "bin/run*": "#!/bin/sh\n", "d/e/f": "deep", "link": "-> a.txt"}

func TestSnapshotHoldsEverything(t *testing.T) {
	r, tree := world(t)
	want := files{
		"a.txt": "one\n", "bin/run*": "#!/bin/sh\n", "d/e/f": "deep", "link": "-> a.txt",
		"dangling": "-> /nowhere/at/all", "empty": "", ".gitignore": "*\n", "ignored.log": "kept",
		"sub/.gitignore": "*.txt", "sub/x.txt": "kept", "a": "before a.txt", "a-b/c": "1", "a.b/c": "2", "a0": "3",
		"crlf": "x\r\ny\r\n", ".gitattributes": "* text eol=crlf filter=evil\n",
		"new\nline": "n", "quo\"te\\": "q", "tab\t": "t", "\xff\xfe": "not UTF-8", " space ": "s", "-dash": "d", "日本": "utf",
	}
	write(t, tree.Dir(), want)
	id := snap(t, tree)
	same(t, r.Checkout("agent1", id), want)
	if got := gitSays(t, tree, "rev-parse", "main^{tree}"); got != id {
		t.Errorf("git's tree is %s, the id is %s", got, id)
	}
	gitSays(t, tree, "fsck", "--strict")
	if got := gitSays(t, tree, "show", "main:crlf"); got != "x\r\ny" {
		t.Errorf("git has %q", got)
	}
	if got := gitSays(t, tree, "status", "--porcelain"); got != "" {
		t.Errorf("git status says %q", got)
	}
}

func TestSameContentSameID(t *testing.T) {
	r, one := world(t)
	two := treeOf(t, r, "agent2")
	write(t, one.Dir(), plain)
	write(t, two.Dir(), plain)
	a := snap(t, one)
	if b := snap(t, two); a != b {
		t.Errorf("the same files have the ids %s and %s", a, b)
	}
	if b := snap(t, one); a != b {
		t.Errorf("an unchanged workspace has the ids %s and %s", a, b)
	}
	write(t, one.Dir(), files{"a.txt": "two\n"})
	b := snap(t, one)
	write(t, one.Dir(), files{"a.txt": "one\n"})
	if c := snap(t, one); b == a || c != a {
		t.Errorf("there and back: %s, %s, %s", a, b, c)
	}
	if got := gitSays(t, one, "rev-list", "--count", "main"); got != "3" {
		t.Errorf("git has %s commits", got)
	}
}

func TestSnapshotFollowsChanges(t *testing.T) {
	r, tree := world(t)
	write(t, tree.Dir(), plain)
	first := snap(t, tree)
	if err := os.RemoveAll(filepath.Join(tree.Dir(), "d")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(tree.Dir(), "a.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(tree.Dir(), "bin/run"), 0o644); err != nil {
		t.Fatal(err)
	}
	write(t, tree.Dir(), files{"d": "a file now", "a.txt/x": "a folder now"})
	want := files{"d": "a file now", "a.txt/x": "a folder now", "bin/run": "#!/bin/sh\n", "link": "-> a.txt"}
	second := snap(t, tree)
	same(t, r.Checkout("agent1", second), want)
	same(t, r.Checkout("agent1", first), plain)
	if got := gitSays(t, tree, "rev-parse", "main^{tree}"); got != second {
		t.Errorf("git's tree is %s, the id is %s", got, second)
	}
}

// Everything goes, too.
func TestEmptyWorkspace(t *testing.T) {
	r, tree := world(t)
	empty := snap(t, tree)
	write(t, tree.Dir(), plain)
	full := snap(t, tree)
	if err := tree.Reset(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	same(t, tree.Dir(), files{})
	if got := snap(t, tree); got != empty || full == empty {
		t.Errorf("ids %s, %s, %s", empty, full, got)
	}
	same(t, r.Checkout("agent1", empty), files{})
}

func TestCheckoutsShareFilesAndNothingElse(t *testing.T) {
	r, tree := world(t)
	write(t, tree.Dir(), plain)
	a := r.Checkout("agent1", snap(t, tree))
	write(t, tree.Dir(), files{"a.txt": "two\n"})
	b := r.Checkout("agent1", snap(t, tree))
	info := func(dir, name string) fs.FileInfo {
		i, err := os.Lstat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	if !os.SameFile(info(a, "d/e/f"), info(b, "d/e/f")) {
		t.Error("an unchanged file was copied")
	}
	if os.SameFile(info(a, "a.txt"), info(b, "a.txt")) {
		t.Error("a changed file is shared")
	}
	for _, dir := range []string{a, b} {
		for _, name := range []string{"a.txt", "d/e/f", "bin/run"} {
			if os.SameFile(info(dir, name), info(tree.Dir(), name)) {
				t.Errorf("%s is shared with the workspace", name)
			}
			if m := info(dir, name).Mode(); m&0o222 != 0 {
				t.Errorf("%s has mode %v", name, m)
			}
		}
	}
}

func TestLabelsAndIDs(t *testing.T) {
	r := opened(t, t.TempDir())
	for _, l := range []string{"", ".", "..", "../x", "a/b", "snapshots", "state", "baseline", ".git", "a b", strings.Repeat("a", 65)} {
		if _, err := r.Tree(t.Context(), event.Label(l)); err == nil {
			t.Errorf("label %q was taken", l)
		}
	}
	for _, id := range []string{"", "abc", "../../../../../../etc", strings.Repeat("g", 64), strings.Repeat("A", 64)} {
		if got := r.Checkout("agent1", id); got != "" {
			t.Errorf("id %q has the directory %s", id, got)
		}
		if _, err := r.Ensure(t.Context(), "agent1", id); err == nil {
			t.Errorf("id %q was found", id)
		}
	}
}
