package proc

import (
	"context"
	"errors"
	"sync"
)

// A Set is processes that end together. The zero value is ready.
type Set struct {
	mu     sync.Mutex
	closed bool
	procs  map[*Process]bool
	starts sync.WaitGroup
}

// ErrClosed is the failure to start something in a set that was closed.
var ErrClosed = errors.New("start a process: closed")

// Start begins a command as one of the set.
func (s *Set) Start(ctx context.Context, c Command) (*Process, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, ErrClosed
	}
	s.starts.Add(1)
	s.mu.Unlock()
	defer s.starts.Done()

	entered := make(chan struct{})
	var p *Process
	p, err := start(ctx, c, func() {
		<-entered
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.procs, p)
	})
	defer close(entered)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.procs == nil {
		s.procs = map[*Process]bool{}
	}
	s.procs[p] = true
	return p, nil
}

// Close stops all processes, waits for them, and lets no other start.
func (s *Set) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.starts.Wait()

	s.mu.Lock()
	left := make([]*Process, 0, len(s.procs))
	for p := range s.procs {
		left = append(left, p)
	}
	s.mu.Unlock()
	for _, p := range left {
		p.ask()
	}
	for _, p := range left {
		<-p.done
	}
}
