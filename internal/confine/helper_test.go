package confine_test

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"conclave/internal/confine"
	"conclave/internal/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A world is a workspace with things around it that are not the agent's.
type world struct {
	*confine.Root
	t   *testing.T
	dir string
}

// newWorld has these mounts: ws (writable; keep is protected, hidden is hidden,
// ws/inner is a mount of its own, read-only), ro (read-only), and one.txt, a
// writable file in the folder files.
func newWorld(t *testing.T) world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := world{t: t, dir: dir}
	for _, name := range []string{
		"ws/a.txt", "ws/sub/b.txt", "ws/keep/k.txt", "ws/hidden/h.txt", "ws/.git/config", "ws/inner/i.txt",
		"ws-evil/e.txt", "out/secret.txt", "ro/r.txt", "files/one.txt", "files/two.txt",
	} {
		w.put(name, "old "+name)
	}
	w.Root, err = confine.Open(policy.Place{Dir: w.path("ws"), Mounts: []policy.Mount{
		{Path: w.path("ws"), Write: true, Protected: []string{"keep"}, Hidden: []string{"hidden"}},
		{Path: w.path("ws/inner")},
		{Path: w.path("ro")},
		{Path: w.path("files/one.txt"), Write: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w world) path(name string) string { return filepath.Join(w.dir, name) }

// put writes a file without asking anybody.
func (w world) put(name, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o777); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// link makes a symbolic link without asking anybody.
func (w world) link(to, name string) {
	w.t.Helper()
	if err := os.Symlink(to, w.path(name)); err != nil {
		w.t.Fatal(err)
	}
}

// holds wants a file to have a content.
func (w world) holds(name, want string) {
	w.t.Helper()
	got, err := os.ReadFile(w.path(name))
	if err != nil || string(got) != want {
		w.t.Errorf("%s holds %q, %v, want %q", name, got, err, want)
	}
}
