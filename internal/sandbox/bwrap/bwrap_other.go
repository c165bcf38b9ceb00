//go:build !linux

package bwrap

import (
	"context"
	"errors"

	"conclave/internal/sandbox"
)

// An Engine is bubblewrap, which is of Linux alone.
type Engine struct {
	Program, Procs, Boxes string
	Scope                 []string
}

var errLinux = errors.New("bubblewrap works on Linux only; use docker")

func (*Engine) Name() string                { return "bwrap" }
func (*Engine) Probe(context.Context) error { return errLinux }
func (*Engine) Open(context.Context, sandbox.Spec) (sandbox.Box, error) {
	return nil, errLinux
}
