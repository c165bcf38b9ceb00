package cli

import (
	"errors"
	"strings"

	"conclave/internal/control"
	"conclave/internal/event"
)

// Exit codes.
const (
	exitOK        = 0
	exitUsage     = 1 // usage or configuration: nothing was done
	exitFailed    = 2
	exitTimeout   = 3 // an answer may still have been printed
	exitCancelled = 4
	exitRefused   = 5
)

// An outcome is an error that is nothing but an exit code: what there is to say
// has been said. Joined with other errors it leaves the saying to them.
type outcome struct{ code int }

func (o outcome) Error() string { return "" }

// ended is the outcome of a run.
func ended(s event.Status) error {
	switch s {
	case event.StatusSuccess:
		return nil
	case event.StatusTimeout:
		return outcome{exitTimeout}
	case event.StatusCancelled:
		return outcome{exitCancelled}
	}
	return outcome{exitFailed}
}

// exitCode maps every error to its code, and gives what is still to be said.
func exitCode(err error, out *sink) (code int, say string) {
	fault := out.fault()
	switch {
	case err == nil && fault != nil:
		return exitFailed, fault.Error()
	case err == nil, fault == nil && out.err != nil && errors.Is(err, out.err):
		return exitOK, "" // a reader that has seen enough
	}
	return codeOf(err), strings.TrimSpace(err.Error())
}

func codeOf(err error) int {
	if o, ok := errors.AsType[outcome](err); ok {
		return o.code
	}
	_, usage := errors.AsType[*control.Usage](err)
	_, none := errors.AsType[*control.NotFound](err)
	_, driven := errors.AsType[*control.Driven](err)
	_, taken := errors.AsType[*control.TakenOver](err)
	switch {
	case usage, none, driven:
		return exitUsage
	case taken:
		return exitCancelled
	}
	return exitFailed
}
