//go:build race

package talk_test

const raceEnabled = true
