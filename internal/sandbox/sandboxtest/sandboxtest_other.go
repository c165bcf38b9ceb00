//go:build !linux

package sandboxtest

import "testing"

// The suite is about what Linux can hold back.
var groups []group

type world struct {
	*testing.T
	engine any
	traits Traits
}

func help(string, []string) int { return 2 }
