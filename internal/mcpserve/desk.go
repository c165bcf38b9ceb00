package mcpserve

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"conclave/internal/control"
	"conclave/internal/event"
)

// desk is the session that runs are launched in.
type desk struct {
	c      control.Control
	config string

	mu      sync.Mutex
	session event.FlowID // empty before the first launch
	closed  bool
	cancel  context.CancelFunc
	// driven is closed when nobody drives the session here any more, and err
	// says why.
	driven chan struct{}
	err    error
}

// open gives the session, begun if it is not there, and has it driven.
func (d *desk) open(ctx context.Context, client string) (event.FlowID, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return "", errors.New("the server is about to end")
	}
	if d.session == "" {
		id, err := d.c.Begin(ctx, event.SessionStarted{Kind: event.SessionClient, Config: d.config, Client: client, By: client})
		if err != nil {
			return "", err
		}
		d.session = id
	}
	if d.driven != nil {
		select {
		case <-d.driven: // take it up again
		default:
			return d.session, nil
		}
	}
	ctx, d.cancel = context.WithCancel(context.WithoutCancel(ctx))
	d.driven = make(chan struct{})
	go d.drive(ctx, d.session, d.driven)
	return d.session, nil
}

func (d *desk) drive(ctx context.Context, id event.FlowID, driven chan struct{}) {
	err := d.c.Resume(ctx, id, false)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err = err
	close(driven)
}

// failed is told when nobody drives the session any more: nothing comes of
// waiting then. Of a session that is not the desk's it is never told.
func (d *desk) failed(id event.FlowID) <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if id != d.session {
		return nil
	}
	return d.driven
}

func (d *desk) why() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return fmt.Errorf("the session %s is not driven any more: %w", d.session, errors.Join(d.err, errors.New("see conclave log "+string(d.session))))
}

// close ends the driving, and has another process go on with what goes on.
func (d *desk) close(ctx context.Context) (pid int, err error) {
	d.mu.Lock()
	d.closed = true
	driven, cancel, id := d.driven, d.cancel, d.session
	d.mu.Unlock()
	if driven == nil {
		return 0, nil
	}
	cancel()
	<-driven
	b, err := boardOf(ctx, d.c, id)
	if err != nil || !b.busy() {
		return 0, err
	}
	return d.c.Background(ctx, id, nil)
}
