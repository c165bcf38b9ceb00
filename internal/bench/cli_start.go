package main

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/claudecode/claudetest"
	"conclave/internal/policy"
	"conclave/internal/sandbox"
	"conclave/internal/sandbox/bwrap"
)

// cliStarts takes the time from nothing until the program asks its model for the
// first time. The floor is its own beginning: the same program with the same
// arguments, started, initialized and spoken to by hand. The first row is without a
// sandbox on either side, the second has ours in one, as users have it: what is
// over the floor there is the making of the sandbox too.
//
// A program of this size takes a tenth of a second more or less each time it
// starts, many times what ours adds. So there are many starts, one of each kind
// after the other, each kind first in its turn, and never two programs at once.
func cliStarts(ctx context.Context, dir string, k cliKind, path string) ([]row, error) {
	asked := make(chan time.Time, 100)
	srv := httptest.NewServer(k.serve(func() backendtest.Reply {
		asked <- time.Now()
		return claudetest.Say("Nothing in particular.")
	}))
	defer srv.Close()
	b := beginnings{dir: dir, kind: k, path: path, url: srv.URL + k.path, asked: asked}
	engine := &bwrap.Engine{Boxes: dir}
	ways := []func(context.Context) (time.Duration, error){
		b.byHand, b.ours,
		func(ctx context.Context) (time.Duration, error) { return b.boxed(ctx, engine) },
	}
	if err := engine.Probe(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "  without bwrap: %v\n", err)
		ways = ways[:2]
	}
	if _, err := b.ours(ctx); err != nil { // so that the program is in memory, and by hand it is known how it is started
		return nil, err
	}
	took := make([][]time.Duration, len(ways))
	for i := range few(15) {
		for j := range ways {
			n := (i + j) % len(ways)
			d, err := ways[n](ctx)
			if err != nil {
				return nil, err
			}
			took[n] = append(took[n], d)
		}
	}
	floor := middle(took[0])
	const how = "started, initialized and spoken to by hand"
	rows := []row{over(k.name+" started, until it asks its model", how, floor, middle(took[1]), 50*time.Millisecond)}
	if len(ways) > 2 {
		rows = append(rows, over("the same in a sandbox, bwrap", how+" outside of it", floor, middle(took[2]), 75*time.Millisecond))
	}
	return rows, nil
}

// beginnings are ways to begin with a program.
type beginnings struct {
	dir, path, url string
	kind           cliKind
	asked          chan time.Time // the model was
	last           *hall          // that ours was in
}

func (b *beginnings) ours(ctx context.Context) (time.Duration, error) {
	g, err := newGuest(b.dir, b.kind, b.path, b.url)
	if err != nil {
		return 0, err
	}
	b.last = g.hall
	return b.begin(ctx, g)
}

func (b *beginnings) boxed(ctx context.Context, e sandbox.Engine) (time.Duration, error) {
	g, err := newGuest(b.dir, b.kind, b.path, b.url)
	if err != nil {
		return 0, err
	}
	c := &cell{hall: g.hall, engine: e, program: filepath.Dir(b.path)}
	defer c.close()
	g.room = c
	return b.begin(ctx, g)
}

// begin has a guest take its first turn.
func (b *beginnings) begin(ctx context.Context, g *guest) (time.Duration, error) {
	defer g.close()
	begin := time.Now()
	if err := g.say(ctx, cliWords); err != nil {
		return 0, err
	}
	return firstOf(b.asked).Sub(begin), nil
}

func (b *beginnings) byHand(ctx context.Context) (time.Duration, error) {
	begin := time.Now()
	x, err := takeHand(ctx, b.kind, b.last, b.url)
	if err != nil {
		return 0, err
	}
	defer x.kill()
	if err := errors.Join(b.kind.greet(x), b.kind.say(x, cliWords)); err != nil {
		return 0, err
	}
	return firstOf(b.asked).Sub(begin), nil
}

// firstOf is the first of several times; there is one at least.
func firstOf(times chan time.Time) time.Time {
	all := []time.Time{<-times}
	for {
		select {
		case t := <-times:
			all = append(all, t)
		default:
			return slices.MinFunc(all, time.Time.Compare)
		}
	}
}

// A cell is a hall with a sandbox around it, made when something is first started.
type cell struct {
	*hall
	engine  sandbox.Engine
	program string // the folder of it

	mu  sync.Mutex
	box sandbox.Box
}

func (c *cell) Key() string { return "cell" }
func (c *cell) Boxed() bool { return true }

func (c *cell) Start(ctx context.Context, s backend.Start) (backend.Running, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.box == nil {
		var err error
		if c.box, err = c.engine.Open(ctx, sandbox.Spec{Flow: c.flow, Owner: "agent", Network: true, Place: policy.Place{
			Dir: c.dir, Mounts: []policy.Mount{{Path: c.dir, Write: true}, {Path: c.home, Write: true}, {Path: c.program}},
		}}); err != nil {
			return nil, err
		}
	}
	return c.box.Start(ctx, sandbox.Command{Argv: s.Argv, Env: s.Env, Stdin: s.Stdin, Stdout: s.Stdout, Stderr: s.Stderr})
}

func (c *cell) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.box != nil {
		_ = c.box.Close() // what is measured is over
	}
}
