package sqlite_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"conclave/internal/eventlog"
	"conclave/internal/eventlog/eventlogtest"
)

// A disk that is full refuses a commit as a whole, and the same log goes on
// when there is space again.
func TestFullDisk(t *testing.T) {
	disk := t.TempDir()
	err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=2m")
	need(t, err == nil, "the right to mount a tmpfs")
	t.Cleanup(func() {
		if err := unix.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 600<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(disk, ".conclave")
	log := open(t, dir)
	l := acquire(t, log, "run-1")
	const each = 40
	last := uint64(0)
	commit := func() error {
		err := log.Commit(ctx, l, eventlogtest.Sample("run-1", last+1, last+each))
		if err == nil {
			last += each
		}
		return err
	}
	for err = nil; err == nil; {
		err = commit()
	}
	if !errors.Is(err, eventlog.ErrFull) || errors.Is(err, eventlog.ErrUnknown) || !strings.Contains(err.Error(), "conclave.db") || !strings.Contains(err.Error(), "free some space") {
		t.Fatalf("commit %d: %v, want ErrFull, the file and advice", last+1, err)
	}
	n := uint64(0)
	for e, err := range log.Read(ctx, "run-1", 1) {
		if err != nil {
			t.Fatal(err)
		}
		n = e.Seq
	}
	if n != last {
		t.Fatalf("%d events, %d were acknowledged", n, last)
	}
	if _, err := log.PutBlob(ctx, bytes.Repeat([]byte("x"), 2<<20)); !errors.Is(err, eventlog.ErrFull) {
		t.Errorf("PutBlob: %v, want ErrFull", err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := commit(); err != nil {
		t.Fatalf("commit after there is space again: %v", err)
	}
	log.Close()
	sound(t, dir)
}

// A directory that belongs to somebody else.
func TestUnwritable(t *testing.T) {
	need(t, os.Getuid() == 0, "to be root, to run as somebody else")
	base, err := os.MkdirTemp("", "unwritable") // t.TempDir is closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	if err := os.Chmod(base, 0o755); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(base, "helper")
	install(t, binary)
	stranger := func(c *exec.Cmd) {
		c.Path, c.Args = binary, []string{binary}
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	readable := filepath.Join(base, "readable")
	log := open(t, readable)
	if err := log.Commit(ctx, acquire(t, log, "run-1"), eventlogtest.Sample("run-1", 1, 1)); err != nil {
		t.Fatal(err)
	}
	log.Close()
	for path, mode := range map[string]os.FileMode{"": 0o755, "leases": 0o755, "conclave.db": 0o644, "bell": 0o644} {
		if err := os.Chmod(filepath.Join(readable, path), mode); err != nil {
			t.Fatal(err)
		}
	}
	private := filepath.Join(base, "private")
	open(t, private).Close()
	for name, dir := range map[string]string{
		"files that can only be read": readable,
		"files that cannot be read":   private,
		"no right to make it":         filepath.Join(base, "none", ".conclave"),
	} {
		c := start(t, "open", dir, stranger)
		if s := c.line(t); !strings.HasPrefix(s, "true ") || !strings.Contains(s, dir) || !strings.Contains(s, "write access") {
			t.Errorf("%s: %s, want ErrUnwritable, the file and advice", name, s)
		}
		c.end(t)
	}
	sound(t, readable)
}

// install copies this test binary to a place where everybody can run it.
func install(t *testing.T, path string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
}
