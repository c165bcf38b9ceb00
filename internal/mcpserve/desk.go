package mcpserve

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"conclave/internal/control"
	"conclave/internal/event"
)

// desk is the session that runs are launched in, and those of servers before this
// one that clients have come back to.
type desk struct {
	c      control.Control
	config string

	mu      sync.Mutex
	session event.FlowID // empty before the first launch
	drives  map[event.FlowID]*drive
	closed  bool
}

// A drive is a session that is driven here.
type drive struct {
	cancel context.CancelFunc
	over   chan struct{} // closed when it is not any more, and err says why
	err    error
}

// open gives the session, begun if it is not there, and has it driven.
func (d *desk) open(ctx context.Context, client string) (event.FlowID, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.session == "" && !d.closed {
		id, err := d.c.Begin(ctx, event.SessionStarted{Kind: event.SessionClient, Config: d.config, Client: client, By: client})
		if err != nil {
			return "", err
		}
		d.session = id
	}
	return d.session, d.take(ctx, d.session)
}

// begun reports whether there is a session.
func (d *desk) begun() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.session != ""
}

// adopt has a session driven here that nobody drives.
func (d *desk) adopt(ctx context.Context, id event.FlowID) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.take(ctx, id)
}

// rescue has a session driven here whose driver, some other process, is gone.
func (d *desk) rescue(ctx context.Context, id event.FlowID) bool {
	_, driven, err := d.c.Driver(ctx, id)
	return err == nil && !driven && d.adopt(ctx, id) == nil
}

func (d *desk) take(ctx context.Context, id event.FlowID) error {
	if d.closed {
		return errors.New("the server is about to end")
	}
	if v, ok := d.drives[id]; ok {
		select {
		case <-v.over: // take it up again
		default:
			return nil
		}
	}
	v := &drive{over: make(chan struct{})}
	ctx, v.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if d.drives == nil {
		d.drives = map[event.FlowID]*drive{}
	}
	d.drives[id] = v
	go func() {
		defer close(v.over)
		v.err = d.c.Resume(ctx, id, false)
	}()
	return nil
}

// failed is told when a session is not driven here any more: nothing comes of
// waiting then. Of one that another process drives it is never told.
func (d *desk) failed(id event.FlowID) <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if v, ok := d.drives[id]; ok {
		return v.over
	}
	return nil
}

// why is why a session is not driven any more. That another process is faster is
// no reason to stop waiting.
func (d *desk) why(id event.FlowID) error {
	d.mu.Lock()
	v := d.drives[id]
	d.mu.Unlock()
	if _, driven := errors.AsType[*control.Driven](v.err); driven {
		return nil
	}
	return fmt.Errorf("the session %s is not driven any more: %w", id, errors.Join(v.err, errors.New("see conclave log "+string(id))))
}

// close ends the driving, and has other processes go on with what goes on. It
// returns the sessions that were handed over, and to whom.
func (d *desk) close(ctx context.Context) (map[event.FlowID]int, error) {
	d.mu.Lock()
	d.closed = true
	drives := d.drives
	d.mu.Unlock()
	for _, v := range drives {
		v.cancel()
	}
	handed := map[event.FlowID]int{}
	var errs []error
	for id, v := range drives {
		<-v.over
		b, err := boardOf(ctx, d.c, id)
		if err == nil && b.busy() {
			handed[id], err = d.c.Background(ctx, id, nil)
		}
		if _, driven := errors.AsType[*control.Driven](err); err != nil && !driven {
			errs = append(errs, fmt.Errorf("%w\nThe runs of %s are left as they are; go on with: conclave resume %[2]s", err, id))
			delete(handed, id)
		}
	}
	return handed, errors.Join(errs...)
}
