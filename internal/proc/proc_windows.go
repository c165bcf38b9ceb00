package proc

import (
	"os"
	"syscall"
)

// There is nothing polite to say to a process here.
var polite []syscall.Signal

func attributes(syscall.Signal) *syscall.SysProcAttr { return nil }

func (p *Process) members(itself bool) []entry {
	if !itself || p.cmd.Process.Signal(syscall.Signal(0)) == os.ErrProcessDone {
		return nil
	}
	return []entry{{pid: p.cmd.Process.Pid}}
}

func tell(e entry, _ syscall.Signal) bool {
	h, err := os.FindProcess(e.pid)
	if err != nil {
		return false
	}
	defer h.Release()
	return h.Kill() == nil
}

func code(s *os.ProcessState) int { return s.ExitCode() }
