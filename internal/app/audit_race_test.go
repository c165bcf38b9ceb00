//go:build race

package app

// raceEnabled: the race detector makes everything many times slower.
const raceEnabled = true
