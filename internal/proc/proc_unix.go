//go:build unix && !linux

package proc

import "syscall"

var polite = []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}

func attributes(syscall.Signal) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// members is the group, as one entry, while anybody is in it: so long nobody
// else can have its number.
func (p *Process) members(bool) []entry {
	pid := p.cmd.Process.Pid
	if syscall.Kill(-pid, 0) != nil {
		return nil
	}
	return []entry{{pid: pid, group: pid}}
}

func tell(e entry, sig syscall.Signal) bool { return syscall.Kill(-e.group, sig) == nil }
