package app

import (
	"context"

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

// snapshot folds a flow as far as it has come, from where it was looked at last if
// nothing else was since, or else from its checkpoint on.
func (a *App) snapshot(ctx context.Context, log eventlog.Log, id event.FlowID) (*keeper, error) {
	k := &keeper{log: log, id: id}
	if seen := a.looked.Load(); seen != nil && seen.id == id && seen.log == log {
		*k = *seen
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
	seen := *k
	a.looked.Store(&seen)
	return k, nil
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
