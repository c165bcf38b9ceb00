package project

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A full disk costs the publication that does not fit, and nothing else.
func TestFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("a small file system cannot be mounted: %v", err)
	}
	t.Cleanup(func() { must(t, unix.Unmount(disk, unix.MNT_DETACH)) })
	s := Store{Dir: filepath.Join(disk, "workspace")}
	_, err := s.Create(t.Context(), "app", "Build it.")
	must(t, err)
	old := publish(t, s, "a", "old", "", "")
	// Of each size another step is the one that finds no room.
	failed := 0
	for size := 1 << 20; size > 256<<10; size -= 64 << 10 {
		_, err := s.Publish(t.Context(), "app", Publication{Path: "a", Content: bytes.NewReader(make([]byte, size)), Expect: old.Hash})
		if err == nil {
			break // it fits
		}
		if failed++; !errors.Is(err, unix.ENOSPC) {
			t.Errorf("%d bytes: %v", size, err)
		}
		if d := get(t, s).Deliverables; len(d) != 1 || d[0].Edited || content(t, s, "a", 0) != "old" || content(t, s, "a", 1) != "old" {
			t.Fatalf("%d bytes: %+v", size, d)
		}
	}
	if failed < 2 {
		t.Errorf("only %d publications did not fit", failed)
	}
}
