package tui

import (
	"io"

	"golang.org/x/sys/unix"
)

// discard throws away what a terminal has not taken yet.
func discard(out io.Writer) {
	if f, ok := out.(interface{ Fd() uintptr }); ok {
		_ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCOFLUSH)
	}
}
