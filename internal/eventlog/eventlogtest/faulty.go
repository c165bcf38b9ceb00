package eventlogtest

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"conclave/internal/event"
	"conclave/internal/eventlog"
)

// A Call is a set of methods of [eventlog.Log].
type Call uint

// The methods a [Plan] can name.
const (
	Commit Call = 1 << iota
	Send
	PutBlob
	Acquire
	SaveCheckpoint
	Read // every method that changes nothing

	Writes = Commit | Send | PutBlob | Acquire | SaveCheckpoint
)

// A Plan says which call fails, and how.
type Plan struct {
	// Nth is the call that fails, from 1. None does if it is 0.
	Nth int
	// On are the calls that are counted; Writes if it is 0.
	On Call
	// After has the call do its work and then give ErrUnknown. Reads have no
	// effect; for them it changes nothing but the error.
	After bool
	// Err is what a call without effect gives; ErrFull if it is nil.
	Err error
	// On from the Nth call every one fails, as on a dead disk.
	Dead bool
}

// A Fault is a log that fails once in a place of the test's choosing. To try
// every place, raise Nth until a whole test passes without [Fault.Fired].
type Fault struct {
	log  eventlog.Log
	plan Plan

	mu    sync.Mutex
	calls int
	fired bool
}

// Faulty wraps log. Leases are those of log itself.
func Faulty(log eventlog.Log, p Plan) *Fault {
	if p.On == 0 {
		p.On = Writes
	}
	if p.Err == nil {
		p.Err = eventlog.ErrFull
	}
	return &Fault{log: log, plan: p}
}

// Fired reports whether a call has failed on purpose.
func (f *Fault) Fired() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fired
}

// Calls is the number of calls that were counted.
func (f *Fault) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

func (f *Fault) due(c Call) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.plan.On&c == 0 {
		return false
	}
	f.calls++
	due := f.plan.Nth > 0 && (f.calls == f.plan.Nth || f.plan.Dead && f.calls > f.plan.Nth)
	f.fired = f.fired || due
	return due
}

// call runs do, or fails in its place, or after it.
func (f *Fault) call(c Call, name string, do func() error) error {
	if !f.due(c) {
		return do()
	}
	if !f.plan.After {
		return fmt.Errorf("%s: fault: %w", name, f.plan.Err)
	}
	if err := do(); err != nil {
		return err
	}
	return fmt.Errorf("%s: fault: %w", name, eventlog.ErrUnknown)
}

// sequence is call for a method that yields.
func sequence[T any](f *Fault, name string, seq iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		if err := f.call(Read, name, func() error { return nil }); err != nil {
			yield(*new(T), err)
			return
		}
		seq(yield)
	}
}

func (f *Fault) Commit(ctx context.Context, l eventlog.Lease, events []event.Event) error {
	return f.call(Commit, "commit", func() error { return f.log.Commit(ctx, l, events) })
}

func (f *Fault) Send(ctx context.Context, flow event.FlowID, fact event.Fact) error {
	return f.call(Send, "send", func() error { return f.log.Send(ctx, flow, fact) })
}

func (f *Fault) PutBlob(ctx context.Context, p []byte) (h event.Hash, err error) {
	err = f.call(PutBlob, "put blob", func() error { h, err = f.log.PutBlob(ctx, p); return err })
	if err != nil {
		return "", err
	}
	return h, nil
}

// Acquire that fails after its effect gives the lease back, as the engines do.
func (f *Fault) Acquire(ctx context.Context, flow event.FlowID, takeOver bool) (l eventlog.Lease, err error) {
	err = f.call(Acquire, "acquire", func() error { l, err = f.log.Acquire(ctx, flow, takeOver); return err })
	if err != nil && l != nil {
		l.Release()
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (f *Fault) SaveCheckpoint(ctx context.Context, flow event.FlowID, c eventlog.Checkpoint) error {
	return f.call(SaveCheckpoint, "save checkpoint", func() error { return f.log.SaveCheckpoint(ctx, flow, c) })
}

func (f *Fault) Read(ctx context.Context, flow event.FlowID, from uint64) iter.Seq2[event.Event, error] {
	return sequence(f, "read", f.log.Read(ctx, flow, from))
}

func (f *Fault) Follow(ctx context.Context, flow event.FlowID, from uint64) iter.Seq2[event.Event, error] {
	return sequence(f, "follow", f.log.Follow(ctx, flow, from))
}

func (f *Fault) Inbox(ctx context.Context, flow event.FlowID) iter.Seq2[event.Fact, error] {
	return sequence(f, "inbox", f.log.Inbox(ctx, flow))
}

func (f *Fault) Unheard(ctx context.Context, flow event.FlowID) iter.Seq2[event.Fact, error] {
	return sequence(f, "unheard", f.log.Unheard(ctx, flow))
}

func (f *Fault) Flows(ctx context.Context) (list []eventlog.Flow, err error) {
	err = f.call(Read, "flows", func() error { list, err = f.log.Flows(ctx); return err })
	return list, err
}

func (f *Fault) Holder(ctx context.Context, flow event.FlowID) (h eventlog.Holder, ok bool, err error) {
	err = f.call(Read, "holder", func() error { h, ok, err = f.log.Holder(ctx, flow); return err })
	return h, ok, err
}

func (f *Fault) Blob(ctx context.Context, h event.Hash) (p []byte, err error) {
	err = f.call(Read, "blob", func() error { p, err = f.log.Blob(ctx, h); return err })
	return p, err
}

func (f *Fault) LoadCheckpoint(ctx context.Context, flow event.FlowID, name string, version int) (c eventlog.Checkpoint, ok bool, err error) {
	err = f.call(Read, "load checkpoint", func() error { c, ok, err = f.log.LoadCheckpoint(ctx, flow, name, version); return err })
	return c, ok, err
}

func (f *Fault) Nudge()       { f.log.Nudge() }
func (f *Fault) Close() error { return f.log.Close() }
