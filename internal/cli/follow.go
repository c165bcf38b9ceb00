package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/live"
)

// standing is how far the log of a flow has come.
type standing struct {
	seq uint64
	end *event.Finished // nil if the flow is not over
}

func standingOf(ctx context.Context, c control.Control, id event.FlowID) (standing, error) {
	var s standing
	for e, err := range c.Read(ctx, id) {
		if err != nil {
			return s, err
		}
		s.seq = e.Seq
		if f, ok := e.Body.(event.Finished); ok {
			s.end = &f
		}
	}
	return s, nil
}

// How long to wait before trying again to hear a driver that cannot be heard.
const (
	firstRetry = 50 * time.Millisecond
	lastRetry  = 2 * time.Second
)

// whileDriven hands on what the driver of a flow in another process lets be
// heard. It returns when nobody drives the flow, or when ctx ends.
func whileDriven(ctx context.Context, c control.Control, id event.FlowID, f func(live.Delta)) {
	for wait := firstRetry; ctx.Err() == nil; wait = min(2*wait, lastRetry) {
		c.Listen(ctx, id, false, f)
		if _, driven, err := c.Driver(ctx, id); err == nil && !driven {
			return
		}
		// It has dropped us as too slow, is about to end, or has no voice.
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// overhear listens to whoever drives the flow, one driver after another, and
// reports each time there is none.
func (w *watch) overhear(ctx context.Context, in inputs) {
	for ctx.Err() == nil {
		if w.ear.listen(ctx, func(ctx context.Context) { whileDriven(ctx, w.c, w.id, in.delta(ctx)) }) {
			continue // to another driver
		}
		s, err := standingOf(ctx, w.c, w.id)
		if err != nil || s.end != nil {
			return // readEvents comes to the same end
		}
		select {
		case w.deserted <- s:
		case <-ctx.Done():
		}
		select {
		case <-w.taken:
		case <-ctx.Done():
		}
	}
}

// desert takes in that nobody drove the flow when its log had come that far.
func (w *watch) desert(s standing) {
	if w.up > s.seq { // somebody does since
		w.taken <- struct{}{}
		return
	}
	w.alone, w.lonely = s, false
}

// sayAlone tells that nobody drives the flow, once all it has come to is shown.
func (w *watch) sayAlone() {
	if w.alone.seq > 0 && w.seen >= w.alone.seq && !w.lonely {
		w.lonely = true
		w.screen.notice(fmt.Sprintf("Nobody drives this %s now; to go on with it: conclave resume %s", w.noun(), w.id))
	}
}

// takenUp notes that somebody drives the flow again.
func (w *watch) takenUp(e event.Event) {
	w.up = e.Seq
	w.ear.turn()
	if w.alone.seq > 0 && e.Seq > w.alone.seq {
		w.alone = standing{}
		w.taken <- struct{}{} // has room: overhear waits for it
		w.screen.notice("")
	}
}

// lost tells how our driving ended if an event says that somebody has taken the
// flow from us. A driver that was stopped and has come back learns it here even
// if it has nothing to record.
func (w *watch) lost(ctx context.Context, e event.Event, in *inputs) error {
	if _, up := e.Body.(event.Resumed); !up || w.stop == nil || in.driven == nil {
		return nil
	}
	d, held, err := w.c.Driver(ctx, w.id)
	if err == nil && held && d.PID == os.Getpid() {
		w.ours = true
		return nil
	}
	if err != nil || !w.ours {
		return nil // an old story
	}
	// The flow is not ours any more. If that is because we have brought it to
	// its end, stopping comes too late to matter.
	w.stop(&control.TakenOver{Flow: w.id})
	for {
		select {
		case err := <-in.driven:
			in.driven = nil
			return err
		case <-in.signals:
			signal.Reset(os.Interrupt) // the next one ends the program at once
		}
	}
}

// An ear listens to one driver and is turned to the next. A driver that hangs
// keeps its voice, so its silence says nothing.
type ear struct {
	mu   sync.Mutex
	away context.CancelFunc
}

// listen calls f with a context that ends when the ear is turned, and reports
// whether it was.
func (r *ear) listen(parent context.Context, f func(context.Context)) (turned bool) {
	ctx, away := context.WithCancel(parent)
	defer away()
	r.mu.Lock()
	r.away = away
	r.mu.Unlock()
	f(ctx)
	return ctx.Err() != nil && parent.Err() == nil
}

func (r *ear) turn() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.away != nil {
		r.away()
	}
}
