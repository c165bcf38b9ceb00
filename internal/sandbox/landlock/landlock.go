// Package landlock confines commands with Landlock and a filter of system calls,
// where nothing can be installed and there are no user namespaces.
//
// A command is started by this program itself, started again: [Child] has to be
// the first thing that main does. The outer of the two it starts keeps the
// command: whoever loses its parent becomes its child, so that nobody gets away.
// The inner one gives up its rights and becomes the command.
//
// It is weaker than namespaces, and here is how. Landlock can only add rights
// below a folder, never take some away: in a folder that holds something
// protected or hidden, nothing new can be made and nothing removed or renamed,
// though what is there can be changed; if something is hidden, the folder cannot
// be listed. Modes, times and owners of files are not covered, nor is whether a
// file exists. Other processes are seen, and cannot be touched. There are no
// unix sockets but connected pairs.
//
// The limit on memory is one for each process and counts what it has for itself
// alone. Limits on processes and CPUs are refused.
package landlock

// Arg is the first argument of this program when it is to confine a command.
const Arg = "__sandbox"
