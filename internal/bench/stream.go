package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"conclave/internal/app"
	"conclave/internal/event"
	"conclave/internal/eventlog/sqlite"
)

// manyTabs is how many browsers watch one flow.
const manyTabs = 1000

// streams measures what a thousand browsers hear, and what they cost whom they
// watch.
func streams(ctx context.Context, dir string) ([]row, error) {
	var rows []row
	for _, f := range []func(context.Context, string) ([]row, error){fanOut, unaffected} {
		sub, err := os.MkdirTemp(dir, "")
		if err != nil {
			return nil, err
		}
		r, err := f(ctx, sub)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r...)
	}
	return rows, nil
}

// An audience is many connections that read; each tells of every line that ends
// an event.
type audience struct {
	conns []net.Conn
	heard chan struct{}
	wg    sync.WaitGroup
}

// gather connects n times and says the same each time. It returns when each has
// heard an event.
func gather(ctx context.Context, n int, address, say string) (*audience, error) {
	a := &audience{heard: make(chan struct{}, n)}
	for range n {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return nil, errors.Join(err, a.close())
		}
		a.conns = append(a.conns, c)
		if _, err := c.Write([]byte(say)); err != nil {
			return nil, errors.Join(err, a.close())
		}
		a.wg.Go(func() {
			mark := []byte("event: ")
			for in := bufio.NewScanner(c); in.Scan(); {
				if bytes.HasPrefix(in.Bytes(), mark) {
					a.heard <- struct{}{}
				}
			}
		})
	}
	return a, a.all()
}

// all waits until everybody has heard one event.
func (a *audience) all() error {
	late := time.After(waited)
	for i := range a.conns {
		select {
		case <-a.heard:
		case <-late:
			return fmt.Errorf("%d of %d heard nothing", len(a.conns)-i, len(a.conns))
		}
	}
	return nil
}

func (a *audience) close() error {
	for _, c := range a.conns {
		_ = c.Close()
	}
	done := make(chan struct{})
	go func() { a.wg.Wait(); close(done) }()
	for {
		select {
		case <-a.heard: // by whoever was about to tell
		case <-done:
			return nil
		}
	}
}

// watch is what a browser asks for.
func watch(c *cockpit, id event.FlowID) string {
	return fmt.Sprintf("GET /api/events?watch=%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", id, c.token)
}

// fanOut is from the moment an event is to be written to the log, as by another
// process and durably, until a thousand browsers have it. The floor writes the same number of
// bytes to a thousand sockets, one after the other, until all are read.
func fanOut(ctx context.Context, dir string) (_ []row, err error) {
	if err := longJob(ctx, dir, longJobID, 5); err != nil {
		return nil, err
	}
	a, err := app.Open(dir)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	c := newCockpit(a)
	defer c.close()
	tabs, err := gather(ctx, manyTabs, c.http.Listener.Addr().String(), watch(c, longJobID))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, tabs.close()) }()
	plain, err := newSpeaker(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, plain.close()) }()
	log, err := sqlite.Open(ctx, filepath.Join(dir, ".conclave"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	w, err := newWriter(ctx, log, longJobID)
	if err != nil {
		return nil, err
	}
	defer w.lease.Release()
	w.seq = 5 + 5*eventsOfStep
	var floors, ours []time.Duration
	for range 31 {
		begin := time.Now()
		if err := plain.tell(); err != nil {
			return nil, err
		}
		floors = append(floors, time.Since(begin))
		begin = time.Now()
		if err := w.commit(ctx, 1); err != nil {
			return nil, err
		}
		if err := tabs.all(); err != nil {
			return nil, err
		}
		ours = append(ours, time.Since(begin))
	}
	return []row{against("an event written to the log, until 1,000 browsers have it", "1,000 socket writes, read", middle(floors), middle(ours), 1.5)}, nil
}

// A speaker writes to sockets and does nothing else.
type speaker struct {
	*audience
	l     net.Listener
	conns []net.Conn
	text  []byte
}

func newSpeaker(ctx context.Context) (*speaker, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &speaker{l: l, text: []byte("id: job-long:12345\nevent: change\ndata: " + strings.Repeat("x", 80) + "\n\n")}
	accepted := make(chan error, 1)
	go func() {
		for range manyTabs {
			c, err := l.Accept()
			if err != nil {
				accepted <- err
				return
			}
			s.conns = append(s.conns, c)
			if _, err := c.Write(s.text); err != nil {
				accepted <- err
				return
			}
		}
		accepted <- nil
	}()
	s.audience, err = gather(ctx, manyTabs, l.Addr().String(), "hello\n")
	if err != nil {
		return nil, errors.Join(err, l.Close(), <-accepted)
	}
	return s, <-accepted
}

func (s *speaker) tell() error {
	for _, c := range s.conns {
		if _, err := c.Write(s.text); err != nil {
			return err
		}
	}
	return s.all()
}

func (s *speaker) close() error {
	for _, c := range s.conns {
		_ = c.Close()
	}
	return errors.Join(s.audience.close(), s.l.Close())
}

// slowHost is a model that takes a while, as models do.
const slowHost = `name: host
steps:
  - do: [{delay: 200ms}, {say: "Here is what I think of that."}]
`

// unaffected compares a turn that a thousand browsers watch with one that nobody
// does. The model takes 200 ms. One more never reads.
func unaffected(ctx context.Context, dir string) (_ []row, err error) {
	id, err := begin(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "host.script.yaml"), []byte(slowHost), 0o600); err != nil {
		return nil, err
	}
	t, err := goOn(ctx, dir, id)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	if err := t.say(ctx); err != nil { // the agent is hired
		return nil, err
	}
	alone, err := median(11, func() error { return t.say(ctx) })
	if err != nil {
		return nil, err
	}
	c := newCockpit(t.a)
	defer c.close()
	address := c.http.Listener.Addr().String()
	tabs, err := gather(ctx, manyTabs, address, watch(c, id))
	if err != nil {
		return nil, err
	}
	deaf, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, errors.Join(err, tabs.close())
	}
	defer deaf.Close()
	if _, err := deaf.Write([]byte(watch(c, id))); err != nil {
		return nil, errors.Join(err, tabs.close())
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { // what they hear is not counted
		for {
			select {
			case <-tabs.heard:
			case <-stop:
				return
			}
		}
	})
	watched, err := median(11, func() error { return t.say(ctx) })
	close(stop)
	wg.Wait()
	if err = errors.Join(err, tabs.close()); err != nil {
		return nil, err
	}
	return []row{against("a turn that 1,000 browsers watch, model 200 ms", "nobody watches", alone, watched, 1.2)}, nil
}
