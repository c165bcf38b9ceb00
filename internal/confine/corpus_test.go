package confine_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"conclave/internal/confine"
	"conclave/internal/policy"
)

// Every way out that is known is closed, for reading and for writing, and what
// is out there stays as it was.
func TestPathCorpus(t *testing.T) {
	w := newWorld(t)
	w.link("../out", "ws/dirlink")
	w.link("../out/secret.txt", "ws/filelink")
	w.link(w.path("out"), "ws/abslink")
	w.link("chain2", "ws/chain1")
	w.link("chain3", "ws/chain2")
	w.link("../out/secret.txt", "ws/chain3")
	w.link("loop", "ws/loop")
	w.link("hidden", "ws/tohidden")
	w.link("keep", "ws/tokeep")
	w.link(".git", "ws/togit")
	w.link("inner", "ws/toinner")
	w.link("../ro/r.txt", "ws/toro")
	w.link("sub", "ws/tosub")
	w.link(w.path("ws/sub"), "ws/abssub")
	w.link("/proc/self/environ", "ws/toproc")
	w.link("../../..", "ws/sub/up")
	w.link("../files/two.txt", "ws/totwo")

	const no, yes = false, true
	for _, c := range []struct {
		path        string
		read, write bool
	}{
		{"a.txt", yes, yes},
		{w.path("ws/a.txt"), yes, yes},
		{"./sub//../sub/b.txt", yes, yes},
		{"tosub/b.txt", yes, yes},
		{"abssub/b.txt", yes, yes},
		{"é\u0301☃.txt", no, yes}, // not there yet
		{"..", no, no},
		{"../out/secret.txt", no, no},
		{"sub/../../out/secret.txt", no, no},
		{w.path("out/secret.txt"), no, no},
		{w.path("ws-evil/e.txt"), no, no},
		{"../ws-evil/e.txt", no, no},
		{"dirlink/secret.txt", no, no},
		{"dirlink/new.txt", no, no},
		{"filelink", no, no},
		{"abslink/secret.txt", no, no},
		{"chain1", no, no},
		{"loop", no, no},
		{"sub/up/etc/passwd", no, no},
		{"hidden/h.txt", no, no},
		{"HIDDEN/h.txt", no, no},
		{"tohidden/h.txt", no, no},
		{"keep/k.txt", yes, no},
		{"keep/new.txt", no, no},
		{"tokeep/k.txt", yes, no},
		{"tokeep/new.txt", no, no},
		{".git/config", yes, no},
		{".git/hooks/post-commit", no, no},
		{".GIT/config", no, no},
		{"togit/config", yes, no},
		{"togit/hooks/post-commit", no, no},
		{".conclave/x", no, no},
		{"inner/i.txt", yes, no},
		{"inner/new.txt", no, no},
		{"toinner/i.txt", no, no},
		{"toro", no, no},
		{w.path("ro/r.txt"), yes, no},
		{w.path("ro/new.txt"), no, no},
		{w.path("files/one.txt"), yes, yes},
		{w.path("files/one.txt/x"), no, no},
		{w.path("files/two.txt"), no, no},
		{w.path("files"), no, no},
		{"totwo", no, no},
		{"toproc", no, no},
		{"/proc/self/environ", no, no},
		{"/proc/self/cwd/../a.txt", no, no},
		{"/dev/fd/0", no, no},
		{"/dev/null", no, no},
		{"/", no, no},
		{"", no, no},
		{"a\x00.txt", no, no},
		{"a.txt/", yes, no},
		{"a.txt/x", no, no},
		{"sub", no, no},
		{".", no, no},
		{strings.Repeat("d/", 3000) + "x", no, no},
		{strings.Repeat("n", 300), no, no},
		{"~/x", no, yes}, // a name like any other
		{`..\out\secret.txt`, no, runtime.GOOS != "windows"},
	} {
		if _, err := w.ReadFile(c.path, 1<<20); (err == nil) != c.read {
			t.Errorf("read %.60q: %v, want it to work: %v", c.path, err, c.read)
		}
		err := w.WriteFile(c.path, []byte("new"))
		if (err == nil) != c.write {
			t.Errorf("write %.60q: %v, want it to work: %v", c.path, err, c.write)
		}
	}
	for _, name := range []string{"out/secret.txt", "ws-evil/e.txt", "ws/hidden/h.txt", "ws/keep/k.txt", "ws/.git/config", "ws/inner/i.txt", "ro/r.txt", "files/two.txt"} {
		w.holds(name, "old "+name)
	}
	w.holds("files/one.txt", "new")
	for _, dir := range []string{"out", "ro", "ws/keep", "ws/.git", "ws/inner", "files", "ws-evil"} {
		entries, err := os.ReadDir(w.path(dir))
		if err != nil {
			t.Fatal(err)
		}
		if want := map[string]int{"files": 2}[dir]; len(entries) != max(1, want) {
			t.Errorf("%s holds %v", dir, entries)
		}
	}
}

// What would change the tree by other means is judged the same way.
func TestTreeCorpus(t *testing.T) {
	w := newWorld(t)
	w.link("../out", "ws/dirlink")
	w.link("keep", "ws/tokeep")
	for what, err := range map[string]error{
		"make a folder outside":     w.MkdirAll("dirlink/x"),
		"make a folder in keep":     w.MkdirAll("tokeep/x"),
		"make a folder at .git":     w.MkdirAll(".Git/x"),
		"make a folder at a file":   w.MkdirAll("a.txt"),
		"move out":                  w.Rename("a.txt", "dirlink/a.txt"),
		"move in":                   w.Rename("dirlink/secret.txt", "s.txt"),
		"move to keep":              w.Rename("a.txt", "keep/a.txt"),
		"move to keep by a link":    w.Rename("a.txt", "tokeep/a.txt"),
		"move keep away":            w.Rename("keep", "kept"),
		"move out of read-only":     w.Rename(w.path("ro/r.txt"), "r.txt"),
		"move into read-only":       w.Rename("a.txt", "inner/a.txt"),
		"move what a mount is in":   w.Rename("inner", "outer"),
		"move over a folder":        w.Rename("a.txt", "sub"),
		"move over a mount":         w.Rename("a.txt", w.path("files/one.txt")),
		"move the workspace":        w.Rename(".", "x"),
		"move to .git":              w.Rename("sub", ".git"),
		"move to .conclave":         w.Rename("sub", ".conclave"),
		"copy out":                  w.Copy("a.txt", "dirlink/a.txt"),
		"copy in":                   w.Copy("dirlink/secret.txt", "s.txt"),
		"copy hidden":               w.Copy("hidden/h.txt", "s.txt"),
		"copy onto itself":          w.Copy(w.path("files/one.txt"), w.path("files/one.txt")),
		"delete outside":            w.Remove("dirlink/secret.txt"),
		"delete keep":               w.RemoveAll(t.Context(), "keep"),
		"delete in keep":            w.Remove("tokeep/k.txt"),
		"delete .git":               w.RemoveAll(t.Context(), ".git"),
		"delete hidden":             w.RemoveAll(t.Context(), "hidden"),
		"delete the workspace":      w.RemoveAll(t.Context(), "."),
		"delete the inner":          w.RemoveAll(t.Context(), "inner"),
		"delete a mount":            w.Remove(w.path("files/one.txt")),
		"delete a file's neighbour": w.Remove(w.path("files/two.txt")),
	} {
		if _, ok := errors.AsType[*confine.Refused](err); !ok {
			t.Errorf("%s: %v, want a refusal", what, err)
		}
	}
	for _, name := range []string{"ws/a.txt", "out/secret.txt", "ws/keep/k.txt", "ws/hidden/h.txt", "ro/r.txt", "files/one.txt", "files/two.txt"} {
		w.holds(name, "old "+name)
	}
	// A link itself may go: it is in the workspace.
	if err := errors.Join(w.Rename("dirlink", "sub/moved"), w.RemoveAll(t.Context(), "sub"), w.Remove("tokeep")); err != nil {
		t.Error(err)
	}
	w.holds("out/secret.txt", "old out/secret.txt")
	w.holds("ws/keep/k.txt", "old ws/keep/k.txt")
}

// A file with a second name is left alone: the other may be anywhere.
func TestHardLinks(t *testing.T) {
	w := newWorld(t)
	if err := os.Link(w.path("out/secret.txt"), w.path("ws/hard.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(w.path("out/secret.txt"), w.path("ws/sub/hard.txt")); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"write":                     w.WriteFile("hard.txt", []byte("new")),
		"copy over":                 w.Copy("a.txt", "hard.txt"),
		"move":                      w.Rename("hard.txt", "other.txt"),
		"move over":                 w.Rename("a.txt", "hard.txt"),
		"delete":                    w.Remove("hard.txt"),
		"delete it with its folder": w.RemoveAll(t.Context(), "sub"),
	} {
		if err == nil || !strings.Contains(err.Error(), "hard links") {
			t.Errorf("%s: %v", what, err)
		}
	}
	w.holds("out/secret.txt", "old out/secret.txt")
	w.holds("ws/sub/b.txt", "old ws/sub/b.txt")
	w.holds("ws/a.txt", "old ws/a.txt")
}

func TestOpenNamesWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	_, err := confine.Open(policy.Place{Dir: dir, Mounts: []policy.Mount{
		{Path: filepath.Join(dir, "gone")}, {Path: dir}, {Path: dir}, {Path: "relative"}, {Path: filepath.Join(dir, "lost")},
	}})
	for _, want := range []string{"gone", "lost", "given twice", `"relative" is not absolute`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}
