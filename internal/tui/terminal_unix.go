//go:build unix

package tui

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// stops is the signal that stops a program. While it is caught the program is
// not stopped by it, so that the terminal can be put in order first.
type stops struct{ caught chan os.Signal }

func (s *stops) catch()   { signal.Notify(s.caught, syscall.SIGTSTP) }
func (s *stops) release() { signal.Stop(s.caught) }

// unstoppable is why the program cannot be stopped: without a shell that watches
// over its jobs nobody would let it go on.
func unstoppable() string {
	parent := os.Getppid()
	session, err := unix.Getsid(parent)
	own, _ := unix.Getsid(0)
	group, _ := unix.Getpgid(parent)
	if err != nil || session != own || group == unix.Getpgrp() {
		return "There is no shell to go back to."
	}
	return ""
}
