package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/flow"
)

// ErrNewer is returned for a flow that holds facts this program does not know:
// it can be read here, and driven by the version that wrote it.
var ErrNewer = errors.New("holds facts of a newer version")

// A Checkpointer is a decider whose state can be kept and taken up again.
type Checkpointer interface {
	Checkpoint() ([]byte, error)
	Restore([]byte) error
	CheckpointVersion() int // of the form of the above
}

const (
	checkpointName  = "decider"
	checkpointEvery = 2000 // events
)

// fold makes the decider what the log says, from the newest checkpoint on.
func (d *Driver) fold(ctx context.Context) error {
	flowID := d.Lease.Flow()
	d.d, d.last = d.Decider(), event.Event{}
	from := uint64(1)
	if c, ok := d.restore(ctx); ok {
		from = c.Seq
	}
	for e, err := range d.Log.Read(ctx, flowID, from) {
		if err != nil {
			return fmt.Errorf("read %s: %w", flowID, err)
		}
		if u, ok := e.Body.(event.Unknown); ok {
			return fmt.Errorf("%s: event %d is of the unknown kind %q: %w", flowID, e.Seq, u.Kind, ErrNewer)
		}
		if e.Seq > d.saved || d.saved == 0 {
			d.d.Step(e)
		}
		d.last = e
	}
	if d.last.Seq == 0 {
		return fmt.Errorf("%s: %w", flowID, eventlog.ErrNotFound)
	}
	return nil
}

// State is the decider of a flow as its log has it, for whoever only looks.
func State(ctx context.Context, log eventlog.Log, id event.FlowID, decider func() flow.Decider) (flow.Decider, error) {
	d := &Driver{Log: log, Lease: looking(id), Decider: decider}
	err := d.fold(ctx)
	return d.d, err
}

// looking stands for the lease of somebody who only looks.
type looking event.FlowID

func (l looking) Flow() event.FlowID { return event.FlowID(l) }
func (looking) Epoch() uint64        { return 0 }
func (looking) Release() error       { return nil }

// restore takes up the checkpoint, if there is one that can be used. It is a
// cache: whatever is wrong with it, the log is right.
func (d *Driver) restore(ctx context.Context) (eventlog.Checkpoint, bool) {
	d.saved = 0
	k, ok := d.d.(Checkpointer)
	if !ok {
		return eventlog.Checkpoint{}, false
	}
	c, ok, err := d.Log.LoadCheckpoint(ctx, d.Lease.Flow(), checkpointName, k.CheckpointVersion())
	if err != nil || !ok || c.Seq == 0 || k.Restore(c.Data) != nil {
		d.d = d.Decider()
		return eventlog.Checkpoint{}, false
	}
	d.saved = c.Seq
	return c, true
}

// checkpoint keeps the state every so often, so that a long flow is taken up
// quickly.
func (d *Driver) checkpoint(ctx context.Context) {
	k, ok := d.d.(Checkpointer)
	if !ok || d.last.Seq < d.saved+cmp.Or(d.every, checkpointEvery) {
		return
	}
	data, err := k.Checkpoint()
	if err != nil {
		return
	}
	c := eventlog.Checkpoint{Name: checkpointName, Version: k.CheckpointVersion(), Seq: d.last.Seq, Data: data}
	if d.Log.SaveCheckpoint(context.WithoutCancel(ctx), d.Lease.Flow(), c) == nil {
		d.saved = d.last.Seq
	}
}
