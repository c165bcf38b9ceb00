package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"conclave/internal/event"
	"conclave/internal/eventlog"
)

// A lease is a locked file and an epoch.
type lease struct {
	log   *Log
	flow  event.FlowID
	epoch uint64
	file  *os.File // locked

	mu     sync.Mutex // guards the file's content
	holder eventlog.Holder
}

func (le *lease) Flow() event.FlowID { return le.flow }
func (le *lease) Epoch() uint64      { return le.epoch }

// Announce implements [eventlog.Announcer].
func (le *lease) Announce(live string) error {
	if !le.log.holds(le.flow, le.epoch) {
		return fmt.Errorf("announce %s: %w", le.flow, eventlog.ErrSuperseded)
	}
	le.mu.Lock()
	defer le.mu.Unlock()
	le.holder.Live = live
	return fail("write", le.file.Name(), writeHolder(le.file, le.holder))
}

// Release gives the lease back. Releasing it again changes nothing.
func (le *lease) Release() error {
	le.log.mu.Lock()
	held := le.log.leases[le.flow] == le
	if held {
		delete(le.log.leases, le.flow)
	}
	le.log.mu.Unlock()
	if !held {
		return nil
	}
	return fail("release", le.file.Name(), le.file.Close())
}

// holds reports whether this handle holds the lease of that epoch. Another
// process may have taken over; only the database knows.
func (l *Log) holds(flow event.FlowID, epoch uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	le, ok := l.leases[flow]
	return ok && le.epoch == epoch
}

// Acquire implements [eventlog.Log]. File and epoch change hands inside one
// transaction, so that of several who try the one with the lock also has the
// newest epoch.
func (l *Log) Acquire(ctx context.Context, flow event.FlowID, takeOver bool) (eventlog.Lease, error) {
	if err := eventlog.CheckFlow(flow); err != nil {
		return nil, fmt.Errorf("acquire: %w", err)
	}
	if err := l.usable(ctx); err != nil {
		return nil, fmt.Errorf("acquire %s: %w", flow, err)
	}
	if !takeOver {
		_, _, _ = l.heldBy(ctx, flow) // outside the transaction, for what a killed holder leaves behind
	}
	le := &lease{log: l, flow: flow, holder: eventlog.Holder{PID: os.Getpid(), Since: time.Now().UTC().Round(0)}}
	r := &request{
		do:   func(w *writer) error { return w.acquire(le, takeOver) },
		undo: func() { le.file.Close() },
	}
	if err := l.w.submit(ctx, r); err != nil {
		if held := new(eventlog.HeldError); errors.As(err, &held) {
			return nil, held
		}
		return nil, fmt.Errorf("acquire %s: %w", flow, err)
	}
	if err := l.keep(le); err != nil {
		return nil, err
	}
	return le, nil
}

// keep adds a lease to those that this handle holds. A handle that was closed
// meanwhile holds none.
func (l *Log) keep(le *lease) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.usable(context.Background()) != nil {
		le.file.Close()
		return fmt.Errorf("acquire %s: %w", le.flow, eventlog.ErrClosed)
	}
	if old := l.leases[le.flow]; old != nil { // taken over from this very handle
		old.file.Close()
	}
	l.leases[le.flow] = le
	return nil
}

func (w *writer) acquire(le *lease, takeOver bool) error {
	s, err := w.state(le.flow)
	if err != nil {
		return fail("write", w.log.file, err)
	}
	path := filepath.Join(w.log.dir, "leases", string(le.flow))
	if le.file, err = lockFile(path, takeOver); err != nil {
		return refuseLock(le.flow, path, err)
	}
	if err := w.nextEpoch(le, s); err != nil {
		le.file.Close()
		return fail("write", w.log.file, err)
	}
	return nil
}

// refuseLock leaves the transaction intact: nothing is written to the database
// before the file is locked.
func refuseLock(flow event.FlowID, path string, err error) error {
	if !errors.Is(err, errLocked) {
		return refusal{fail("lock", path, err)}
	}
	holder, _, err := readHolder(path)
	if err != nil {
		return refusal{fail("lock", path, err)}
	}
	return refusal{&eventlog.HeldError{Flow: flow, Holder: holder}}
}

func (w *writer) nextEpoch(le *lease, s *flowState) error {
	if s.id == 0 {
		if err := w.c.exec("INSERT INTO flows (name) VALUES (?)", string(le.flow)); err != nil {
			return err
		}
		id, err := w.c.number("SELECT id FROM flows WHERE name = ?", string(le.flow))
		if err != nil {
			return err
		}
		w.k.name(le.flow, id, s)
	}
	if err := w.c.exec("UPDATE flows SET epoch = epoch + 1 WHERE id = ?", s.id); err != nil {
		return err
	}
	s.epoch++
	le.epoch = s.epoch
	return writeHolder(le.file, le.holder)
}

// Holder implements [eventlog.Log].
func (l *Log) Holder(ctx context.Context, flow event.FlowID) (eventlog.Holder, bool, error) {
	if err := l.usable(ctx); err != nil {
		return eventlog.Holder{}, false, fmt.Errorf("holder of %s: %w", flow, err)
	}
	if eventlog.CheckFlow(flow) != nil {
		return eventlog.Holder{}, false, nil
	}
	return l.heldBy(ctx, flow)
}

// linger is how long the lock of a holder that was killed may outlive it: a
// program that it was about to start has a copy of its descriptors until that
// program begins. On a busy machine this is some milliseconds.
const linger = 500 * time.Millisecond

// heldBy tells who has the lock of a flow. If that process is not there it looks
// again for a moment. The lock has the last word: a process that cannot be seen may
// be one of another container.
func (l *Log) heldBy(ctx context.Context, flow event.FlowID) (eventlog.Holder, bool, error) {
	path := filepath.Join(l.dir, "leases", string(flow))
	for until := time.Now().Add(linger); ; {
		h, held, err := readHolder(path)
		if err != nil || !held || h.PID == 0 || !gone(h.PID) || !time.Now().Before(until) {
			return h, held, fail("read", path, err)
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-ctx.Done():
			return h, held, nil
		}
	}
}

// lockFile returns the locked lease file. With takeOver, whoever holds it is
// left with a file that has no name any more.
func lockFile(path string, takeOver bool) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		err = lock(f)
		if err == nil && named(f, path) {
			return f, nil
		}
		f.Close()
		if err != nil && (!takeOver || !errors.Is(err, errLocked)) {
			return nil, err
		}
		if err == nil {
			continue // the name was taken away while we waited for nothing
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
}

// named reports whether path is still the name of f.
func named(f *os.File, path string) bool {
	a, errA := f.Stat()
	b, errB := os.Stat(path)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// writeHolder puts the new content over the old before cutting what is left of
// it, so that a reader always finds a whole value in front.
func writeHolder(f *os.File, h eventlog.Holder) error {
	p, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(p, 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(p)))
}

// readHolder tells who has the file locked. A holder that has not written who
// it is yet is the zero Holder.
func readHolder(path string) (h eventlog.Holder, held bool, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return h, false, nil
	}
	if err != nil {
		return h, false, err
	}
	defer f.Close()
	if held, err = locked(f); err != nil || !held {
		return h, false, err
	}
	if json.NewDecoder(f).Decode(&h) != nil {
		h = eventlog.Holder{}
	}
	return h, true, nil
}
