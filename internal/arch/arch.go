// Package arch holds tests about the tree itself: every package is documented,
// every arrow points downward, the pure packages are pure, and goroutines start
// only where somebody owns them. It has nothing to import.
//
// Each rule is a function from files to problems, so that it can be shown to
// fail on a made-up file. A problem says what to do about it.
package arch
