package sqlite_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"conclave/internal/eventlog/sqlite"
)

// Whoever takes a flow up just after its holder was killed gets it, although a
// program which that was about to start still has its descriptors for a moment.
func TestLockOutlivesItsHolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := sqlite.Open(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	// The descriptors of the program that begins, as far as they matter.
	f, err := os.OpenFile(filepath.Join(dir, "leases", "run-1"), os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart})
	}
	if err == nil {
		_, err = fmt.Fprintf(f, `{"pid":%d}`, dead.Process.Pid)
	}
	if err != nil {
		t.Fatal(err)
	}
	begins := time.AfterFunc(20*time.Millisecond, func() { f.Close() })
	defer begins.Stop()
	lease, err := l.Acquire(ctx, "run-1", false)
	if err != nil {
		t.Fatalf("nobody drives it, and it cannot be taken up: %v", err)
	}
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
}
