// Package bwrap runs commands in bubblewrap: namespaces of their own in which
// nothing exists but the system's programs, read-only, and the agent's place.
//
// Every command is a bwrap of its own; what it starts ends with it. Commands of
// a box share its place, its home and its temporary files. Capabilities are
// dropped, no privilege can be gained, and a filter refuses system calls that
// could reach around the box. With the machine's network come its abstract unix
// sockets, unless [Engine.Scope] keeps them out.
//
// A protected path that does not exist is kept from being made by an empty
// folder that is put there while the box is open and removed afterwards. A
// protected or hidden path that is a symbolic link is an error.
//
// The limit on memory is one for each process and counts what it has for itself
// alone; the limit on processes counts threads, holds for each command, and is
// refused for root, whom the kernel does not hold to it. CPUs are refused.
package bwrap
