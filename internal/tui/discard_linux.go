package tui

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// discard throws away what a terminal has not taken yet. Whoever waits to write
// more learns of the room only when it is disturbed: that is what the signal is
// for, with which Go disturbs its own threads.
func discard(out io.Writer) {
	f, ok := out.(interface{ Fd() uintptr })
	if !ok || unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCOFLUSH) != nil {
		return
	}
	threads, _ := os.ReadDir("/proc/self/task")
	for _, t := range threads {
		if tid, err := strconv.Atoi(t.Name()); err == nil {
			_ = unix.Tgkill(os.Getpid(), tid, unix.SIGURG)
		}
	}
}
