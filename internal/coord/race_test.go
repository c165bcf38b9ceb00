//go:build race

package coord_test

const raceEnabled = true
