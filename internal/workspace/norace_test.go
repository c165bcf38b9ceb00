//go:build !race

package workspace

// volume is how many files the large test has.
const volume = 100_000
