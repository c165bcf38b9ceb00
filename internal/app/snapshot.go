package app

import (
	"context"
	"errors"
	"slices"
	"sync"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/view"
)

// SnapshotVersion is that of the checkpoints of what is shown.
const SnapshotVersion = view.SnapshotVersion

const (
	snapshotName  = "view"
	snapshotEvery = 2000 // events
)

// Keep returns an observer of a new flow's driver that keeps its snapshot.
func Keep(log eventlog.Log, id event.FlowID) func([]event.Event) {
	return (&keeper{log: log, id: id}).observe
}

// Open implements [control.Control].
func (a *App) Open(ctx context.Context, id event.FlowID) (view.Snapshot, error) {
	log, err := a.existing(ctx)
	if err != nil {
		return view.Snapshot{}, err
	}
	s, err := a.snapshot(ctx, log, id)
	if errors.Is(err, eventlog.ErrNotFound) {
		return view.Snapshot{}, &control.NotFound{What: "flow", Typed: string(id)}
	}
	if err != nil {
		return view.Snapshot{}, err
	}
	return s.now, nil
}

// keeper folds a flow into its snapshot and keeps that as a checkpoint every so
// often.
type keeper struct {
	log  eventlog.Log
	id   event.FlowID
	now  view.Snapshot
	kept uint64
}

// snapshot folds a flow as far as it has come, from where it was looked at last, or
// else from its checkpoint on.
func (a *App) snapshot(ctx context.Context, log eventlog.Log, id event.FlowID) (*keeper, error) {
	k := &keeper{log: log, id: id}
	if seen, ok := a.looked.at(id); ok && seen.log == log {
		*k = seen
	} else if c, ok, err := log.LoadCheckpoint(ctx, id, snapshotName, SnapshotVersion); err == nil && ok {
		if now, err := view.DecodeSnapshot(c.Data); err == nil && now.Seq == c.Seq {
			k.now, k.kept = now, c.Seq
		}
	}
	for e, err := range log.Read(ctx, id, k.now.Seq+1) {
		if err != nil {
			return nil, err
		}
		k.now = k.now.Apply(e)
	}
	k.keep(ctx)
	a.looked.put(*k)
	return k, nil
}

// What is kept of flows as they were looked at, since a list of them is looked at
// again and again: so many short ones, and the last one whatever its length.
const (
	mostLooked    = 256
	longestLooked = 2 * snapshotEvery // events
)

// looked is how flows were when they were looked at last. The zero value is ready;
// it is safe for concurrent use.
type looked struct {
	mu    sync.Mutex
	last  keeper
	flows map[event.FlowID]keeper
	order []event.FlowID // the one that was put longest ago first
}

func (l *looked) at(id event.FlowID) (keeper, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last.id == id {
		return l.last, true
	}
	k, ok := l.flows[id]
	return k, ok
}

func (l *looked) put(k keeper) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last = k; k.now.Seq > longestLooked {
		delete(l.flows, k.id)
		return
	}
	if l.flows == nil {
		l.flows = map[event.FlowID]keeper{}
	}
	if !slices.Contains(l.order, k.id) {
		if l.order = append(l.order, k.id); len(l.order) > mostLooked {
			delete(l.flows, l.order[0])
			l.order = l.order[1:]
		}
	}
	l.flows[k.id] = k
}

// observe takes in what the flow's driver has recorded.
func (k *keeper) observe(events []event.Event) {
	for _, e := range events {
		k.now = k.now.Apply(e)
	}
	k.keep(context.Background())
}

// keep saves a checkpoint if there is enough in it. It is a cache: what goes
// wrong costs time at the next opening and nothing else.
func (k *keeper) keep(ctx context.Context) {
	if k.now.Seq >= k.kept+snapshotEvery {
		k.save(ctx)
	}
}

func (k *keeper) save(ctx context.Context) {
	data, err := k.now.Encode()
	if err != nil {
		return
	}
	c := eventlog.Checkpoint{Name: snapshotName, Version: SnapshotVersion, Seq: k.now.Seq, Data: data}
	if k.log.SaveCheckpoint(ctx, k.id, c) == nil {
		k.kept = k.now.Seq
	}
}
