//go:build unix

package projects

import "syscall"

// nowait keeps the opening of a pipe from waiting for its other end.
const nowait = syscall.O_NONBLOCK | syscall.O_NOCTTY
