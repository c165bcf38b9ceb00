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

// A bell is a file that every process writes to after a commit and watches
// while somebody follows. When nobody does there is neither a watch nor a
// goroutine.
type bell struct {
	file     *os.File
	wake     func()
	pollOnly bool // set by tests alone

	mu   sync.Mutex
	ears int
	stop chan struct{}
	gone chan struct{}
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
	if b.ears++; b.ears == 1 {
		b.stop, b.gone = make(chan struct{}), make(chan struct{})
		if w := b.watcher(); w != nil {
			go b.watch(w, b.stop, b.gone)
		} else {
			go b.poll(b.stop, b.gone)
		}
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
	if b.ears--; b.ears == 0 {
		close(b.stop)
		<-b.gone
	}
}

func (b *bell) watch(w *fsnotify.Watcher, stop, gone chan struct{}) {
	for {
		select {
		case e, ok := <-w.Events:
			b.wake()
			if !ok || e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
				w.Close()
				b.poll(stop, gone)
				return
			}
		case <-w.Errors: // events were lost
			b.wake()
		case <-stop:
			w.Close()
			close(gone)
			return
		}
	}
}

func (b *bell) poll(stop, gone chan struct{}) {
	defer close(gone)
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
}

func (b *bell) close() error { return b.file.Close() }

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
