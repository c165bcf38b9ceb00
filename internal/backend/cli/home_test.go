package cli_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"conclave/internal/backend/cli"
)

// Whatever runs in a room may put links into its home. Nothing is read, made,
// written or locked where they lead.
func TestHomeIsNotTrusted(t *testing.T) {
	home, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(home, "threads")); err != nil {
		t.Fatal(err)
	}
	if err := (cli.Thread{Native: "x"}).Save(home, "talk"); err == nil {
		t.Error("a conversation is remembered elsewhere")
	}
	if unlock, err := cli.Lock(home, "talk"); err == nil {
		unlock()
		t.Error("a conversation is locked elsewhere")
	}
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Errorf("outside there is now %v", left)
	}
	precious := filepath.Join(outside, "precious")
	if err := os.WriteFile(precious, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(precious, filepath.Join(home, "config.toml")); err != nil {
		t.Fatal(err)
	}
	if err := cli.WriteFile(home, "config.toml", []byte("new")); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(precious); string(got) != "mine" {
		t.Errorf("a file outside is overwritten with %q", got)
	}
	if got, err := cli.ReadFile(home, "config.toml", 100); string(got) != "new" {
		t.Errorf("read %q, %v", got, err)
	}
	if _, err := cli.ReadFile(home, "config.toml", 2); err == nil {
		t.Error("more is read than wanted")
	}
	if err := os.Symlink(outside, filepath.Join(home, "sub")); err != nil {
		t.Fatal(err)
	}
	if err := cli.Lead(home, "sub/precious", "/nowhere"); err == nil {
		t.Error("a file outside is replaced")
	}
	if err := cli.Lead(home, "other/login", precious); err != nil {
		t.Fatal(err)
	}
	if at, _ := os.Readlink(filepath.Join(home, "other/login")); at != precious {
		t.Errorf("it leads to %q", at)
	}
	if got, _ := os.ReadFile(precious); string(got) != "mine" {
		t.Errorf("a file outside is overwritten with %q", got)
	}
}

// A pipe in a home has nobody wait.
func TestHomeHasNobodyWait(t *testing.T) {
	home := t.TempDir()
	if err := (cli.Thread{Native: "x"}).Save(home, "talk"); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(home, "threads", "*.json"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	if err := os.Remove(names[0]); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(names[0], 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := cli.Load(home, "talk"); err == nil && got.Native != "" {
		t.Errorf("loaded %+v", got)
	}
}
