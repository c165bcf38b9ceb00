package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/live"
	"conclave/internal/view"
)

// screen is where a watch shows what happens.
type screen interface {
	event(e event.Event)
	delta(d live.Delta)
	// open begins with a flow as far as it has come: its first event, and what
	// all of them have led to.
	open(first event.Event, s view.Snapshot)
	// notice tells the person something about the watching itself.
	notice(s string)
	// ask puts a question to the person, all of it.
	ask(s string)
	tick()
	close()
}

// watch shows one flow until it is over, and drives it if it is given a way to.
type watch struct {
	*env
	c       control.Control
	id      event.FlowID
	show    show
	offline bool
	yes     bool // permissions are given as they are asked for
	// following: the lines are what was asked for; there is no result to print.
	following bool

	// opened is where the flow stood when the watch began; nil if everything is
	// to be shown from its first event on.
	opened *view.Snapshot
	first  event.Event

	result view.Result
	seen   uint64 // events
	over   bool
	rest   uint64 // the event with which it came to rest, if it did
	screen screen

	// Of driving:
	stop     context.CancelCauseFunc // nil if it is not ours
	ours     bool                    // the log says that it is driven from here
	request  request
	cancel   <-chan time.Time // when to cancel for good
	stopping bool             // the run was told to before it was left
	hand     bool             // to a background process, once left

	// Of following:
	ear      ear
	deserted chan standing // nobody drove the flow when it had come that far
	taken    chan struct{} // and now somebody does
	alone    standing
	lonely   bool   // the person knows
	up       uint64 // the event with which the flow was last taken up
}

// errLeave is the reason for a driver of ours to stop.
var errLeave = errors.New("left")

func newWatch(e *env, c control.Control, id event.FlowID, s show) *watch {
	return &watch{env: e, c: c, id: id, show: s, taken: make(chan struct{}, 1), deserted: make(chan standing)}
}

// run watches the flow to its end. If start is not nil it drives the flow in
// this process meanwhile; otherwise somebody else does, or nobody.
func (w *watch) run(parent context.Context, start func(context.Context) error) error {
	ctx, done := context.WithCancel(parent)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer done()
	driving, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if start != nil {
		w.stop = stop
	}
	w.screen = w.newScreen(ctx)
	defer w.screen.close()
	if w.opened != nil {
		w.screen.open(w.first, *w.opened)
		for _, g := range w.opened.Gates() {
			// Whoever takes the run up ends the turns that wait for permission.
			if start == nil || g.Kind != event.GatePermission {
				w.screen.ask(w.asks(ctx, g.Asked))
			}
		}
	}
	signals, ignore := catch()
	defer ignore()

	in := inputs{events: make(chan event.Event), deltas: make(chan live.Delta), signals: signals, failed: make(chan error, 1), driven: make(chan error, 1)}
	wg.Go(func() { w.readEvents(ctx, in) })
	if start == nil {
		wg.Go(func() { w.overhear(ctx, in) })
	} else {
		wg.Go(func() { w.c.Listen(ctx, w.id, true, in.delta(ctx)) })
		wg.Go(func() { in.driven <- start(driving) })
	}
	return w.loop(parent, in)
}

// inputs are what a watch waits for.
type inputs struct {
	events  chan event.Event
	deltas  chan live.Delta
	signals <-chan os.Signal
	failed  chan error // to read
	driven  chan error // how the driving ended; nil once it has
}

func (in inputs) delta(ctx context.Context) func(live.Delta) {
	return func(d live.Delta) {
		select {
		case in.deltas <- d:
		case <-ctx.Done():
		}
	}
}

func (w *watch) loop(ctx context.Context, in inputs) error {
	tick := w.ticker()
	for {
		select {
		case e := <-in.events:
			if err := w.lost(ctx, e, &in); err != nil {
				return w.left(ctx, err)
			}
			if w.event(ctx, e); w.over {
				return w.end(ctx)
			}
		case d := <-in.deltas:
			w.screen.delta(d)
		case s := <-w.deserted:
			w.desert(s)
		case err := <-in.failed:
			return w.left(ctx, err)
		case err := <-in.driven:
			if err != nil {
				return w.left(ctx, err)
			}
			in.driven = nil // its last events are still to come
			if err := w.settled(ctx); err != nil {
				return w.left(ctx, err)
			}
		case s := <-in.signals:
			if w.stop == nil {
				return outcome{exitCancelled}
			}
			w.signal(s)
		case <-w.cancel:
			if err := w.askCancel(ctx); err != nil {
				return w.left(ctx, err)
			}
		case <-tick:
			w.screen.tick()
		}
		if w.rest > 0 && w.seen >= w.rest {
			return w.end(ctx)
		}
		w.sayAlone()
		if w.out.err != nil && w.stop == nil {
			return nil // nobody reads; Main has the error
		} else if w.out.err != nil && w.request != leaving {
			w.leave()
		}
	}
}

// ticker is what redraws a live display; elsewhere nothing ticks.
func (w *watch) ticker() <-chan time.Time {
	if _, live := w.screen.(*terminal); live {
		return time.Tick(100 * time.Millisecond)
	}
	return nil
}

func (w *watch) readEvents(ctx context.Context, in inputs) {
	for e, err := range w.c.Follow(ctx, w.id, w.seen+1) {
		if err != nil {
			if ctx.Err() == nil {
				in.failed <- err
			}
			return
		}
		select {
		case in.events <- e:
		case <-ctx.Done():
			return
		}
	}
}

func (w *watch) event(ctx context.Context, e event.Event) {
	w.seen = e.Seq
	w.result = w.result.Apply(e)
	w.screen.event(e)
	switch b := e.Body.(type) {
	case event.Asked:
		if w.yes && w.stop != nil && b.Kind == event.GatePermission {
			w.permit(ctx, b)
		} else {
			w.screen.ask(w.asks(ctx, b))
		}
	case event.Finished, event.TeamEnded:
		w.over = true
	case event.Resumed:
		w.takenUp(e)
	}
}

// settled notes where a team stands that was driven until it waits for a person:
// the watch is over when all that was shown.
func (w *watch) settled(ctx context.Context) error {
	if !namesTeam(w.id) {
		return nil
	}
	s, err := w.c.Open(ctx, w.id)
	if err == nil && s.Team != nil && s.Team.Ended == nil {
		w.rest = s.Seq
	}
	return err
}

// permit allows what is asked, once.
func (w *watch) permit(ctx context.Context, b event.Asked) {
	r := event.Replied{Gate: b.Gate, Choice: event.PermitOnce, Revision: b.Revision, By: "--yes"}
	if err := w.c.Send(ctx, w.id, event.Fact{ID: replyID(), Body: r}); err != nil {
		w.screen.notice(fmt.Sprintf("%s could not be allowed: %v", view.OneLine(b.Title), err))
	}
}

// asks is a question to the person, with all of what it is about.
func (w *watch) asks(ctx context.Context, b event.Asked) string {
	what, err := w.c.Text(ctx, b.Text)
	if err != nil {
		what = "what it is about cannot be read: " + err.Error()
	}
	if b.Kind == event.GateTrouble {
		return fmt.Sprintf("%s\n%s", view.OneLine(b.Title), strings.TrimRight(indented(what), "\n"))
	}
	return fmt.Sprintf("%s\n%sAllow it with: conclave approve %[3]s %[4]s\nRefuse it with: conclave deny %[3]s %[4]s", view.OneLine(b.Title), indented(what), w.id, sign(b.Gate))
}

// end is what is left to do when the flow is over.
func (w *watch) end(ctx context.Context) error {
	w.screen.close()
	if w.following {
		return nil
	}
	if namesTeam(w.id) {
		return w.endTeam(ctx)
	}
	return w.finish(ctx)
}
