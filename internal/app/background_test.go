package app

import (
	"os/exec"
	"testing"
)

// A background process that has ended is not kept by the system for as long as
// this one lives.
func TestBroodIsReaped(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Skip("there is no program called true")
	}
	var b brood
	if err := b.leave(cmd.Process); err != nil {
		t.Fatal(err)
	}
	for len(b.pids) > 0 {
		b.reap()
	}
	if b.reap(); len(b.pids) != 0 {
		t.Errorf("left are %v", b.pids)
	}
}
