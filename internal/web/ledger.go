package web

import (
	"context"
	"sync"

	"conclave/internal/event"
)

// remembered is how many clicks are remembered.
const remembered = 4096

// A ledger remembers from where on the verdict about a fact is to be looked for, so
// that the second click of two finds that of the first.
type ledger struct {
	mu    sync.Mutex
	from  map[string]uint64
	order []string
}

func newLedger() *ledger { return &ledger{from: map[string]uint64{}} }

func (l *ledger) since(flow event.FlowID, id string) (uint64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	seq, ok := l.from[string(flow)+" "+id]
	return seq, ok
}

func (l *ledger) note(flow event.FlowID, id string, seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := string(flow) + " " + id
	if _, ok := l.from[k]; ok {
		return
	}
	l.from[k] = seq
	if l.order = append(l.order, k); len(l.order) > remembered {
		delete(l.from, l.order[0])
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

// once does something for a key, and whoever comes again with it gets the same. What
// failed may be tried again.
func (b *begun) once(ctx context.Context, key string, do func() (any, error)) (any, error) {
	if key == "" {
		return do()
	}
	if !keys.MatchString(key) {
		return nil, bad("key has to be of letters, digits, dots, dashes and underscores, at most 100.")
	}
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
