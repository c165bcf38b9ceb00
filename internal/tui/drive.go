package tui

import (
	"context"
	"errors"
	"sync"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/control"
	"conclave/internal/event"
)

// A driver keeps a flow driven from this window, where nobody else does. It owns
// one goroutine while it drives.
type driver struct {
	ctx  context.Context
	c    Program
	wg   sync.WaitGroup
	done chan driven

	// Of the model's loop alone:
	flow event.FlowID
	stop context.CancelFunc // nil while it does not drive
	n    int                // how often it has begun to
	free chan struct{}      // closed once what was driven last is free
}

// driven is how the driving of a flow ended.
type driven struct {
	flow event.FlowID
	n    int
	err  error
}

func newDriver(ctx context.Context, c Program) *driver {
	return &driver{ctx: ctx, c: c, done: make(chan driven, 1)}
}

// drives reports whether a flow is driven from here.
func (d *driver) drives(id event.FlowID) bool { return d.stop != nil && d.flow == id }

// ensure has the flow driven, and tells when that has ended.
func (d *driver) ensure(id event.FlowID) tea.Cmd {
	if d.drives(id) || id == "" {
		return nil
	}
	ctx, stop := context.WithCancel(d.ctx)
	d.flow, d.stop = id, stop
	d.n++
	n, free := d.n, make(chan struct{})
	d.free = free
	d.wg.Go(func() {
		err := d.c.Resume(ctx, id, false)
		close(free)
		if ctx.Err() != nil {
			err = nil
		}
		select {
		case d.done <- driven{id, n, err}:
		case <-d.ctx.Done(): // nobody listens any more
		}
	})
	return func() tea.Msg {
		select {
		case x := <-d.done:
			return x
		case <-d.ctx.Done():
			return nil
		}
	}
}

// ended takes in that the driving is over.
func (d *driver) ended(x driven) {
	if d.n == x.n {
		d.stop = nil
	}
}

// letGo stops driving; what it returns waits until the flow is free for somebody
// else.
func (d *driver) letGo() (wait func()) {
	if d.stop != nil {
		d.stop()
		d.stop = nil
	}
	free := d.free
	return func() {
		if free != nil {
			<-free
		}
	}
}

// release stops driving and waits until the flow is free for somebody else.
func (d *driver) release() {
	if d.stop != nil {
		d.stop()
	}
	d.wg.Wait()
}

// drivenElsewhere reports that another process drives a flow.
func drivenElsewhere(err error) (pid int, ok bool) {
	if e, is := errors.AsType[*control.Driven](err); is {
		return e.PID, true
	}
	return 0, false
}
