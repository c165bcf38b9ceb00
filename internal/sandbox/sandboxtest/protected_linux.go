package sandboxtest

import (
	"os"
	"path/filepath"
	"strings"

	"conclave/internal/policy"
)

// protectedCases: what stays as it is, or is not there, inside what can be
// written.
var protectedCases = []testcase{
	{"what exists", confined, func(w *world) {
		w.file(w.path("work", ".git", "config"), "[core]")
		w.file(w.path("work", "settings.json"), "{}")
		box := w.open(mount(policy.Mount{Path: w.path("work"), Write: true,
			Protected: []string{w.path("work", ".git"), w.path("work", "settings.json")}}))
		if got := w.does(box, "read", ".git/config"); got != "[core]" {
			w.Errorf("it reads %q", got)
		}
		for _, op := range [][]string{
			{"append", ".git/config", "x"}, {"write", ".git/hooks", "x"}, {"mkdir", ".git/hooks"}, {"unlink", ".git/config"}, {"remove", ".git"},
			{"rename", ".git", "git"}, {"rename", ".git/config", "config"}, {"rename", "dir", ".git"}, {"rename", "file", ".git/config"},
			{"link", ".git/config", "hard"}, {"append", "settings.json", "x"}, {"unlink", "settings.json"}, {"rename", "file", "settings.json"},
			{"rename", "settings.json", "old"}, {"write", "settings.json", "x"}, {"append", "/proc/self/cwd/.git/config", "x"},
		} {
			w.refused(box, op[0], op[1:]...)
		}
		w.does(box, "append", "file", "!")
		w.holds(w.path("work", ".git", "config"), "[core]")
		w.holds(w.path("work", "settings.json"), "{}")
	}},
	{"its modes and times", func(t Traits) bool { return t.Unconfined || t.Modes }, func(w *world) {
		w.file(w.path("work", ".git", "config"), "[core]")
		box := w.open(mount(policy.Mount{Path: w.path("work"), Write: true, Protected: []string{w.path("work", ".git")}}))
		w.refused(box, "chmod", ".git/config", "777")
		w.refused(box, "chmod", ".git", "777")
		w.refused(box, "touch", ".git/config")
	}},
	// CVE-2026-25725: what was not there yet could be made, and was believed.
	{"what does not exist", confined, func(w *world) {
		names := []string{".git", ".conclave", "settings.json", "not/there/either"}
		m := policy.Mount{Path: w.path("work"), Write: true}
		for _, n := range names {
			m.Protected = append(m.Protected, w.path("work", n))
		}
		box := w.open(mount(m))
		for _, n := range names {
			w.refused(box, "write", n, "x")
			w.refused(box, "write", n+"/config", "x")
			w.refused(box, "rename", "file", n)
			w.refused(box, "symlink", "/etc", n)
			w.refused(box, "link", "file", n)
		}
		w.does(box, "append", "file", "!")
		w.check(box.Close())
		for _, n := range names {
			w.absent(w.path("work", strings.Split(n, "/")[0]))
		}
	}},
	{"deep inside", confined, func(w *world) {
		w.file(w.path("work", "a", "b", "keep"), "kept")
		box := w.open(mount(policy.Mount{Path: w.path("work"), Write: true, Protected: []string{w.path("work", "a", "b", "keep")}}))
		for _, op := range [][]string{
			{"append", "a/b/keep", "x"}, {"unlink", "a/b/keep"}, {"rename", "a", "c"}, {"rename", "a/b", "a/c"}, {"rename", "a/b", "c"},
		} {
			w.refused(box, op[0], op[1:]...)
		}
		w.does(box, "append", "dir/file", "!")
		w.holds(w.path("work", "a", "b", "keep"), "kept")
	}},
	{"two boxes protect what does not exist", confined, func(w *world) {
		m := mount(policy.Mount{Path: w.path("work"), Write: true, Protected: []string{w.path("work", ".git")}})
		one := w.open(m)
		s := w.spec()
		s.Owner = "agent2"
		m(&s)
		if w.traits.Adjust != nil {
			w.traits.Adjust(w.T, &s)
		}
		two, err := w.engine.Open(w.Context(), s)
		w.check(err)
		w.check(two.Close())
		w.refused(one, "write", ".git/config", "x")
		w.check(one.Close())
		w.absent(w.path("work", ".git"))
	}},
	{"hidden", confined, func(w *world) {
		w.file(w.path("work", "private", "file"), secret)
		w.file(w.path("work", "private", "shown", "file"), "shown")
		w.file(w.path("work", "token"), secret)
		box := w.open(
			mount(policy.Mount{Path: w.path("work", "private", "shown"), Write: true}),
			mount(policy.Mount{Path: w.path("work"), Write: true, Hidden: []string{
				w.path("work", "private"), w.path("work", "token"), w.path("work", "absent"),
			}}))
		w.refused(box, "read", "private/file")
		w.refused(box, "append", "private/file", "x")
		w.refused(box, "write", "private/new", "x")
		w.refused(box, "rename", "private", "public")
		w.refused(box, "link", "private/file", "hard")
		w.refused(box, "append", "token", "x")
		if r := w.tryRead(box, "token"); strings.Contains(r, secret) {
			w.Error("a hidden file was read")
		}
		if r := w.tryList(box, "private"); strings.Contains(r, "file") {
			w.Errorf("a hidden folder lists %q", r)
		}
		if got := w.does(box, "read", "private/shown/file"); got != "shown" {
			w.Errorf("the part that is brought back reads %q", got)
		}
		w.does(box, "append", "private/shown/file", "!")
		w.holds(w.path("work", "private", "shown", "file"), "shown!")
		w.holds(w.path("work", "private", "file"), secret)
		w.check(box.Close())
		w.absent(w.path("work", "absent"))
		w.absent(w.path("work", "private", "new"))
	}},
	{"hidden in what is read-only", confined, func(w *world) {
		w.file(w.path("ro", "private", "file"), secret)
		box := w.open(mount(policy.Mount{Path: w.path("ro"), Hidden: []string{w.path("ro", "private")}}))
		w.refused(box, "read", w.path("ro", "private", "file"))
		if got := w.does(box, "read", w.path("ro", "dir", "file")); got != "read only" {
			w.Errorf("what is beside it reads %q", got)
		}
	}},
	{"made beside it", func(t Traits) bool { return t.Unconfined || t.Crowded }, func(w *world) {
		box := w.open(mount(policy.Mount{Path: w.path("work"), Write: true, Protected: []string{w.path("work", ".git")}}))
		w.does(box, "write", "main.go", "package main")
		w.does(box, "list", ".")
		w.holds(w.path("work", "main.go"), "package main")
	}},
	{"a link in its place", confined, func(w *world) {
		w.check(os.Symlink(w.path("outside"), w.path("work", ".git")))
		box, err := w.try(mount(policy.Mount{Path: w.path("work"), Write: true, Protected: []string{w.path("work", ".git")}}))
		if err != nil {
			return // refused to begin with
		}
		w.refused(box, "read", ".git/file")
		w.refused(box, "append", ".git/file", "x")
		w.refused(box, "unlink", ".git")
		w.refused(box, "rename", ".git", "git")
		w.holds(w.path("outside", "file"), secret)
	}},
	{"a mount that became a link", confined, func(w *world) {
		box := w.open(mount(policy.Mount{Path: w.path("work", "dir"), Write: true}))
		// Somebody else who can write there does it between two commands.
		w.check(os.RemoveAll(w.path("work", "dir")))
		w.check(os.Symlink(w.path("outside"), w.path("work", "dir")))
		for _, argv := range [][]string{w.helper("read", "dir/file"), w.helper("append", filepath.Join(w.path("outside"), "file"), "x")} {
			if exit := w.exit(box, argv); exit == 0 {
				w.Errorf("%q got out", argv)
			}
		}
		w.holds(w.path("outside", "file"), secret)
	}},
}
