package proc

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Keep makes this process the keeper of another: it starts it in a session of
// its own, waits for it, kills what it leaves behind and returns its exit code,
// or that of a signal that ended the keeper. Orphans below it are handed to it,
// so nobody gets away. Closed are descriptors that the keeper gives away.
//
// It takes over the whole process, which should exit next.
func Keep(path string, argv []string, files []uintptr, closed ...int) (exit int, err error) {
	runtime.LockOSThread() // the other is told of the death of the thread that started it
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("keep orphans: %w", err)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	pid, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{
		Env: os.Environ(), Files: files, Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return 0, fmt.Errorf("keep %s: %w", path, err)
	}
	for _, fd := range closed {
		_ = unix.Close(fd)
	}
	ended := make(chan int, 1)
	go func() { ended <- await(pid) }()
	select {
	case exit = <-ended:
	case <-stop:
		exit = 128 + int(syscall.SIGTERM)
	}
	endDescendants()
	return exit, nil
}

// await waits for everyone until one of them has ended.
func await(pid int) int {
	for {
		var s unix.WaitStatus
		switch got, err := unix.Wait4(-1, &s, 0, nil); {
		case err == unix.EINTR:
		case err != nil:
			return 128 + int(syscall.SIGKILL)
		case got == pid && s.Signaled():
			return 128 + int(s.Signal())
		case got == pid:
			return s.ExitStatus()
		}
	}
}

// endDescendants kills everyone below this process until nobody is there to be
// waited for. Whoever waits at the same time only helps.
func endDescendants() {
	me := os.Getpid()
	for {
		var k kin // without a mark: they are found from the children
		for _, e := range k.members(func(e entry) bool { return e.parent == me }) {
			_ = unix.Kill(e.pid, unix.SIGKILL)
		}
		for {
			pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
			if err == unix.ECHILD {
				return
			}
			if err != unix.EINTR && pid <= 0 {
				break
			}
		}
		time.Sleep(interval)
	}
}
