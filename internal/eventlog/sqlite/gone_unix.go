//go:build unix

package sqlite

import (
	"errors"

	"golang.org/x/sys/unix"
)

// gone reports whether there is no process of that number here. It may be one of
// another container all the same.
func gone(pid int) bool { return errors.Is(unix.Kill(pid, 0), unix.ESRCH) }
