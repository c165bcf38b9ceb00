package sqlite

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"conclave/internal/event"
	"conclave/internal/eventlog"
)

// A writer is the one place of a Log that writes to the database.
//
// Its goroutine takes every request that waits, runs them one after the other in
// one transaction and answers all of them when that is on the disk. A request
// that arrives meanwhile is in the next transaction. One that comes while nobody
// else does is done by its own caller, which saves waking the goroutine and
// being woken by it.
type writer struct {
	log  *Log
	gone chan struct{}

	mu      sync.Mutex
	waiting []*request
	closed  bool
	wake    chan struct{} // capacity 1: something waits, or closed

	// turn is held by whoever writes, and guards what follows.
	turn       sync.Mutex
	c          *conn
	crowd      int        // requests in the last transaction
	k          *knowledge // nil if nothing is known
	rows       []any      // of events the transaction will insert
	coverEvery uint64     // changed by tests alone
}

// A request is something to be done in a transaction.
type request struct {
	// do runs while the turn is held. An error that is a refusal must be
	// returned before anything is written; any other error undoes the whole
	// transaction, after which do may be called again.
	do func(*writer) error
	// undo, if set, is called when do succeeded and the transaction did not.
	undo func()
	// flow is the one with news when the transaction is on the disk, if any.
	flow event.FlowID

	state atomic.Int32 // waiting, then taken or abandoned
	err   error
	done  chan struct{}
}

const (
	waiting int32 = iota
	taken
	abandoned
)

// A refusal is an error of a request that leaves the transaction intact.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

func newWriter(l *Log, c *conn) *writer {
	w := &writer{log: l, c: c, gone: make(chan struct{}), wake: make(chan struct{}, 1), coverEvery: coverEvery}
	go w.run()
	return w
}

// submit has r done and waits for the outcome. If ctx ends while r still waits
// it is not done at all; once taken its outcome is waited for, so that the
// caller always knows it.
func (w *writer) submit(ctx context.Context, r *request) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.done = make(chan struct{})
	if w.alone(r) {
		return r.err
	}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return eventlog.ErrClosed
	}
	w.waiting = append(w.waiting, r)
	w.mu.Unlock()
	w.signal()
	select {
	case <-r.done:
	case <-ctx.Done():
		if r.state.CompareAndSwap(waiting, abandoned) {
			return ctx.Err()
		}
		<-r.done
	}
	return r.err
}

// alone does r at once if nobody else writes, waits or has just been writing
// together with others: those are about to come back, and share a transaction.
func (w *writer) alone(r *request) bool {
	if !w.turn.TryLock() {
		return false
	}
	defer w.turn.Unlock()
	w.mu.Lock()
	free := !w.closed && len(w.waiting) == 0
	w.mu.Unlock()
	if !free || w.crowd > 1 {
		return false
	}
	w.write([]*request{r})
	return true
}

// write does a batch. Callers hold turn.
func (w *writer) write(batch []*request) {
	if w.crowd = len(batch); w.crowd > 0 {
		w.commit(batch)
		w.cover()
	}
}

func (w *writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// close lets the goroutine finish what waits, and waits for it.
func (w *writer) close() error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.signal()
	<-w.gone
	return w.c.close()
}

func (w *writer) run() {
	defer close(w.gone)
	for range w.wake {
		if w.round() {
			return
		}
	}
}

// round does everything that waits, and reports whether the writer is closed.
func (w *writer) round() (closed bool) {
	w.turn.Lock()
	defer w.turn.Unlock()
	w.gather(w.crowd)
	batch, closed := w.take()
	w.write(batch)
	return closed
}

// gatherFor bounds how long gather lets others go first.
const gatherFor = 50 * time.Microsecond

// gather lets those who were answered together come back together: it yields
// the processor, for a fraction of what a sync takes, until as many wait as the
// last time. Whoever is alone waits for nobody.
func (w *writer) gather(n int) {
	if n <= 1 {
		return
	}
	for start := time.Now(); time.Since(start) < gatherFor; {
		w.mu.Lock()
		enough := len(w.waiting) >= n || w.closed
		w.mu.Unlock()
		if enough {
			return
		}
		runtime.Gosched()
	}
}

func (w *writer) take() (batch []*request, closed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.waiting
	w.waiting = nil
	for _, r := range all {
		if r.state.CompareAndSwap(waiting, taken) {
			batch = append(batch, r)
		}
	}
	return batch, w.closed
}

// commit does the requests in one transaction and answers them. If that fails
// for a known reason each is tried by itself, so that one that is too big for
// the disk does not take the others with it.
func (w *writer) commit(batch []*request) {
	err := w.transact(batch)
	if err != nil && len(batch) > 1 && !errors.Is(err, eventlog.ErrUnknown) {
		for _, r := range batch {
			w.commit([]*request{r})
		}
		return
	}
	for _, r := range batch {
		if err != nil && (r.err == nil || !isRefusal(r.err)) {
			r.err = err
		}
	}
	news := err == nil && w.wakeHere(batch)
	for _, r := range batch {
		close(r.done)
	}
	if news {
		w.log.bell.ring()
	}
}

func isRefusal(err error) bool { return errors.As(err, new(refusal)) }

// transact returns an error if the transaction as a whole failed; otherwise
// each request has its own outcome in err.
func (w *writer) transact(batch []*request) error {
	err := w.begin()
	did := 0
	for _, r := range batch {
		if err != nil {
			break
		}
		if r.err = r.do(w); r.err == nil {
			did++
		} else if !isRefusal(r.err) {
			err = r.err
		}
	}
	if err == nil {
		err = fail("write", w.log.file, w.flush())
	}
	if err == nil {
		err = w.end(did > 0)
	}
	if err != nil {
		for _, r := range batch {
			if r.err == nil && r.undo != nil {
				r.undo()
			}
		}
		w.rollback()
		return err
	}
	return nil
}

// begin starts a transaction and brings what is known up to date.
func (w *writer) begin() error {
	err := w.c.exec("BEGIN IMMEDIATE")
	if err == nil {
		err = w.learn()
	}
	return fail("write", w.log.file, err)
}

// end finishes the transaction. SQLite has written nothing that counts when it
// reports a full disk; what a failed write or sync leaves behind is not known.
func (w *writer) end(changed bool) error {
	if !changed {
		return fail("write", w.log.file, w.c.exec("ROLLBACK"))
	}
	err := w.c.exec("COMMIT")
	if code(err) == codeIO {
		return unknown(w.log.file, err)
	}
	return fail("write", w.log.file, err)
}

// rollback ends a transaction that failed. An error means that there is nothing
// left to roll back.
func (w *writer) rollback() {
	w.c.exec("ROLLBACK")
	w.k = nil
	w.forgetRows()
}

// wakeHere wakes those of this process who follow, and reports whether there is
// news for others, too.
func (w *writer) wakeHere(batch []*request) (news bool) {
	w.log.see(w.k.pos, w.k.sent)
	for _, r := range batch {
		if r.err == nil && r.flow != "" {
			w.log.hub.Wake(r.flow)
			news = true
		}
	}
	return news
}
