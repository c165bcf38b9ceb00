//go:build !race

package tui_test

// storm is how many things are done in each situation.
const storm = 2000
