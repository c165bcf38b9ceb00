//go:build race

package workspace

// volume is how many files the large test has; the race detector is slow.
const volume = 10_000
