//go:build !unix

package workspace

import "errors"

// errFull is that the disk is full.
var errFull = errors.New("no space left on device")
