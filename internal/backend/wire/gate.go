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
	pace  *rate.Limiter
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

// pass waits for the gate. If that would take longer than patience it returns
// how long at once.
func (g *gate) pass(ctx context.Context, patience time.Duration) (wait time.Duration, err error) {
	for {
		if wait = g.closed(); wait > patience {
			return wait, nil
		}
		if wait > 0 {
			if err := sleep(ctx, wait); err != nil {
				return 0, err
			}
			continue
		}
		turn := g.pace.Reserve()
		if wait = turn.Delay(); wait > patience {
			turn.Cancel()
			return wait, nil
		}
		if err := sleep(ctx, wait); err != nil {
			turn.Cancel()
			return 0, err
		}
		if g.closed() == 0 {
			return 0, nil
		}
	}
}

// closed is how long the gate stays closed; zero is open.
func (g *gate) closed() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return max(0, time.Until(g.until))
}

// shut closes the gate for a while. A shorter time does not open it earlier.
func (g *gate) shut(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if until := time.Now().Add(min(d, longest)); until.After(g.until) {
		g.until = until
	}
	g.pace.SetBurst(1) // what is saved up would let a herd through
	g.pace.SetLimit(min(g.slow, g.most))
}

// served is told of every request that got its answer.
func (g *gate) served() {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.pace.Limit()
	if now >= g.most {
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
