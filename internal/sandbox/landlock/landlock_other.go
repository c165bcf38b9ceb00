//go:build !linux

package landlock

import (
	"context"
	"errors"

	"conclave/internal/sandbox"
)

// Child returns: there is nothing to be a child of here.
func Child() {}

// An Engine is Landlock, which is of Linux alone.
type Engine struct{ Self, Procs, Boxes string }

var errLinux = errors.New("landlock works on Linux only; use docker")

func (*Engine) Name() string                { return "landlock" }
func (*Engine) Probe(context.Context) error { return errLinux }
func (*Engine) Scope() []string             { return nil }
func (*Engine) Open(context.Context, sandbox.Spec) (sandbox.Box, error) {
	return nil, errLinux
}
