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

func signalAll(who []entry, _ syscall.Signal) int {
	n := 0
	for _, e := range who {
		if h, err := os.FindProcess(e.pid); err == nil {
			if h.Kill() == nil {
				n++
			}
			_ = h.Release()
		}
	}
	return n
}

func code(s *os.ProcessState) int { return s.ExitCode() }
