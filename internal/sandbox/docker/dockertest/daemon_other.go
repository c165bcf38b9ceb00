//go:build !linux

package dockertest

import (
	"context"
	"fmt"
)

// A Daemon runs on Linux only.
type Daemon struct{}

// Start says that there is none.
func Start(...string) (*Daemon, error) {
	return nil, fmt.Errorf("dockerd: %w: it runs on Linux", ErrMissing)
}

// Start says that there is none.
func (Setup) Start() (*Daemon, error) { return Start() }

func (*Daemon) Host() string                           { return "" }
func (*Daemon) Stop() error                            { return nil }
func (*Daemon) Kill()                                  {}
func (*Daemon) Again() error                           { return nil }
func (*Daemon) Pause(bool) error                       { return nil }
func (*Daemon) Left(context.Context) ([]string, error) { return nil, nil }
