//go:build unix

package tui

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// stops is the signal that stops a program, caught so that the terminal can be
// put in order first. Once caught, it never again stops a Go program by itself.
type stops struct{ caught chan os.Signal }

func (s *stops) catch()   { signal.Notify(s.caught, syscall.SIGTSTP) }
func (s *stops) release() { signal.Stop(s.caught) }

// Run stops this program, and those that were started along with it, until the
// shell lets them go on. It is a [tea.ExecCommand]: it runs while the terminal is
// as the shell left it.
//
// The signal that stops the others comes to this program as well. It is waited
// for: one that were noticed only after the shell has let us go on would stop us
// again.
func (s *stops) Run() error {
	own := make(chan os.Signal, 1)
	signal.Notify(own, syscall.SIGTSTP)
	s.release()
	defer s.catch()
	defer signal.Stop(own)
	if err := syscall.Kill(0, syscall.SIGTSTP); err != nil {
		return err
	}
	<-own
	return syscall.Kill(os.Getpid(), syscall.SIGSTOP)
}

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
