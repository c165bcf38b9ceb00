package wire

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A gate lets the requests of one account through. It is open until a provider
// asks to wait; then it is closed for that time, and afterwards lets requests
// through one by one, faster with every one that succeeds, until it is open
// again. So agents that were turned away together do not come back as a herd.
type gate struct {
	most  rate.Limit // what the account may do at any time
	burst int
	slow  rate.Limit // what it may do after it was closed

	mu    sync.Mutex
	until time.Time // closed until then
	times int       // it was closed
	// answers is how many requests were served.
	answers int
	pace    *rate.Limiter
}

const (
	// recovered is how much faster than at first a gate lets requests through
	// when it needs no pace any more.
	recovered = 32
	// longest is how long a gate stays closed at most without being told again.
	longest = time.Hour
)

// newGate makes an open gate. Gap is the time between two requests at first
// after it was closed.
func newGate(perMinute int, gap time.Duration) *gate {
	g := &gate{most: rate.Inf, burst: 1, slow: rate.Every(gap)}
	if perMinute > 0 {
		g.most, g.burst = rate.Limit(perMinute)/60, max(1, perMinute/10)
	}
	g.pace = rate.NewLimiter(g.most, g.burst)
	return g
}

// A patience is how long a request may be kept waiting: by one wait, and by all
// that are still to come.
type patience struct {
	one, all time.Duration
	served   int // requests of the account, when it was last looked at
}

func newPatience(one time.Duration) *patience { return &patience{one: one, all: 2 * one} }

// hope is new patience where others were served meanwhile: there is a queue, and
// it moves.
func (p *patience) hope(served int) {
	if served != p.served {
		p.served, p.all = served, 2*p.one
	}
}

func (p *patience) has(d time.Duration) bool { return d <= min(p.one, p.all) }

func (p *patience) spend(ctx context.Context, d time.Duration) error {
	p.all -= d
	return sleep(ctx, d)
}

// pass waits for the gate and says which opening of it the request went through.
// If that would take more patience than there is, it returns at once how long.
func (g *gate) pass(ctx context.Context, left *patience) (opening int, wait time.Duration, err error) {
	for {
		wait, _, served := g.closed()
		if left.hope(served); !left.has(wait) {
			return 0, wait, nil
		}
		if wait > 0 {
			if err := left.spend(ctx, wait); err != nil {
				return 0, 0, err
			}
			continue
		}
		turn := g.pace.Reserve()
		if wait = turn.Delay(); !left.has(wait) {
			turn.Cancel()
			return 0, wait, nil
		}
		if err := left.spend(ctx, wait); err != nil {
			turn.Cancel()
			return 0, 0, err
		}
		if wait, opening, _ = g.closed(); wait == 0 {
			return opening, 0, nil
		}
	}
}

// closed is how long the gate stays closed, zero is open, how often it was closed
// so far, and how many requests were served.
func (g *gate) closed() (wait time.Duration, times, answers int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return max(0, time.Until(g.until)), g.times, g.answers
}

// shut closes the gate for a while. A shorter time does not open it earlier.
func (g *gate) shut(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if until := time.Now().Add(min(d, longest)); until.After(g.until) {
		g.until = until
	}
	g.times++
	g.pace.SetBurst(1) // what is saved up would let a herd through
	g.pace.SetLimit(min(g.slow, g.most))
}

// served is told of every request that got its answer, and through which opening
// it went. What was sent before the gate was last closed says nothing about what
// the account may do since.
func (g *gate) served(opening int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answers++
	now := g.pace.Limit()
	if now >= g.most || opening != g.times {
		return
	}
	if faster := 2 * now; faster < min(recovered*g.slow, g.most) {
		g.pace.SetLimit(faster)
		return
	}
	g.pace.SetLimit(g.most)
	g.pace.SetBurst(g.burst)
}

// sleep waits, or returns the context's error.
func sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
