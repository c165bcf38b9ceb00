package teamdir_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/event"
	"conclave/internal/git"
	"conclave/internal/teamdir"
)

// fresh is the directory of a team that begins with a folder, or with nothing.
func fresh(t *testing.T, source string) *teamdir.Dir {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("git is not installed")
		}
		t.Skip("git is not installed")
	}
	d := &teamdir.Dir{Path: filepath.Join(t.TempDir(), "team"), Leader: "leader", Source: source}
	if err := d.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

func root(t *testing.T, d *teamdir.Dir, who event.AgentID) event.Rooted {
	t.Helper()
	r, err := d.Root(t.Context(), who)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func commit(t *testing.T, d *teamdir.Dir, who event.AgentID, round, take int) event.Committed {
	t.Helper()
	c, err := d.Commit(t.Context(), who, event.Turn{Round: round, Take: take}, "Turn")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func merge(t *testing.T, d *teamdir.Dir, who event.AgentID, prefer string) event.Merged {
	t.Helper()
	m, err := d.Merge(t.Context(), who, prefer)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func sync1(t *testing.T, d *teamdir.Dir, who event.AgentID) (event.Synced, bool) {
	t.Helper()
	s, moved, err := d.Sync(t.Context(), who)
	if err != nil {
		t.Fatal(err)
	}
	return s, moved
}

func paths(t *testing.T, d *teamdir.Dir, who event.AgentID) []string {
	t.Helper()
	files, err := d.Files(t.Context(), who)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		out = append(out, f.Path)
	}
	return out
}

// run runs git in a folder, as people and agents do.
func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"}, args...)...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// SR-03: members work side by side in trees of their own, what they make is merged,
// and the others find it before their next turn.
func TestSideBySide(t *testing.T) {
	d := fresh(t, "")
	front, back := root(t, d, "front-end"), root(t, d, "back-end")
	if front.Branch != "member/front-end" || front.Dir != filepath.Join(d.Path, "members", "front-end") {
		t.Errorf("the front end works in %+v", front)
	}
	put(t, front.Dir, "web/index.html", "<h1>Bread</h1>\n")
	put(t, back.Dir, "api/main.go", "package main\n")
	one := commit(t, d, "front-end", 1, 1)
	if diff := cmp.Diff([]event.Change{{Path: "web/index.html", Kind: event.ChangeNew}}, one.Changes); diff != "" || one.Total != 1 || one.Same {
		t.Errorf("%+v %s", one, diff)
	}
	commit(t, d, "back-end", 1, 1)
	put(t, d.Tree("leader"), "README.md", "# Bakery\n")
	m := merge(t, d, "front-end", "")
	if m.From != one.Commit || m.Total != 1 || len(m.Conflicts) != 0 || m.Commit == "" {
		t.Errorf("merged %+v", m)
	}
	merge(t, d, "back-end", "")
	if diff := cmp.Diff([]string{"README.md", "api/main.go", "web/index.html"}, paths(t, d, "")); diff != "" {
		t.Error(diff)
	}
	// What was merged is no work of the leader's own.
	lead := commit(t, d, "leader", 1, 1)
	if diff := cmp.Diff([]event.Change{{Path: "README.md", Kind: event.ChangeNew}}, lead.Changes); diff != "" || lead.Same {
		t.Errorf("%+v %s", lead, diff)
	}
	s, moved := sync1(t, d, "front-end")
	if !moved || len(s.Conflicts) != 0 || get(t, front.Dir, "api/main.go") != "package main\n" {
		t.Errorf("brought in: %+v, %t", s, moved)
	}
	if got := commit(t, d, "front-end", 2, 1); !got.Same || got.Total != 0 {
		t.Errorf("a turn in which nothing was done is %+v", got)
	}
	if _, moved := sync1(t, d, "front-end"); moved {
		t.Error("the shared tree was brought in twice")
	}
	diffs, err := d.Diff(t.Context(), "")
	if err != nil || len(diffs) != 3 {
		t.Errorf("the team has made %+v, %v", diffs, err)
	}
	if _, text, err := d.File(t.Context(), "back-end", "api/main.go"); err != nil || string(text) != "package main\n" {
		t.Errorf("the file is %q, %v", text, err)
	}
	if log := run(t, d.Tree(""), "log", "--format=%an %s", "--first-parent"); log != "leader Merge the work of back-end\nleader Merge the work of front-end\nleader Work before a merge\nconclave Begin\n" {
		t.Errorf("the history is\n%s", log)
	}
	if out := run(t, d.Tree(""), "stash", "list"); out != "" {
		t.Errorf("there is a stash: %s", out)
	}
}

// In a conflict nothing changes, whoever the leader prefers wins only where both have
// changed the same, and a member finds both sides in its next turn.
func TestConflicts(t *testing.T) {
	source := t.TempDir()
	put(t, source, "page.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")
	put(t, source, "old.txt", "old\n")
	put(t, source, "gone.txt", "gone\n")
	put(t, source, "logo.bin", "a\x00b")
	d := fresh(t, source)
	pm, qa := root(t, d, "pm"), root(t, d, "qa")
	shared := d.Tree("")
	put(t, shared, "page.txt", "one\n2\n3\n4\n5\n6\n7\n8\nnine\n")
	put(t, shared, "old.txt", "changed by the leader\n")
	put(t, shared, "logo.bin", "a\x00leader")
	if err := os.Remove(filepath.Join(shared, "gone.txt")); err != nil {
		t.Fatal(err)
	}
	put(t, pm.Dir, "page.txt", "uno\n2\n3\n4\nfive\n6\n7\n8\n9\n")
	if err := os.Remove(filepath.Join(pm.Dir, "old.txt")); err != nil {
		t.Fatal(err)
	}
	put(t, pm.Dir, "gone.txt", "changed by the member\n")
	put(t, pm.Dir, "logo.bin", "a\x00member")
	put(t, pm.Dir, "new\nline.txt", "a name with a newline\n")
	commit(t, d, "pm", 1, 1)
	want := []string{"gone.txt", "logo.bin", "old.txt", "page.txt"}
	m := merge(t, d, "pm", "")
	if diff := cmp.Diff(want, m.Conflicts); diff != "" || m.Commit != "" {
		t.Errorf("%+v %s", m, diff)
	}
	if get(t, shared, "page.txt") != "one\n2\n3\n4\n5\n6\n7\n8\nnine\n" || get(t, shared, "logo.bin") != "a\x00leader" {
		t.Error("a merge that could not be changed the shared tree")
	}
	seen, err := d.Conflict(t.Context(), "pm", 1<<20)
	if err != nil || !strings.Contains(seen["page.txt"], "<<<<<<< main\none\n=======\nuno\n>>>>>>> member/pm\n") {
		t.Errorf("the conflict is shown as %q, %v", seen, err)
	}

	put(t, qa.Dir, "page.txt", "QA\n2\n3\n4\n5\n6\n7\n8\n9\n")
	commit(t, d, "qa", 1, 1)
	m = merge(t, d, "qa", teamdir.Ours)
	if m.Prefer != teamdir.Ours || get(t, shared, "page.txt") != "one\n2\n3\n4\n5\n6\n7\n8\nnine\n" {
		t.Errorf("merged %#v: %q", m, get(t, shared, "page.txt"))
	}

	m = merge(t, d, "pm", teamdir.Theirs)
	if m.Prefer != teamdir.Theirs || len(m.Conflicts) != 0 {
		t.Errorf("merged %+v", m)
	}
	if got := get(t, shared, "page.txt"); got != "uno\n2\n3\n4\nfive\n6\n7\n8\nnine\n" {
		t.Errorf("the page is %q", got)
	}
	if get(t, shared, "gone.txt") != "changed by the member\n" || get(t, shared, "logo.bin") != "a\x00member" || get(t, shared, "new\nline.txt") == "" {
		t.Error("the member's side was not taken")
	}
	if _, err := os.Stat(filepath.Join(shared, "old.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the member's deletion was not taken: %v", err)
	}
}

// A member is brought what the others have made even if it does not fit: it finds
// both sides marked, is told, and what it makes of that can be merged.
func TestSyncConflict(t *testing.T) {
	source := t.TempDir()
	put(t, source, "a.txt", "begin\n")
	d := fresh(t, source)
	pm := root(t, d, "pm")
	put(t, pm.Dir, "a.txt", "pm\n")
	commit(t, d, "pm", 1, 1)
	put(t, d.Tree(""), "a.txt", "leader\n")
	commit(t, d, "leader", 1, 1)
	s, moved := sync1(t, d, "pm")
	if diff := cmp.Diff([]string{"a.txt"}, s.Conflicts); diff != "" || !moved {
		t.Errorf("%+v %s", s, diff)
	}
	if got := get(t, pm.Dir, "a.txt"); got != "<<<<<<< member/pm\npm\n=======\nleader\n>>>>>>> main\n" {
		t.Errorf("the member finds %q", got)
	}
	// Nobody knows whether that was recorded: asked again before the turn ends, it
	// is the same.
	if again, moved := sync1(t, d, "pm"); !moved || cmp.Diff(s, again) != "" {
		t.Errorf("asked again: %+v, %t", again, moved)
	}
	put(t, pm.Dir, "a.txt", "pm and leader\n")
	commit(t, d, "pm", 2, 1)
	if m := merge(t, d, "pm", ""); len(m.Conflicts) != 0 || get(t, d.Tree(""), "a.txt") != "pm and leader\n" {
		t.Errorf("merged %+v", m)
	}
}

// Two members commit at once.
func TestTogether(t *testing.T) {
	d := fresh(t, "")
	names := []event.AgentID{"a", "b", "c", "d"}
	var wg sync.WaitGroup
	for _, who := range names {
		wg.Go(func() {
			for round := 1; round <= 3; round++ {
				r, err := d.Root(t.Context(), who)
				if err != nil {
					t.Error(err)
					return
				}
				if err := os.WriteFile(filepath.Join(r.Dir, string(who)+".txt"), []byte(strings.Repeat("x", round)), 0o644); err != nil {
					t.Error(err)
				}
				if c, err := d.Commit(t.Context(), who, event.Turn{Round: round, Take: 1}, "Turn"); err != nil || c.Same {
					t.Errorf("%s: %+v, %v", who, c, err)
				}
			}
		})
	}
	wg.Wait()
	for _, who := range names {
		if m := merge(t, d, who, ""); m.Total != 1 {
			t.Errorf("%s: %+v", who, m)
		}
	}
	if got := paths(t, d, ""); len(got) != 4 {
		t.Errorf("the shared tree has %q", got)
	}
}

// What is not there is said so, and nothing outside can be read.
func TestReading(t *testing.T) {
	d := &teamdir.Dir{Path: filepath.Join(t.TempDir(), "none"), Leader: "leader"}
	if files, err := d.Files(t.Context(), ""); err != nil || files != nil {
		t.Errorf("before it began there are %v, %v", files, err)
	}
	d = fresh(t, "")
	if files, err := d.Files(t.Context(), "nobody"); err != nil || files != nil {
		t.Errorf("nobody has %v, %v", files, err)
	}
	for _, name := range []string{"../../etc/passwd", ".git/config", "/etc/passwd", "none.txt"} {
		if _, _, err := d.File(t.Context(), "", name); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := d.Files(t.Context(), "../x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a bad name: %v", err)
	}
	if _, err := d.Root(t.Context(), "../x"); err == nil {
		t.Error("a tree was made outside")
	}
	if _, err := d.Merge(t.Context(), "nobody", ""); err == nil {
		t.Error("the work of nobody was merged")
	}
	var none *git.NotFound
	if _, err := d.Merge(t.Context(), "nobody", ""); !errors.As(err, &none) {
		t.Errorf("the work of nobody: %v", err)
	}
}

// SR-03: what a team has made is taken over with git apply: files that are new, gone,
// changed, under another name or no text, and a last line without its end.
func TestPatch(t *testing.T) {
	source := t.TempDir()
	put(t, source, "old.txt", "one\ntwo\nthree\n")
	put(t, source, "gone.txt", "away\n")
	put(t, source, "name.txt", strings.Repeat("the same line\n", 20))
	d := fresh(t, source)
	if p, err := d.Patch(t.Context(), ""); err != nil || len(p) > 0 {
		t.Errorf("before anybody has worked: %q %v", p, err)
	}
	root(t, d, "leader")
	tree := root(t, d, "pm").Dir
	put(t, tree, "old.txt", "one\n2\nthree")
	put(t, tree, "a new/ü \"file\".md", "new\n")
	put(t, tree, "picture.png", "\x89PNG\x00\x01\x02\xff")
	put(t, tree, "empty", "")
	for _, err := range []error{os.Remove(filepath.Join(tree, "gone.txt")), os.Rename(filepath.Join(tree, "name.txt"), filepath.Join(tree, "other.txt"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	commit(t, d, "pm", 1, 1)
	merge(t, d, "pm", "")
	for _, who := range []event.AgentID{"", "pm"} {
		patch, err := d.Patch(t.Context(), who)
		if err != nil {
			t.Fatal(err)
		}
		mine, file := t.TempDir(), filepath.Join(t.TempDir(), "team.patch")
		if err := errors.Join(os.CopyFS(mine, os.DirFS(source)), os.WriteFile(file, patch, 0o644)); err != nil {
			t.Fatal(err)
		}
		run(t, mine, "apply", file)
		for _, name := range paths(t, d, who) {
			if diff := cmp.Diff(get(t, tree, name), get(t, mine, name)); diff != "" {
				t.Errorf("%q %s: %s", who, name, diff)
			}
		}
		for _, name := range []string{"gone.txt", "name.txt"} {
			if _, err := os.Stat(filepath.Join(mine, name)); err == nil {
				t.Errorf("%q: %s is still there", who, name)
			}
		}
	}
}
