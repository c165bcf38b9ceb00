//go:build race

package tui_test

// storm is how many things are done in each situation: a tenth, with the race
// detector.
const storm = 200
