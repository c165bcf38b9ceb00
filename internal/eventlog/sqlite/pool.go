package sqlite

import (
	"errors"
	"sync"

	"conclave/internal/eventlog"
)

// maxReaders bounds the connections for reading.
const maxReaders = 4

// A pool lends connections for reading. A connection is lent for one query, so
// that nobody holds a snapshot while a caller thinks, which would keep the WAL
// from being reused.
type pool struct {
	file string
	free chan struct{} // a token per connection that may be lent

	mu     sync.Mutex
	idle   []*conn
	closed bool
}

func newPool(file string) *pool {
	p := &pool{file: file, free: make(chan struct{}, maxReaders)}
	for range maxReaders {
		p.free <- struct{}{}
	}
	return p
}

// use lends a connection to f. One that has failed is not lent again.
func (p *pool) use(f func(*conn) error) error {
	<-p.free
	defer func() { p.free <- struct{}{} }()
	c, err := p.get()
	if err != nil {
		return err
	}
	if err := f(c); err != nil {
		c.close()
		return err
	}
	p.put(c)
	return nil
}

func (p *pool) get() (*conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, eventlog.ErrClosed
	}
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return c, nil
	}
	return connect(p.file, busyTimeout, "query_only = 1")
}

func (p *pool) put(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, c)
}

// close waits for the queries under way and closes the connections.
func (p *pool) close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	for range maxReaders {
		<-p.free
	}
	defer func() {
		for range maxReaders {
			p.free <- struct{}{}
		}
	}()
	var errs []error
	for _, c := range p.idle {
		errs = append(errs, c.close())
	}
	p.idle = nil
	return errors.Join(errs...)
}
