// Package mem is an event log in memory, for tests and throw-away flows.
//
// It keeps encoded bodies and decodes on every read, as an engine on disk does,
// and blocks on channels only, so that it works inside a testing/synctest
// bubble. [Log.Open] gives a second handle on the same store: what another
// process would have, or the same program after a restart.
package mem

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/internal/record"
	"conclave/internal/eventlog/internal/wake"
)

// A Log is one handle on a store. It implements [eventlog.Log].
type Log struct {
	s      *store
	done   chan struct{}
	closed bool // guarded by s.mu
}

// A store is what several handles share.
type store struct {
	hub wake.Hub

	mu    sync.Mutex
	pos   uint64
	sent  uint64
	flows map[event.FlowID]*flow
	blobs map[event.Hash][]byte
}

// A flow is guarded by its store's mutex. Its events and inbox entries are
// never changed once they are in.
type flow struct {
	events      []record.Record
	byID        map[string]int // index in events
	inbox       []entry
	epoch       uint64
	holder      *lease
	checkpoints map[string]eventlog.Checkpoint
}

type entry struct {
	n uint64 // numbers all entries of the store, in order
	record.Record
}

// New returns a handle on an empty store.
func New() *Log {
	return (&Log{s: &store{flows: map[event.FlowID]*flow{}, blobs: map[event.Hash][]byte{}}}).Open()
}

// Open returns another handle on the same store. It works on a closed handle
// too.
func (l *Log) Open() *Log { return &Log{s: l.s, done: make(chan struct{})} }

// enter locks the store for a call of this handle. The caller unlocks it if
// there is no error.
func (l *Log) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.s.mu.Lock()
	if l.closed {
		l.s.mu.Unlock()
		return eventlog.ErrClosed
	}
	return nil
}

// flow returns the flow of that name, which is made if it is not there.
func (s *store) flow(id event.FlowID) *flow {
	f, ok := s.flows[id]
	if !ok {
		f = &flow{byID: map[string]int{}, checkpoints: map[string]eventlog.Checkpoint{}}
		s.flows[id] = f
	}
	return f
}

// Commit implements [eventlog.Log].
func (l *Log) Commit(ctx context.Context, le eventlog.Lease, events []event.Event) error {
	records, err := record.OfEvents(le.Flow(), events)
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if err := l.enter(ctx); err != nil {
		return fmt.Errorf("commit to %s: %w", le.Flow(), err)
	}
	defer l.s.mu.Unlock()
	f := l.s.flow(le.Flow())
	if f.holder == nil || f.holder.log != l || f.epoch != le.Epoch() {
		return fmt.Errorf("commit to %s in epoch %d: %w", le.Flow(), le.Epoch(), eventlog.ErrSuperseded)
	}
	fresh, err := f.fresh(records)
	if err != nil {
		return fmt.Errorf("commit to %s: %w", le.Flow(), err)
	}
	for _, r := range fresh {
		l.s.pos++
		r.Pos, r.Body = l.s.pos, bytes.Clone(r.Body)
		f.byID[r.ID] = len(f.events)
		f.events = append(f.events, r)
	}
	f.inbox = slices.DeleteFunc(slices.Clone(f.inbox), func(e entry) bool { _, in := f.byID[e.ID]; return in })
	for i, r := range records {
		events[i].Pos = f.events[r.Seq-1].Pos
	}
	if len(fresh) > 0 {
		l.s.hub.Wake(le.Flow())
	}
	return nil
}

// fresh returns the tail of records that the flow does not hold yet, after
// checking that the rest is what it holds and the tail follows it.
func (f *flow) fresh(records []record.Record) ([]record.Record, error) {
	for i, r := range records {
		if at, known := f.byID[r.ID]; known {
			if err := eventlog.CheckKnown(r.ID, r.Seq, uint64(at+1), r.Same(f.events[at])); err != nil {
				return nil, err
			}
			continue
		}
		if last := uint64(len(f.events)); r.Seq != last+1 {
			return nil, fmt.Errorf("event %s has number %d, the last one is %d: %w", r.ID, r.Seq, last, eventlog.ErrGap)
		}
		return records[i:], distinct(f, records[i:])
	}
	return nil, nil
}

// distinct checks that no id of the records is known or comes twice.
func distinct(f *flow, records []record.Record) error {
	seen := map[string]record.Record{}
	for _, r := range records {
		if at, known := f.byID[r.ID]; known {
			return eventlog.CheckKnown(r.ID, r.Seq, uint64(at+1), r.Same(f.events[at]))
		}
		if o, twice := seen[r.ID]; twice {
			return eventlog.CheckKnown(r.ID, r.Seq, o.Seq, r.Same(o))
		}
		seen[r.ID] = r
	}
	return nil
}

// Flows implements [eventlog.Log].
func (l *Log) Flows(ctx context.Context) ([]eventlog.Flow, error) {
	if err := l.enter(ctx); err != nil {
		return nil, fmt.Errorf("list flows: %w", err)
	}
	defer l.s.mu.Unlock()
	var out []eventlog.Flow
	for id, f := range l.s.flows {
		if len(f.events) == 0 {
			continue
		}
		first, err := f.events[0].Event(id)
		if err != nil {
			return nil, err
		}
		last, err := f.events[len(f.events)-1].Event(id)
		if err != nil {
			return nil, err
		}
		out = append(out, eventlog.Flow{ID: id, First: first, Last: last})
	}
	slices.SortFunc(out, func(a, b eventlog.Flow) int { return cmp.Compare(b.Last.Pos, a.Last.Pos) })
	return out, nil
}

// Send implements [eventlog.Log].
func (l *Log) Send(ctx context.Context, id event.FlowID, fact event.Fact) error {
	r, err := record.OfFact(fact)
	if err != nil {
		return fmt.Errorf("send to %s: %w", id, err)
	}
	if err := l.enter(ctx); err != nil {
		return fmt.Errorf("send to %s: %w", id, err)
	}
	defer l.s.mu.Unlock()
	f, ok := l.s.flows[id]
	if !ok || len(f.events) == 0 {
		return fmt.Errorf("send to flow %s: %w", id, eventlog.ErrNotFound)
	}
	held, known := record.Record{}, false
	if at, in := f.byID[r.ID]; in {
		held, known = f.events[at], true
	} else if i := slices.IndexFunc(f.inbox, func(e entry) bool { return e.ID == r.ID }); i >= 0 {
		held, known = f.inbox[i].Record, true
	}
	if known {
		if !r.Same(held) {
			return fmt.Errorf("send %s to %s: %w", r.ID, id, eventlog.ErrConflict)
		}
		return nil
	}
	r.Body = bytes.Clone(r.Body)
	l.s.sent++
	f.inbox = append(f.inbox, entry{l.s.sent, r})
	l.s.hub.Wake(id)
	return nil
}

// PutBlob implements [eventlog.Log].
func (l *Log) PutBlob(ctx context.Context, p []byte) (event.Hash, error) {
	if err := l.enter(ctx); err != nil {
		return "", fmt.Errorf("put blob: %w", err)
	}
	defer l.s.mu.Unlock()
	h := event.HashOf(p)
	if _, ok := l.s.blobs[h]; !ok {
		l.s.blobs[h] = bytes.Clone(p)
	}
	return h, nil
}

// Blob implements [eventlog.Log].
func (l *Log) Blob(ctx context.Context, h event.Hash) ([]byte, error) {
	if err := l.enter(ctx); err != nil {
		return nil, fmt.Errorf("blob %s: %w", h, err)
	}
	defer l.s.mu.Unlock()
	p, ok := l.s.blobs[h]
	if !ok {
		return nil, fmt.Errorf("blob %s: %w", h, eventlog.ErrNotFound)
	}
	return append([]byte{}, p...), nil
}

// SaveCheckpoint implements [eventlog.Log].
func (l *Log) SaveCheckpoint(ctx context.Context, id event.FlowID, c eventlog.Checkpoint) error {
	if err := l.enter(ctx); err != nil {
		return fmt.Errorf("save checkpoint %s of %s: %w", c.Name, id, err)
	}
	defer l.s.mu.Unlock()
	f, ok := l.s.flows[id]
	if !ok || len(f.events) == 0 {
		return fmt.Errorf("save checkpoint %s of flow %s: %w", c.Name, id, eventlog.ErrNotFound)
	}
	if last := uint64(len(f.events)); c.Seq > last {
		return fmt.Errorf("checkpoint %s of %s is of %d events, there are %d: %w", c.Name, id, c.Seq, last, eventlog.ErrGap)
	}
	c.Data = bytes.Clone(c.Data)
	f.checkpoints[c.Name] = c
	return nil
}

// LoadCheckpoint implements [eventlog.Log].
func (l *Log) LoadCheckpoint(ctx context.Context, id event.FlowID, name string, version int) (eventlog.Checkpoint, bool, error) {
	if err := l.enter(ctx); err != nil {
		return eventlog.Checkpoint{}, false, fmt.Errorf("load checkpoint %s of %s: %w", name, id, err)
	}
	defer l.s.mu.Unlock()
	f, ok := l.s.flows[id]
	if !ok {
		return eventlog.Checkpoint{}, false, nil
	}
	c, ok := f.checkpoints[name]
	if !ok || c.Version != version {
		return eventlog.Checkpoint{}, false, nil
	}
	c.Data = bytes.Clone(c.Data)
	return c, true, nil
}

// Nudge implements [eventlog.Log].
func (l *Log) Nudge() { l.s.hub.All() }

// Close implements [eventlog.Log]. The store stays: [Log.Open] gives it back.
func (l *Log) Close() error {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	close(l.done)
	for _, f := range l.s.flows {
		if f.holder != nil && f.holder.log == l {
			f.holder = nil
		}
	}
	return nil
}
