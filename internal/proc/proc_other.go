//go:build !linux

package proc

import (
	"errors"
	"os"
)

var errNoIdentity = errors.New("processes have no identity here")

// Of is who has a pid now: outside Linux nobody knows.
func Of(int) (Identity, error) { return Identity{}, errNoIdentity }

// Self is who this process is.
func Self() (Identity, error) { return Identity{PID: os.Getpid()}, errNoIdentity }

func (*kin) members(func(entry) bool) []entry { return nil }

// awaitExit waits for the process and its output: there is no way to notice an
// end without taking note of it.
func (p *Process) awaitExit() (reap func() error) {
	err := p.cmd.Wait()
	return func() error { return err }
}
