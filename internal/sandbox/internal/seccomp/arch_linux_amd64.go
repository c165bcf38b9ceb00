package seccomp

import "golang.org/x/sys/unix"

const (
	arch = unix.AUDIT_ARCH_X86_64
	// foreign is where the numbers of another manner of calling begin (x32).
	foreign = 0x40000000
)

var (
	refusedHere = []uint32{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS_USTAT, unix.SYS_SYSFS, unix.SYS__SYSCTL}
	modesHere   = []argument{{unix.SYS_CHMOD, 1}, {unix.SYS_CREAT, 1}, {unix.SYS_MKNOD, 1}}
	opensHere   = []argument{{unix.SYS_OPEN, 2}}
	nodesHere   = []argument{{unix.SYS_MKNOD, 1}}
)
