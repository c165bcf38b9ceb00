package pgtest

import "syscall"

// attributes are of a process in a session of its own, for an interrupt at the
// terminal is for the test. If the test is killed, the server ends with it.
func attributes(uid int) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGQUIT}
	if uid != 0 {
		a.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
	}
	return a
}
