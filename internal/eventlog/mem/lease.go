package mem

import (
	"context"
	"fmt"
	"os"
	"time"

	"conclave/internal/event"
	"conclave/internal/eventlog"
)

// A lease is the right of one handle to commit to a flow.
type lease struct {
	log    *Log
	flow   event.FlowID
	epoch  uint64
	holder eventlog.Holder // guarded by the store's mutex
}

func (le *lease) Flow() event.FlowID { return le.flow }
func (le *lease) Epoch() uint64      { return le.epoch }

// Announce implements [eventlog.Announcer].
func (le *lease) Announce(live string) error {
	le.log.s.mu.Lock()
	defer le.log.s.mu.Unlock()
	if f := le.log.s.flow(le.flow); f.holder != le {
		return fmt.Errorf("announce %s: %w", le.flow, eventlog.ErrSuperseded)
	}
	le.holder.Live = live
	return nil
}

func (le *lease) Release() error {
	le.log.s.mu.Lock()
	defer le.log.s.mu.Unlock()
	if f := le.log.s.flow(le.flow); f.holder == le {
		f.holder = nil
	}
	return nil
}

// Acquire implements [eventlog.Log].
func (l *Log) Acquire(ctx context.Context, id event.FlowID, takeOver bool) (eventlog.Lease, error) {
	if err := eventlog.CheckFlow(id); err != nil {
		return nil, fmt.Errorf("acquire: %w", err)
	}
	if err := l.enter(ctx); err != nil {
		return nil, fmt.Errorf("acquire %s: %w", id, err)
	}
	defer l.s.mu.Unlock()
	f := l.s.flow(id)
	if f.holder != nil && !takeOver {
		return nil, &eventlog.HeldError{Flow: id, Holder: f.holder.holder}
	}
	f.epoch++
	f.holder = &lease{log: l, flow: id, epoch: f.epoch, holder: eventlog.Holder{PID: os.Getpid(), Since: time.Now().UTC().Round(0)}}
	return f.holder, nil
}

// Holder implements [eventlog.Log].
func (l *Log) Holder(ctx context.Context, id event.FlowID) (eventlog.Holder, bool, error) {
	if err := l.enter(ctx); err != nil {
		return eventlog.Holder{}, false, fmt.Errorf("holder of %s: %w", id, err)
	}
	defer l.s.mu.Unlock()
	f, ok := l.s.flows[id]
	if !ok || f.holder == nil {
		return eventlog.Holder{}, false, nil
	}
	return f.holder.holder, true, nil
}
