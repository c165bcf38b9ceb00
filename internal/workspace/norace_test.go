//go:build !race

package workspace

const raced = false // by the race detector
