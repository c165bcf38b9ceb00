package control

import (
	"cmp"
	"fmt"
	"strings"

	"conclave/internal/event"
)

// NotFound is the error of looking for a flow, or for something else that has a
// name, that is not there.
type NotFound struct {
	What    string // was looked for; empty is a run
	Typed   string
	Several []event.FlowID // it could be any of these
	Nearest []event.FlowID
}

func (e *NotFound) Error() string {
	var b strings.Builder
	switch {
	case len(e.Several) > 0:
		fmt.Fprintf(&b, "%q could be any of these:", e.Typed)
		for _, id := range e.Several {
			fmt.Fprintf(&b, "\n  %s", id)
		}
		return b.String()
	case e.Typed == "":
		return "there are no runs here yet; start one with: conclave run \"your task\""
	}
	fmt.Fprintf(&b, "there is no %s %q here", cmp.Or(e.What, "run"), e.Typed)
	if len(e.Nearest) > 0 {
		b.WriteString("; the nearest are:")
		for _, id := range e.Nearest {
			fmt.Fprintf(&b, "\n  %s", id)
		}
	}
	return b.String()
}

// A Usage error is about what was asked for: nothing was done.
type Usage struct{ Err error }

func (e *Usage) Error() string { return e.Err.Error() }
func (e *Usage) Unwrap() error { return e.Err }

// Usagef makes a Usage error.
func Usagef(format string, args ...any) error { return &Usage{fmt.Errorf(format, args...)} }

// Driven is the error of taking up a flow that another process drives.
type Driven struct {
	Flow event.FlowID
	PID  int
}

func (e *Driven) Error() string {
	who := fmt.Sprintf("process %d", e.PID)
	if e.PID == 0 { // has not said yet who it is
		who = "another process"
	}
	return fmt.Sprintf("%s is being driven by %s; follow it with: conclave log --follow %s\nIf that process hangs: conclave resume --take-over %s",
		e.Flow, who, e.Flow, e.Flow)
}

// TakenOver is the error of a driver whose flow another process has taken over.
type TakenOver struct{ Flow event.FlowID }

func (e *TakenOver) Error() string {
	return fmt.Sprintf("another process has taken over %s, and nothing this one did since is recorded; follow it with: conclave log --follow %s", e.Flow, e.Flow)
}
