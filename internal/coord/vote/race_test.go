//go:build race

package vote_test

const raceEnabled = true
