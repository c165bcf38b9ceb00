package app

import (
	"context"

	"conclave/internal/event"
	"conclave/internal/live"
)

// Listen implements [control.Control]. A flow driven elsewhere is heard through
// its driver's socket; when that closes the driver is gone, and those who follow
// look again for what it wrote last. Who listens to a conversation that is driven
// elsewhere hears the runs it launches: they come and go, it stays.
func (a *App) Listen(ctx context.Context, id event.FlowID, here bool, f func(live.Delta)) {
	whole := false
	mine := func(d live.Delta) bool {
		if d.Flow == id || whole {
			f(d)
		}
		return ctx.Err() == nil
	}
	if here {
		a.listenHere(ctx, mine)
		return
	}
	log, err := a.existing(ctx)
	if err != nil {
		return
	}
	_, whole, _ = session(ctx, log, id)
	if h, ok, err := log.Holder(ctx, id); err == nil && ok && h.Live != "" {
		_ = live.Dial(ctx, h.Live, mine)
	}
	log.Nudge()
}

func (a *App) listenHere(ctx context.Context, mine func(live.Delta) bool) {
	deltas, stop := a.hub.Listen()
	defer stop()
	for {
		select {
		case d := <-deltas:
			mine(d)
		case <-ctx.Done():
			return
		}
	}
}
