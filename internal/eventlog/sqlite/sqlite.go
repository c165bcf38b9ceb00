// Package sqlite is the event log on disk: one SQLite database in a project's
// .conclave directory, shared by any number of processes of one machine.
//
//	conclave.db     the events, inboxes, epochs and checkpoints (WAL, synchronous=FULL)
//	blobs/ab/cd…    blobs, named by their SHA-256
//	leases/<flow>   locked by the process that drives the flow; holds who that is
//	bell            touched after every commit, watched by those who follow
//
// All writes of a process go through one goroutine, which takes everything that
// waits, puts it into one transaction and answers when that is on the disk.
// Readers have connections of their own and never wait for the writer.
//
// Whether somebody drives a flow is a lock that the kernel frees with its
// holder. Whether a driver still may is an epoch in the database that every
// commit is checked against, so a driver that was stopped, superseded and
// continued cannot write.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/blobdir"
	"conclave/internal/eventlog/internal/wake"
)

// A Log is an event log in a directory. It implements [eventlog.Log].
type Log struct {
	dir, file string
	blobs     blobdir.Dir
	w         *writer
	readers   *pool
	bell      *bell
	hub       wake.Hub
	done      chan struct{} // closed by Close
	listed    lists

	closing sync.Once
	closed  error // of Close, valid after closing

	mu     sync.Mutex
	leases map[event.FlowID]*lease // held by this handle
	ids    map[event.FlowID]int64  // flows.id, never changes
	seen   news                    // what followers here were last woken for
}

// news is the position of the last event and the number of the last inbox
// entry.
type news struct{ pos, sent uint64 }

// Open opens the log in dir, which is made if it is not there.
func Open(ctx context.Context, dir string) (*Log, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	l := &Log{
		dir: dir, file: filepath.Join(dir, "conclave.db"), blobs: blobdir.Dir(filepath.Join(dir, "blobs")),
		done: make(chan struct{}), leases: map[event.FlowID]*lease{}, ids: map[event.FlowID]int64{},
	}
	if err := makeFiles(dir); err != nil {
		return nil, fail("open log", dir, err)
	}
	c, err := openWriter(ctx, l.file)
	if err != nil {
		return nil, fail("open log", l.file, err)
	}
	if l.bell, err = newBell(filepath.Join(dir, "bell"), l.heard); err != nil {
		return nil, errors.Join(fail("open log", dir, err), c.close())
	}
	l.readers = newPool(l.file)
	l.w = newWriter(l, c)
	return l, nil
}

// makeFiles makes the directories and an empty database, private to the user.
// SQLite gives the files beside the database the modes of the database.
func makeFiles(dir string) error {
	for _, d := range []string{dir, filepath.Join(dir, "leases")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
	}
	// An existing database must not be opened here: closing it again would drop
	// the locks that other connections of this process have on it.
	file := filepath.Join(dir, "conclave.db")
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return checkSize(file)
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// checkSize refuses a file that is too small for a database, which SQLite may
// take for an empty one.
func checkSize(file string) error {
	const header = 100
	st, err := os.Stat(file)
	if err == nil && st.Size() > 0 && st.Size() < header {
		err = fmt.Errorf("%s is not a database: %w; move the file away to start anew", file, eventlog.ErrCorrupt)
	}
	return err
}

// busyTime is how long a process waits for the transactions of others.
const busyTime = 10 * time.Second

var busyTimeout = fmt.Sprintf("busy_timeout = %d", busyTime.Milliseconds())

// openWriter opens the connection for writing. What is not ours to write is
// found out before anything is written.
func openWriter(ctx context.Context, file string) (*conn, error) {
	c, err := connect(file, busyTimeout)
	if err != nil {
		return nil, err
	}
	if err = migrate(c); err == nil {
		err = c.writeAhead(ctx)
	}
	for _, p := range []string{"synchronous = FULL", "wal_autocheckpoint = 2000", "cache_size = -16000"} {
		if err == nil {
			err = c.exec("PRAGMA " + p)
		}
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// writeAhead has the database keep a write-ahead log. The first to ask changes the
// file, and SQLite does not have others who ask at that moment wait for it.
func (c *conn) writeAhead(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, busyTime)
	defer cancel()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		err := c.exec("PRAGMA journal_mode = WAL")
		if code(err) != codeBusy {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return err
		}
	}
}

// PutBlob implements [eventlog.Log].
func (l *Log) PutBlob(ctx context.Context, p []byte) (event.Hash, error) {
	if err := l.usable(ctx); err != nil {
		return "", fmt.Errorf("put blob: %w", err)
	}
	h, err := l.blobs.Put(p)
	return h, fail("put blob into", string(l.blobs), err)
}

// Blob implements [eventlog.Log].
func (l *Log) Blob(ctx context.Context, h event.Hash) ([]byte, error) {
	if err := l.usable(ctx); err != nil {
		return nil, fmt.Errorf("blob %s: %w", h, err)
	}
	p, err := l.blobs.Get(h)
	return p, fail("read blob in", string(l.blobs), err)
}

// Nudge implements [eventlog.Log].
func (l *Log) Nudge() { l.hub.All() }

// Close implements [eventlog.Log]. It waits for the commits that are under way.
func (l *Log) Close() error {
	l.closing.Do(func() {
		close(l.done)
		errs := []error{l.w.close()}
		l.mu.Lock()
		held := l.leases
		l.leases = map[event.FlowID]*lease{}
		l.mu.Unlock()
		for _, le := range held {
			errs = append(errs, le.file.Close())
		}
		errs = append(errs, l.readers.close(), l.bell.close())
		l.closed = fail("close log", l.file, errors.Join(errs...))
	})
	return l.closed
}

// usable reports a closed log or an ended context.
func (l *Log) usable(ctx context.Context) error {
	select {
	case <-l.done:
		return eventlog.ErrClosed
	default:
		return ctx.Err()
	}
}
