//go:build !linux

package pgtest

import "syscall"

// attributes are none: here a test is not run as root.
func attributes(int) *syscall.SysProcAttr { return nil }
