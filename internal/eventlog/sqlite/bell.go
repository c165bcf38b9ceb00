package sqlite

import (
	"database/sql/driver"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// pollEvery is how often followers look when files cannot be watched.
const pollEvery = 250 * time.Millisecond

// A bell is a file that every process writes to after a commit and watches from
// when somebody first follows until the log is closed: giving a watch up takes
// the kernel milliseconds, which short runs would all pay. While nobody follows,
// what is heard is not acted on, and a poll does not run.
type bell struct {
	file     *os.File
	wake     func()
	pollOnly bool // set by tests alone

	mu     sync.Mutex
	ears   int
	watch  *fsnotify.Watcher // nil until somebody follows, and where it cannot be
	tried  bool
	closed bool
	stop   chan struct{} // of the poll
	wg     sync.WaitGroup
}

func newBell(path string, wake func()) (*bell, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	// The byte is there from now on, so that ringing needs no space.
	if _, err := f.WriteAt([]byte{'\n'}, 0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &bell{file: f, wake: wake}, nil
}

// ring tells the other processes. What it announces is durable already; one
// that does not hear it looks with the next ring.
func (b *bell) ring() { b.file.WriteAt([]byte{'\n'}, 0) }

// listen has wake called after every ring until the returned function is
// called. It watches when it returns.
func (b *bell) listen() (leave func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ears++
	if !b.tried {
		b.tried = true
		if w := b.watcher(); w != nil {
			b.watch = w
			b.wg.Go(func() { b.hear(w) })
		}
	}
	if b.watch == nil && b.stop == nil && !b.closed {
		b.poll()
	}
	return b.leave
}

// watcher returns nil if the file cannot be watched.
func (b *bell) watcher() *fsnotify.Watcher {
	if b.pollOnly {
		return nil
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil
	}
	if err := w.Add(b.file.Name()); err != nil {
		w.Close()
		return nil
	}
	return w
}

func (b *bell) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ears--; b.ears == 0 && b.stop != nil {
		close(b.stop)
		b.stop = nil
	}
}

// hear wakes until the watch is closed. If the file goes away under it, those
// who follow are woken by a poll from then on.
func (b *bell) hear(w *fsnotify.Watcher) {
	for {
		select {
		case e, ok := <-w.Events:
			if !ok {
				return
			}
			if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
				b.deafen(w)
			}
		case _, ok := <-w.Errors: // events were lost
			if !ok {
				return
			}
		}
		if b.heeded() {
			b.wake()
		}
	}
}

func (b *bell) heeded() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ears > 0
}

// deafen gives a watch up that hears nothing any more.
func (b *bell) deafen(w *fsnotify.Watcher) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.watch != w {
		return // closed
	}
	b.watch = nil
	b.wg.Go(func() { w.Close() })
	if b.ears > 0 {
		b.poll()
	}
}

// poll wakes every so often until stop is closed. Callers hold mu.
func (b *bell) poll() {
	stop := make(chan struct{})
	b.stop = stop
	b.wg.Go(func() {
		t := time.NewTicker(pollEvery)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				b.wake()
			case <-stop:
				return
			}
		}
	})
}

// close gives up the watch and the file. Whoever still listens hears nothing.
func (b *bell) close() error {
	b.mu.Lock()
	w := b.watch
	b.watch, b.tried, b.closed = nil, true, true
	if b.stop != nil {
		close(b.stop)
		b.stop = nil
	}
	b.mu.Unlock()
	if w != nil {
		w.Close()
	}
	b.wg.Wait()
	return b.file.Close()
}

// see notes what followers of this process are woken for.
func (l *Log) see(pos, sent uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = news{pos, sent}
}

// heard wakes all followers if there is something that was not committed here:
// our own commits ring the bell, too, and have woken those they concern.
func (l *Log) heard() {
	var now news
	err := l.readers.use(func(c *conn) error {
		return c.query(func(row []driver.Value) error {
			pos, _ := row[0].(int64)
			sent, _ := row[1].(int64)
			now = news{uint64(pos), uint64(sent)}
			return nil
		}, "SELECT (SELECT max(pos) FROM events), (SELECT seq FROM sqlite_sequence WHERE name = 'inbox')")
	})
	l.mu.Lock()
	same := err == nil && l.seen == now
	l.seen = now
	l.mu.Unlock()
	if !same {
		l.hub.All()
	}
}
