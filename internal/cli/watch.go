package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
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
	notice(s string)
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
	// following: the lines are what was asked for; there is no result to print.
	following bool

	result view.Result
	seen   uint64 // events
	over   bool
	screen screen
	stop   context.CancelCauseFunc // of the driving; nil if it is not ours
	hand   bool                    // to a background process, once left
	asked  time.Time               // when Ctrl-C was last pressed
	cancel <-chan time.Time        // when to cancel for good
}

// Reasons for a driver of ours to stop.
var errLeave = errors.New("left")

// second is how long a second Ctrl-C may come after the first. Until then the
// run is not cancelled, so that leaving it does not cancel it either.
const second = 600 * time.Millisecond

func newWatch(e *env, c control.Control, id event.FlowID, s show) *watch {
	return &watch{env: e, c: c, id: id, show: s}
}

// run watches the flow to its end. If start is not nil it drives the flow in
// this process meanwhile; otherwise somebody else does, or nobody.
func (w *watch) run(parent context.Context, start func(context.Context) error) error {
	ctx, done := context.WithCancel(parent)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer done()
	driven := make(chan error, 1)
	var driving context.Context
	if start != nil {
		driving, w.stop = context.WithCancelCause(ctx)
	}
	w.screen = w.newScreen(ctx)
	defer w.screen.close()

	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(signals)

	events, failed := make(chan event.Event), make(chan error, 1)
	wg.Go(func() { w.readEvents(ctx, events, failed) })
	deltas := make(chan live.Delta)
	wg.Go(func() {
		w.c.Listen(ctx, w.id, func(d live.Delta) {
			select {
			case deltas <- d:
			case <-ctx.Done():
			}
		})
	})
	if start != nil {
		wg.Go(func() { driven <- start(driving) })
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	if !w.ErrTerminal || w.show.json || w.show.quiet {
		tick.Stop()
	}
	for {
		select {
		case e := <-events:
			w.event(e)
			if w.over {
				w.screen.close()
				if w.following {
					return nil
				}
				return w.finish(parent)
			}
		case d := <-deltas:
			w.screen.delta(d)
		case err := <-failed:
			return err
		case err := <-driven:
			driven = nil
			if err != nil {
				w.screen.close()
				return w.left(parent, err)
			}
		case s := <-signals:
			if start == nil {
				return nil
			}
			w.signal(s)
		case <-w.cancel:
			w.cancel = nil
			if err := w.askCancel(ctx); err != nil {
				return err
			}
		case <-tick.C:
			w.screen.tick()
		}
	}
}

func (w *watch) readEvents(ctx context.Context, events chan<- event.Event, failed chan<- error) {
	for e, err := range w.c.Follow(ctx, w.id) {
		if err != nil {
			if ctx.Err() == nil {
				failed <- err
			}
			return
		}
		select {
		case events <- e:
		case <-ctx.Done():
			return
		}
	}
}

func (w *watch) event(e event.Event) {
	w.seen = e.Seq
	w.result = w.result.Apply(e)
	w.screen.event(e)
	_, w.over = e.Body.(event.Finished)
}

// signal acts on what was pressed: once cancels, twice leaves.
func (w *watch) signal(s os.Signal) {
	switch {
	case s == syscall.SIGQUIT:
		w.hand = true
		w.stop(errLeave)
	case s != os.Interrupt, time.Since(w.asked) < 30*time.Second && !w.asked.IsZero():
		w.stop(errLeave)
	default:
		w.asked = time.Now()
		w.cancel = time.After(second)
		w.screen.notice("Cancelling; press Ctrl-C again to leave the run as it is, to be resumed.")
	}
}

func (w *watch) askCancel(ctx context.Context) error {
	return w.c.Send(ctx, w.id, event.Fact{
		ID: fmt.Sprintf("cancel/%d/%d", os.Getpid(), time.Now().UnixNano()), Body: event.CancelRequested{By: "Ctrl-C"},
	})
}

// left says what became of a run that was not brought to its end here.
func (w *watch) left(ctx context.Context, err error) error {
	if !errors.Is(err, errLeave) && w.seen == 0 {
		return err // nothing has begun
	}
	if !errors.Is(err, errLeave) {
		return fmt.Errorf("%w\nThe run is kept as far as it came. Once that is mended, resume it with: conclave resume %s", err, w.id)
	}
	if w.hand {
		pid, err := w.c.Background(ctx, w.id, nil)
		if err != nil {
			return fmt.Errorf("%w\nThe run is left as it is; resume it with: conclave resume %s", err, w.id)
		}
		fmt.Fprintf(w.Err, "The run goes on in the background, process %d.\n  follow:  conclave log --follow %s\n  cancel:  conclave runs cancel %s\n", pid, w.id, w.id)
		return outcome{exitCancelled}
	}
	fmt.Fprintf(w.Err, "The run is left as it is and nothing of it is lost.\n  resume:          conclave resume %s\n  in background:   conclave resume --background %s\n", w.id, w.id)
	return outcome{exitCancelled}
}

// finish shows the result and says how it ended.
func (w *watch) finish(ctx context.Context) error {
	r, err := resolve(ctx, w.c, w.result.RunResult())
	if err != nil {
		return err
	}
	if err := w.show.keep(r.FinalAnswer.Text); err != nil {
		return errors.Join(err, w.print(r))
	}
	return w.print(r)
}

func (w *watch) print(r view.RunResult) error {
	if w.show.json {
		if err := printJSON(w.Out, r); err != nil {
			return err
		}
		return ended(r.Status)
	}
	if !w.show.quiet {
		w.summary(r)
	}
	w.printAnswer(r.FinalAnswer.Text)
	if w.show.quiet && r.Error != "" {
		fmt.Fprintf(w.Err, "conclave: %s\n", view.Clean(r.Error))
	}
	return ended(r.Status)
}

// resolve fills in the texts a result only names.
func resolve(ctx context.Context, c control.Control, r view.RunResult) (view.RunResult, error) {
	texts := map[event.Hash]string{}
	for _, h := range r.Blobs() {
		t, err := c.Text(ctx, event.Content{Blob: h})
		if err != nil {
			return r, err
		}
		texts[h] = t
	}
	return r.Fill(texts), nil
}
