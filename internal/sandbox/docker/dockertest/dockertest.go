// Package dockertest starts a Docker engine for tests: a real one, with a socket
// and directories of its own, no network but the machine's, and one image made
// of busybox. It needs to be root and to find dockerd and busybox, static, in
// PATH (Debian: docker.io, busybox-static).
//
//	d, err := dockertest.Start()
//	…
//	err = d.Stop()
package dockertest

import "errors"

// A Setup is what an engine is to have.
type Setup struct {
	// Programs find the libraries they need in the image. Holds are in it, too, in
	// /bin.
	Programs, Holds []string
	// Bridge: containers may have a network in which they reach this machine and
	// nobody else.
	Bridge bool
}

// Image is the one image there is.
const Image = "conclave/test:busybox"

// ErrMissing is that a part an engine needs is not there.
var ErrMissing = errors.New("missing")
