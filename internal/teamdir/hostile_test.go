package teamdir_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/event"
	"conclave/internal/teamdir"
)

// Whatever a member does in its folder, its work is kept and nothing else is touched.
func TestHostileMember(t *testing.T) {
	outside := t.TempDir()
	put(t, outside, "secret.txt", "secret\n")
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, dir string)
	}{
		{"deletes its .git", func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, ".git")); err != nil {
				t.Fatal(err)
			}
		}},
		{"points its .git elsewhere", func(t *testing.T, dir string) {
			run(t, outside, "init", "--quiet", "--initial-branch=main", "other")
			put(t, dir, ".git", "gitdir: "+filepath.Join(outside, "other/.git")+"\n")
		}},
		{"makes its .git a link", func(t *testing.T, dir string) {
			if err := errors.Join(os.Remove(filepath.Join(dir, ".git")), os.Symlink(filepath.Join(outside, "secret.txt"), filepath.Join(dir, ".git"))); err != nil {
				t.Fatal(err)
			}
		}},
		{"makes its .git a repository with hooks", func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, ".git")); err != nil {
				t.Fatal(err)
			}
			run(t, dir, "init", "--quiet")
			put(t, dir, ".git/hooks/pre-commit", "#!/bin/sh\ntouch "+filepath.Join(outside, "ran")+"\n")
			if err := os.Chmod(filepath.Join(dir, ".git/hooks/pre-commit"), 0o755); err != nil {
				t.Fatal(err)
			}
			run(t, dir, "config", "core.fsmonitor", "touch "+filepath.Join(outside, "ran"))
		}},
		{"makes links out of the tree", func(t *testing.T, dir string) {
			if err := errors.Join(os.Symlink(outside, filepath.Join(dir, "away")), os.Symlink("/etc/passwd", filepath.Join(dir, "users"))); err != nil {
				t.Fatal(err)
			}
		}},
		{"has a filter run", func(t *testing.T, dir string) {
			put(t, dir, ".gitattributes", "* filter=evil merge=evil diff=evil\n")
			put(t, dir, ".gitconfig", "[filter \"evil\"]\n\tclean = touch "+filepath.Join(outside, "ran")+"\n")
		}},
		{"makes names with newlines and dashes", func(t *testing.T, dir string) {
			put(t, dir, "--all", "x\n")
			put(t, dir, "a\nb\tc", "x\n")
			put(t, dir, ":(top)x", "x\n")
		}},
		{"makes repositories inside", func(t *testing.T, dir string) {
			put(t, dir, "inner/file.txt", "x\n")
			run(t, filepath.Join(dir, "inner"), "init", "--quiet")
			run(t, filepath.Join(dir, "inner"), "add", ".")
			run(t, filepath.Join(dir, "inner"), "commit", "--quiet", "-m", "x")
			if err := os.MkdirAll(filepath.Join(dir, "bare"), 0o755); err != nil {
				t.Fatal(err)
			}
			run(t, filepath.Join(dir, "bare"), "init", "--quiet")
		}},
		{"makes a huge file", func(t *testing.T, dir string) {
			f, err := os.Create(filepath.Join(dir, "huge.bin"))
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(f.Truncate(64<<20), f.Close()); err != nil {
				t.Fatal(err)
			}
		}},
		{"leaves locks behind", func(t *testing.T, dir string) {
			put(t, dir, "../../repo/worktrees/pm/index.lock", "")
			put(t, dir, "../../repo/refs/heads/member/pm.lock", "")
		}},
		{"is on another branch", func(t *testing.T, dir string) {
			run(t, dir, "checkout", "--quiet", "-b", "other")
			put(t, dir, "more.txt", "more\n")
			run(t, dir, "add", ".")
			run(t, dir, "commit", "--quiet", "-m", "x")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := fresh(t, "")
			pm := root(t, d, "pm")
			put(t, pm.Dir, "work.md", "work\n")
			tt.do(t, pm.Dir)
			c := commit(t, d, "pm", 1, 1)
			if c.Same || c.Total < 1 {
				t.Errorf("committed %+v", c)
			}
			if m := merge(t, d, "pm", ""); len(m.Conflicts) != 0 || get(t, d.Tree(""), "work.md") != "work\n" {
				t.Errorf("merged %+v", m)
			}
			root(t, d, "pm")
			if got := get(t, pm.Dir, ".git"); !strings.HasPrefix(got, "gitdir: "+d.Path) {
				t.Errorf("its .git is %q", got)
			}
			if got := get(t, outside, "secret.txt"); got != "secret\n" {
				t.Errorf("a file outside is %q", got)
			}
			if _, err := os.Stat(filepath.Join(outside, "ran")); err == nil {
				t.Error("a program of the member's was run")
			}
			for _, p := range paths(t, d, "") {
				if strings.Contains(p, ".git/") || p == ".git" {
					t.Errorf("%s is kept", p)
				}
			}
			if _, err := d.Diff(t.Context(), "pm"); err != nil {
				t.Error(err)
			}
		})
	}
}

// A link in a member's work does not lead anybody out of the shared tree when more is
// merged on top of it.
func TestLinkInTheWay(t *testing.T) {
	outside := t.TempDir()
	d := fresh(t, "")
	a, b := root(t, d, "a"), root(t, d, "b")
	if err := os.Symlink(outside, filepath.Join(a.Dir, "docs")); err != nil {
		t.Fatal(err)
	}
	put(t, b.Dir, "docs/plan.md", "plan\n")
	commit(t, d, "a", 1, 1)
	commit(t, d, "b", 1, 1)
	merge(t, d, "a", "")
	if m := merge(t, d, "b", ""); len(m.Conflicts) == 0 {
		t.Errorf("merged %+v", m)
	}
	merge(t, d, "b", "theirs")
	if all, err := os.ReadDir(outside); err != nil || len(all) != 0 {
		t.Errorf("outside there is %v, %v", all, err)
	}
}

// A folder that is gone is made again from the last commit; that is no deletion.
func TestVanished(t *testing.T) {
	d := fresh(t, "")
	pm := root(t, d, "pm")
	put(t, pm.Dir, "work.md", "work\n")
	put(t, d.Tree(""), "lead.md", "lead\n")
	commit(t, d, "pm", 1, 1)
	commit(t, d, "leader", 1, 1)
	for _, dir := range []string{pm.Dir, d.Tree("")} {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	if c := commit(t, d, "pm", 2, 1); !c.Same {
		t.Errorf("committed %+v", c)
	}
	again := root(t, d, "pm")
	if diff := cmp.Diff(pm, again); diff != "" || get(t, pm.Dir, "work.md") != "work\n" || get(t, d.Tree(""), "lead.md") != "lead\n" {
		t.Error(diff)
	}
}

// SR-11: a program that is killed between what git did and the record of it finds it
// again, and what one take has made another one still tells.
func TestKilledBetween(t *testing.T) {
	d := fresh(t, "")
	pm := root(t, d, "pm")
	put(t, pm.Dir, "a.md", "a\n")
	one := commit(t, d, "pm", 1, 1)
	if again := commit(t, d, "pm", 1, 1); cmp.Diff(one, again) != "" {
		t.Errorf("asked again it is %+v, not %+v", again, one)
	}
	// Another take of the turn, in which nothing more was done, or a little.
	if two := commit(t, d, "pm", 1, 2); two.Same || two.Commit != one.Commit || two.Total != 1 {
		t.Errorf("the second take is %+v", two)
	}
	put(t, pm.Dir, "b.md", "b\n")
	if three := commit(t, d, "pm", 1, 3); three.Total != 2 || three.Commit == one.Commit {
		t.Errorf("the third take is %+v", three)
	}
	m := merge(t, d, "pm", "")
	if again := merge(t, d, "pm", ""); cmp.Diff(m, again) != "" {
		t.Errorf("merged again it is %+v, not %+v", again, m)
	}
	put(t, d.Tree(""), "c.md", "c\n")
	if later := merge(t, d, "pm", ""); later.Total != 0 || later.From != m.From {
		t.Errorf("there is nothing new, and it is %+v", later)
	}
}

// A tree that was being moved to another commit is not taken for somebody's work.
func TestKilledInAMove(t *testing.T) {
	d := fresh(t, "")
	pm := root(t, d, "pm")
	put(t, pm.Dir, "mine.md", "mine\n")
	before := commit(t, d, "pm", 1, 1)
	put(t, d.Tree(""), "theirs.md", "theirs\n")
	commit(t, d, "leader", 1, 1)
	s, _ := sync1(t, d, "pm")
	// As if only half of it had happened: the branch is where it was, and a file is
	// missing.
	admin := filepath.Join(d.Path, "repo", "worktrees", "pm")
	run(t, d.Tree(""), "update-ref", "refs/heads/member/pm", before.Commit)
	if err := os.Remove(filepath.Join(pm.Dir, "theirs.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(admin, "index.lock"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if again, moved := sync1(t, d, "pm"); !moved || cmp.Diff(s, again) != "" || get(t, pm.Dir, "theirs.md") != "theirs\n" {
		t.Errorf("it is %+v", again)
	}
	if c := commit(t, d, "pm", 2, 1); !c.Same || c.Commit != s.Commit {
		t.Errorf("committed %+v", c)
	}
	// And a tree that was being filled.
	if err := errors.Join(os.Remove(filepath.Join(admin, "conclave-ready")), os.Remove(filepath.Join(pm.Dir, "mine.md"))); err != nil {
		t.Fatal(err)
	}
	if root(t, d, "pm"); get(t, pm.Dir, "mine.md") != "mine\n" {
		t.Error("it was not filled")
	}
	var move struct{ To string }
	if text, err := os.ReadFile(filepath.Join(admin, "conclave-move")); err == nil && json.Unmarshal(text, &move) == nil {
		t.Errorf("the move to %s is still remembered", move.To)
	}
}

// A branch of a member's name that is there already is gone on with.
func TestBranchExists(t *testing.T) {
	d := fresh(t, "")
	run(t, d.Tree(""), "branch", "member/pm")
	r := root(t, d, "pm")
	put(t, r.Dir, "a.md", "a\n")
	if c := commit(t, d, "pm", 1, 1); c.Total != 1 {
		t.Errorf("committed %+v", c)
	}
}

// The shared tree begins with the user's folder as it is, and that is not written.
func TestSources(t *testing.T) {
	plain := t.TempDir()
	put(t, plain, "a.txt", "a\n")
	put(t, plain, "sub/b.txt", "b\n")
	put(t, plain, ".gitignore", "*.log\n")
	put(t, plain, "x.log", "x\n")
	put(t, plain, ".conclave/conclave.db", "x\n")
	put(t, plain, "new\nline", "x\n")

	repo := t.TempDir()
	run(t, repo, "init", "--quiet", "--initial-branch=main")
	put(t, repo, ".gitignore", "node_modules/\ntracked.log\n")
	put(t, repo, "kept.txt", "old\n")
	put(t, repo, "deleted.txt", "x\n")
	put(t, repo, "tracked.log", "tracked\n")
	run(t, repo, "add", "--force", ".")
	run(t, repo, "commit", "--quiet", "-m", "one")
	put(t, repo, "kept.txt", "uncommitted\n")
	put(t, repo, "untracked.txt", "x\n")
	put(t, repo, "node_modules/x.js", "x\n")
	put(t, repo, "sub/node_modules/x.js", "x\n")
	put(t, repo, "sub/c.txt", "c\n")
	put(t, repo, "loose/file.txt", "a repository inside\n")
	run(t, filepath.Join(repo, "loose"), "init", "--quiet")
	if err := os.Remove(filepath.Join(repo, "deleted.txt")); err != nil {
		t.Fatal(err)
	}
	module := t.TempDir()
	run(t, module, "init", "--quiet")
	put(t, module, "lib.c", "lib\n")
	run(t, module, "add", ".")
	run(t, module, "commit", "--quiet", "-m", "lib")
	run(t, repo, "submodule", "--quiet", "add", module, "lib")
	run(t, repo, "stash", "list")
	before := run(t, repo, "status", "--porcelain=v2")
	index := get(t, repo, ".git/index")

	for _, tt := range []struct {
		name, source string
		want         []string
	}{
		{"no repository", plain, []string{".gitignore", "a.txt", "new\nline", "sub/b.txt"}},
		{"a repository", repo, []string{".gitignore", ".gitmodules", "kept.txt", "lib/lib.c", "loose/file.txt", "sub/c.txt", "tracked.log", "untracked.txt"}},
		{"a folder of a repository", filepath.Join(repo, "sub"), []string{"c.txt"}},
		{"an ignored folder of a repository", filepath.Join(repo, "node_modules"), []string{"x.js"}},
		{"an empty folder", t.TempDir(), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := fresh(t, tt.source)
			if diff := cmp.Diff(tt.want, paths(t, d, "")); diff != "" {
				t.Error(diff)
			}
			r := root(t, d, "pm")
			for _, name := range tt.want {
				if get(t, r.Dir, name) != get(t, tt.source, name) {
					t.Errorf("%s is not the same", name)
				}
			}
			put(t, r.Dir, "made.txt", "made\n")
			commit(t, d, "pm", 1, 1)
			merge(t, d, "pm", "")
			if diffs, err := d.Diff(t.Context(), ""); err != nil || len(diffs) != 1 || diffs[0].Path != "made.txt" {
				t.Errorf("what the team made is %+v, %v", diffs, err)
			}
		})
	}
	if now := get(t, repo, ".git/index"); now != index {
		t.Error("the user's index was written")
	}
	if now := run(t, repo, "status", "--porcelain=v2"); now != before {
		t.Errorf("the user's folder was\n%s\nand is\n%s", before, now)
	}
}

// Folders that cannot be copied are told by name.
func TestNoSource(t *testing.T) {
	d := fresh(t, "")
	file := filepath.Join(t.TempDir(), "file")
	put(t, filepath.Dir(file), "file", "x")
	for _, source := range []string{file, file + "-none"} {
		x := &teamdir.Dir{Path: d.Path + "-" + filepath.Base(source), Leader: "leader", Source: source}
		if err := x.Begin(t.Context()); err == nil || !strings.Contains(err.Error(), source) {
			t.Errorf("%s: %v", source, err)
		}
	}
}

// A turn's name is in its commit.
func TestTrailers(t *testing.T) {
	d := fresh(t, "")
	r := root(t, d, "pm")
	put(t, r.Dir, "a.md", "a\n")
	c, err := d.Commit(t.Context(), "pm", event.Turn{Round: 3, Take: 2}, "Write it down\n\nConclave-By: mallory")
	if err != nil {
		t.Fatal(err)
	}
	if got := run(t, d.Tree(""), "log", "-1", "--format=%(trailers:key=Conclave-Turn,valueonly)", c.Commit); strings.TrimSpace(got) != "turn/pm/3.2" {
		t.Errorf("the commit is of turn %q", got)
	}
}
