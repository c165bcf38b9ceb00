package backendtest

import (
	"context"
	"errors"
	"net/http"

	"conclave/internal/backend"
)

// leaving: it is the reader who has had enough.
func leaving() []wireFault {
	return []wireFault{
		{"cancelled in mid-stream", func(r *rig) { r.leave(true) }},
		{"left in mid-stream", func(r *rig) { r.leave(false) }},
		{"cancelled between two tries", cancelledWaiting},
	}
}

// leave has the provider stop after half of the answer and the reader go after
// the first piece, by its context or by leaving the loop. Either way the
// provider must see it: it would go on to work, and charge for it.
func (r *rig) leave(byContext bool) {
	gone := make(chan struct{})
	h := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.whole.send(w, r.whole.body[:r.tail*3/4])
		flush(w)
		if r.hold(req) {
			close(gone)
		}
	})
	r.act.Store(&h)
	ctx, cancel := context.WithTimeout(r.ctx, r.patience)
	defer cancel()
	asked, cancelTurn := context.WithCancel(ctx)
	defer cancelTurn()

	var last error
	reading := func() {
		for _, err := range r.engine.Turn(asked, opening(), &host{answer: nothing}) {
			last = err
			if !byContext {
				return
			}
			cancelTurn()
		}
	}
	reading()
	switch {
	case byContext && !errors.Is(last, context.Canceled):
		r.errorf("ended with %v, want context.Canceled", last)
	case !byContext && last != nil:
		r.errorf("failed before anything came: %v", last)
	}
	select {
	case <-gone:
	case <-ctx.Done():
		r.errorf("the provider does not see that nobody is listening")
	}
}

// cancelledWaiting: a turn that waits for its next try can be called off.
func cancelledWaiting(r *rig) {
	r = r.another(backend.Clocks{})
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	h := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		status(http.StatusTooManyRequests, 0, "Retry-After", "20")(w, req)
		cancel()
	})
	r.act.Store(&h)
	_, err := r.read(r.engine.Turn(ctx, opening(), &host{answer: nothing}))
	// The answer and the cancel are on their way at the same time.
	if !errors.Is(err, context.Canceled) {
		r.failed("cancelled", err, backend.RateLimited)
	}
}
