//go:build unix

package memory_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe in the place of a note holds nobody up.
func TestPipe(t *testing.T) {
	d := open(t)
	d.put(t, "memory/long_term/a.md", "---\nname: a\n---\nx")
	if err := syscall.Mkfifo(filepath.Join(d.dir, "memory", "long_term", "pipe.md"), 0o644); err != nil {
		t.Fatal(err)
	}
	if res := d.call(t, "memory_read", m{"name": "pipe"}); !res.Error || !strings.Contains(res.Text, "not a regular file") {
		t.Errorf("%+v", res)
	}
}
