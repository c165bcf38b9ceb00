package cli

import (
	"context"
	"sync"

	"conclave/internal/backend"
)

// A Turnstile lets one turn of a program in at a time, and none once it is closed.
type Turnstile struct {
	name    string
	in      chan struct{} // has room for one: whoever puts something in is in
	closing chan struct{}
	once    sync.Once
}

// NewTurnstile is one for the named program.
func NewTurnstile(name string) *Turnstile {
	return &Turnstile{name: name, in: make(chan struct{}, 1), closing: make(chan struct{})}
}

// Enter waits until nobody is in. The context that it gives ends with the one it is
// given, and when the turnstile is closed. The turn has to leave.
func (s *Turnstile) Enter(ctx context.Context) (_ context.Context, leave func(), err error) {
	if err := context.Cause(ctx); err != nil {
		return nil, nil, err
	}
	select {
	case s.in <- struct{}{}:
	case <-s.closing:
		return nil, nil, s.closed()
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	select {
	case <-s.closing:
		<-s.in
		return nil, nil, s.closed()
	default:
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-s.closing:
			cancel(s.closed())
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		cancel(nil)
		watch.Wait()
		<-s.in
	}, nil
}

// Close lets nobody in any more, has whoever is in end, and then does last what
// there is to do.
func (s *Turnstile) Close(last func()) {
	s.once.Do(func() { close(s.closing) })
	s.in <- struct{}{}
	defer func() { <-s.in }()
	last()
}

func (s *Turnstile) closed() error {
	return &backend.Error{Kind: backend.Broken, Message: s.name + " was closed"}
}
