package mcpserve

import (
	"context"
	"fmt"
	"strings"
	"time"

	"conclave/internal/control"
	"conclave/internal/event"
)

// A place is where a wanted run is found.
type place struct {
	session event.FlowID
	want    string
}

// A want is a run that was wanted, as far as it has come.
type want struct {
	id       string
	at       time.Time
	launch   event.Launch
	estimate *event.Estimate
	refused  string // why nothing came of it
	asked    *event.Asked
	closed   *event.Closed
	run      event.FlowID
	returned *event.Returned
	ended    time.Time
	// withdrawn: it is being ended. orphan: whoever wanted it was not there at its
	// end, for another process has gone on with it since.
	withdrawn, orphan bool
}

// open reports whether a person is being asked.
func (w *want) open() bool { return w.asked != nil && w.closed == nil && w.run == "" }

// over reports whether nothing more comes of it.
func (w *want) over() bool {
	return w.refused != "" || w.returned != nil || w.closed != nil && w.closed.Choice != event.LaunchApprove
}

// A board is what a session's log says about the runs that were wanted in it. It
// is a fold.
type board struct {
	wants   map[string]*want
	refused map[string]string // why, by the id of what was said
	amended map[string]event.Amended
}

func (b *board) apply(e event.Event) {
	if b.wants == nil {
		b.wants, b.refused, b.amended = map[string]*want{}, map[string]string{}, map[string]event.Amended{}
	}
	switch f := e.Body.(type) {
	case event.Wanted:
		b.wants[e.ID] = &want{id: e.ID, at: e.At, launch: f.Launch, estimate: f.Estimate}
	case event.Amended:
		b.amended[e.ID] = f
	case event.Admitted:
		if a, ok := b.amended[f.Ref]; ok {
			b.with(a.Want, func(w *want) { w.launch, w.estimate = a.Launch, a.Estimate })
		}
	case event.Refused:
		b.refused[f.Ref] = f.Why
		b.with(f.Ref, func(w *want) { w.refused = f.Why })
	case event.Asked:
		if id, ok := strings.CutPrefix(f.Gate, "launch/"); ok && f.Kind == event.GateLaunch {
			b.with(id, func(w *want) { w.asked, w.closed = &f, nil })
		}
	case event.Closed:
		if id, ok := strings.CutPrefix(f.Gate, "launch/"); ok {
			b.with(id, func(w *want) { w.closed = &f })
		}
	case event.Launched:
		b.with(f.Want, func(w *want) {
			w.run = f.Run
			if f.Launch != nil {
				w.launch = *f.Launch
			}
		})
	case event.Withdrawn:
		b.with(f.Message, func(w *want) { w.withdrawn = true })
	case event.Resumed:
		for _, w := range b.wants {
			w.orphan = w.orphan || !w.over()
		}
	case event.Returned:
		for _, w := range b.wants {
			if w.run == f.Run {
				w.returned, w.ended = &f, e.At
			}
		}
	}
}

func (b *board) with(id string, do func(*want)) {
	if w, ok := b.wants[id]; ok {
		do(w)
	}
}

// busy reports whether something goes on that nobody but a driver brings to its
// end. A question waits in the log.
func (b *board) busy() bool {
	for _, w := range b.wants {
		if !w.over() && !w.open() {
			return true
		}
	}
	return false
}

// boardOf is what a session's log says as far as it has come.
func boardOf(ctx context.Context, c control.Control, id event.FlowID) (*board, error) {
	var b board
	for e, err := range c.Read(ctx, id) {
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", id, err)
		}
		b.apply(e)
	}
	return &b, nil
}
