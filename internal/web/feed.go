package web

import (
	"context"
	"errors"
	"sync"

	"conclave/internal/control"
	"conclave/internal/event"
)

// home is the name under which the list of flows is watched.
const home = event.FlowID("home")

// mostTabs bounds how many streams are open at once.
const mostTabs = 5000

var errBusy = errors.New("too many streams are open")

// A feed follows every flow that somebody watches, once, and hands what happens to
// all who do. It never waits for anybody: a tab that does not read loses its queue
// and is told to look at everything anew.
type feed struct {
	c    control.Control
	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu     sync.Mutex
	topics map[event.FlowID]*topic
	tabs   int
}

func newFeed(c control.Control) *feed {
	f := &feed{c: c, topics: map[event.FlowID]*topic{}}
	f.ctx, f.stop = context.WithCancel(context.Background())
	return f
}

func (f *feed) close() {
	f.mu.Lock() // nothing begins any more
	f.stop()
	f.mu.Unlock()
	f.wg.Wait()
}

// join has a tab watch flows. What it gets from now on is in its queue; Leave must
// be called.
func (f *feed) join(ctx context.Context, names []event.FlowID) (*tab, error) {
	t := newTab(names)
	f.mu.Lock()
	if f.ctx.Err() != nil || f.tabs >= mostTabs {
		f.mu.Unlock()
		return nil, errBusy
	}
	f.tabs++
	for _, n := range names {
		p := f.topics[n]
		if p == nil {
			p = f.begin(n)
		}
		t.topics = append(t.topics, p)
		p.users++
	}
	f.mu.Unlock()
	for _, p := range t.topics {
		select {
		case <-p.ready:
		case <-ctx.Done():
			f.leave(t)
			return nil, ctx.Err()
		case <-f.ctx.Done():
			f.leave(t)
			return nil, errBusy
		}
	}
	return t, nil
}

// begin follows a flow that nobody has watched so far. The feed is locked.
func (f *feed) begin(name event.FlowID) *topic {
	p := newTopic(f.c, name)
	ctx, stop := context.WithCancel(f.ctx)
	p.stop = stop
	f.topics[name] = p
	if name == home {
		f.wg.Go(func() { p.list(ctx) })
		return p
	}
	f.wg.Go(func() { p.follow(ctx) })
	f.wg.Go(func() { p.listen(ctx) })
	f.wg.Go(func() { p.hand(ctx) })
	return p
}

func (f *feed) leave(t *tab) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tabs--
	for _, p := range t.topics {
		p.drop(t)
		if p.users--; p.users == 0 {
			delete(f.topics, p.name)
			p.stop()
		}
	}
}

// poke has the list of flows looked at now.
func (f *feed) poke() {
	f.mu.Lock()
	p := f.topics[home]
	f.mu.Unlock()
	if p != nil {
		nudge(p.stir)
	}
}

// nudge leaves a note in a channel with room for one.
func nudge(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
