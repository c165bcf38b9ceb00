//go:build linux

package seccomp

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Load puts the calling thread under a filter, for good. The thread must be
// locked and unable to gain privileges.
func Load(program []byte) error {
	var filter []unix.SockFilter
	for i := 0; i+8 <= len(program); i += 8 {
		filter = append(filter, unix.SockFilter{
			Code: binary.LittleEndian.Uint16(program[i:]), Jt: program[i+2], Jf: program[i+3],
			K: binary.LittleEndian.Uint32(program[i+4:]),
		})
	}
	if len(filter) == 0 {
		return fmt.Errorf("load the system call filter: %w", unix.EINVAL)
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(filter)
	if errno != 0 {
		return fmt.Errorf("load the system call filter: %w", errno)
	}
	return nil
}
