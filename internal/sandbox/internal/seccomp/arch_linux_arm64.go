package seccomp

import "golang.org/x/sys/unix"

const (
	arch    = unix.AUDIT_ARCH_AARCH64
	foreign = 0 // there is one manner of calling
)

var (
	refusedHere []uint32
	modesHere   []argument
	opensHere   []argument
	nodesHere   []argument
)
