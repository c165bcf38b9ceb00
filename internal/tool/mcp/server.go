package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"conclave/internal/event"
	"conclave/internal/gear"
)

const (
	defaultStart = 30 * time.Second
	defaultCall  = 5 * time.Minute
)

// pauses are how long a server is left alone after so many failures in a row;
// the last is for all that follow.
var pauses = []time.Duration{0, 0, 5 * time.Second, 30 * time.Second}

// A server is one of a set: connected or not, and what is known of its tools.
type server struct {
	set  *Set
	gear gear.Server

	mu       sync.Mutex
	closed   bool
	link     *link
	starting *start
	fails    int       // since a call was last answered
	retry    time.Time // not before
	err      error     // what was last wrong
	said     string    // on its standard error, by the one that is gone
	scrub    func(string) string
	dirty    bool // the tools have to be listed
	list     []offer
	notes    []string
}

// A start is one under way.
type start struct {
	done chan struct{}
	link *link
	err  error
}

// program reports whether the server is one, or else reached by HTTP.
func (s *server) program() bool { return len(s.gear.Command) > 0 }

func (s *server) start() time.Duration { return orElse(s.gear.Start, defaultStart) }
func (s *server) call() time.Duration  { return orElse(s.gear.Call, defaultCall) }

func orElse(d event.Duration, fallback time.Duration) time.Duration {
	if d > 0 {
		return time.Duration(d)
	}
	return fallback
}

// changed is that the tools have to be listed again, by the next turn.
func (s *server) changed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirty = true
}

var errClosed = errors.New("the servers of this agent have been ended")

// connect is the link with the server, which is started if there is none. The
// start goes on when ctx ends, and is there for the next one who asks.
func (s *server) connect(ctx context.Context) (*link, error) {
	for {
		st, err := s.begin()
		if err != nil {
			return nil, err
		}
		select {
		case <-st.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if st.err != nil || st.link.ctx.Err() == nil {
			return st.link, st.err
		}
		select { // it is about to be over
		case <-st.link.over:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// begin is a start under way, or one that is over.
func (s *server) begin() (*start, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed || s.set.ctx.Err() != nil:
		return nil, errClosed
	case s.link != nil:
		done := make(chan struct{})
		close(done)
		return &start{done: done, link: s.link}, nil
	case s.starting != nil:
		return s.starting, nil
	}
	if wait := s.retry.Sub(s.set.o.now()); wait > 0 {
		return nil, fmt.Errorf("it has failed %d times in a row and is left alone for %s: %w", s.fails, wait.Round(time.Second), s.err)
	}
	st := &start{done: make(chan struct{})}
	s.starting = st
	s.set.wg.Go(func() { s.dial(st) })
	return st, nil
}

// dial carries a start out.
func (s *server) dial(st *start) {
	defer close(st.done)
	ctx, cancel := context.WithTimeout(s.set.ctx, s.start())
	defer cancel()
	d := &dial{server: s, version: s.set.o.Version, look: newLookup(s.set.o.Env)}
	l, said, err := d.connect(ctx)
	scrub := d.look.scrub()

	s.mu.Lock()
	defer s.mu.Unlock()
	s.starting, s.scrub = nil, scrub
	if err != nil {
		s.said = said
		st.err = s.failed(err)
		return
	}
	s.link, s.dirty, st.link = l, true, l
	s.set.wg.Go(func() { l.watch(s.lost) })
}

// failed takes note of a failure. The caller holds the lock.
func (s *server) failed(err error) error {
	s.err = errors.New(s.scrub(err.Error())) // what it holds may be secret
	s.fails++
	s.retry = s.set.o.now().Add(pauses[min(s.fails, len(pauses)-1)])
	return s.err
}

// lost is that a link is over. If nobody of ours has ended it, it is a failure.
func (s *server) lost(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link != l {
		return
	}
	s.link, s.said = nil, l.said()
	_ = s.failed(l.cause)
}

// answered is that a call was: the server works.
func (s *server) answered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails, s.err = 0, nil
}

// abandon ends a link that is of no use.
func (s *server) abandon(l *link, err error) {
	s.mu.Lock()
	if s.link != l {
		s.mu.Unlock()
		return
	}
	s.link, s.said = nil, l.said()
	_ = s.failed(err)
	s.mu.Unlock()
	l.end()
}

// offers are the tools of the server for a turn; none if it is not ready.
func (s *server) offers(ctx context.Context) []offer {
	l, err := s.connect(ctx)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.start())
	defer cancel()
	s.mu.Lock()
	list, stale := s.list, s.dirty || l.poll
	s.dirty = false // from here on a change is another one
	s.mu.Unlock()
	if !stale {
		return list
	}
	found, notes, err := l.tools(ctx, s)
	if err != nil {
		s.changed()
		return s.unlisted(ctx, l, list, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list, s.notes, s.err = found, notes, nil
	return found
}

// unlisted is what a server offers whose tools could not be listed: what it did
// before, or nothing and it is ended.
func (s *server) unlisted(ctx context.Context, l *link, before []offer, err error) []offer {
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil // the turn is over
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("it did not list its tools within %s", s.start())
	}
	err = fmt.Errorf("list its tools: %w", err)
	if before == nil {
		s.abandon(l, err)
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link != l {
		return nil
	}
	s.err = errors.New(s.scrub(err.Error()))
	return before
}

func (s *server) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Status{Server: s.gear.Name, State: Idle, Err: s.err, Stderr: s.scrub(s.said)}
	switch {
	case s.closed:
		out.State = Closed
	case s.link != nil:
		out.State, out.Tools, out.Notes = Ready, len(s.list), s.notes
		out.Stderr = s.scrub(s.link.said())
	case s.starting != nil:
		out.State = Starting
	case s.fails > 0:
		out.State = Down
	}
	return out
}

// close ends the server for good.
func (s *server) close() {
	s.mu.Lock()
	s.closed = true
	st := s.starting
	s.mu.Unlock()
	if st != nil {
		<-st.done // its context has ended
	}
	s.mu.Lock()
	l := s.link
	s.link = nil
	s.mu.Unlock()
	if l != nil {
		l.end()
	}
}

// scrubbed is a text with references in the place of what they stand for.
func (s *server) scrubbed(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.scrub(text)
}
