//go:build race

package workspace

const raced = true // by the race detector
