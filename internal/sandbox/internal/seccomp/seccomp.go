// Package seccomp makes the filter of system calls that commands in a box live
// under: what could reach around the box is refused, all else is let through.
//
// Namespaces and Landlock say what a box consists of; the filter takes away the
// parts of the kernel with which either could be left or undone, and those that
// have been the way in before (io_uring, bpf, userfaultfd). [Program] is the
// filter; a [Program] is loaded by whoever starts the command. It is a list of
// refusals, because a list of permissions breaks programs nobody thought of.
package seccomp

import "errors"

// Rules say what a filter refuses besides what every filter does.
type Rules struct {
	// Sockets says which kinds of sockets there are.
	Sockets Sockets
	// Shared refuses memory and queues that are named for the whole machine: for
	// a box without a namespace for them.
	Shared bool
}

// Sockets is a choice of socket families.
type Sockets int

const (
	// Private: unix sockets and the internet, for a box whose network is its own
	// or the machine's by choice, and whose files are its own.
	Private Sockets = iota
	// Internet: no unix sockets, whose names reach out of a box that sees the
	// machine's files.
	Internet
	// None: no sockets but connected pairs.
	None
)

// ErrArch is that there is no filter for this processor.
var ErrArch = errors.New("there is no system call filter for this kind of processor")
