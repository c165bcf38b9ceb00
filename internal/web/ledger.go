package web

import (
	"context"
	"sync"

	"conclave/internal/event"
)

// remembered is how many clicks are remembered.
const remembered = 4096

// A ledger remembers what was said, and from where on the verdict about it is to be
// looked for, so that the second click of two finds that of the first.
type ledger struct {
	mu    sync.Mutex
	said  map[string]click
	order []string
}

type click struct {
	asked event.Hash
	from  uint64
}

func newLedger() *ledger { return &ledger{said: map[string]click{}} }

func (l *ledger) recall(flow event.FlowID, id string) (click, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, ok := l.said[string(flow)+" "+id]
	return c, ok
}

func (l *ledger) note(flow event.FlowID, id string, c click) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := string(flow) + " " + id
	if _, ok := l.said[k]; ok {
		return
	}
	l.said[k] = c
	if l.order = append(l.order, k); len(l.order) > remembered {
		delete(l.said, l.order[0])
		l.order = l.order[1:]
	}
}

// begun remembers what was begun by which click: beginning is not a fact of a flow
// that is there already.
type begun struct {
	mu    sync.Mutex
	by    map[string]*beginning
	order []string
}

type beginning struct {
	done chan struct{}
	v    any
	err  error
}

func newBegun() *begun { return &begun{by: map[string]*beginning{}} }

// once does something of some sort for a key, and whoever comes again with it gets the same. What
// failed may be tried again.
func (b *begun) once(ctx context.Context, what, key string, do func() (any, error)) (any, error) {
	if key == "" {
		return do()
	}
	if !keys().MatchString(key) {
		return nil, errKey
	}
	key = what + " " + key
	b.mu.Lock()
	one, ok := b.by[key]
	if !ok {
		one = &beginning{done: make(chan struct{})}
		b.by[key] = one
		if b.order = append(b.order, key); len(b.order) > remembered {
			delete(b.by, b.order[0])
			b.order = b.order[1:]
		}
	}
	b.mu.Unlock()
	if ok {
		select {
		case <-one.done:
			return one.v, one.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	defer close(one.done)
	one.v, one.err = do()
	if one.err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.by[key] == one {
			delete(b.by, key)
		}
	}
	return one.v, one.err
}
