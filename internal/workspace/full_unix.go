//go:build unix

package workspace

import "syscall"

// errFull is that the disk is full.
const errFull = syscall.ENOSPC
