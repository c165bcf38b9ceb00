package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/sqlite"
)

// appends compares a durable commit with one fsync of a 512-byte append, alone
// and from 32 flows at once.
func appends(ctx context.Context, dir string) ([]row, error) {
	log, err := sqlite.Open(ctx, filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	floor, done, err := fsyncer(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	w, err := newWriter(ctx, log, "alone")
	if err != nil {
		return nil, err
	}
	commit := func() error { return w.commit(ctx, 1) }
	var out []row
	// SQLite's write-ahead log grows until it is first put back into the
	// database, after a thousand pages, and is overwritten from then on. A file
	// that grows is dearer to sync.
	for _, state := range []string{"a fresh log", "a log in use"} {
		f, o, err := paired(900, floor, commit)
		if err != nil {
			return nil, err
		}
		out = append(out, against("durable append, alone, "+state, "fsync of 512 bytes", f, o, 1.5))
		if _, err := median(1500, commit); err != nil {
			return nil, err
		}
	}
	grouped, err := groupedRate(ctx, log)
	if err != nil {
		return nil, err
	}
	batch, err := batchFloor(dir)
	if err != nil {
		return nil, err
	}
	return append(out, row{
		what: "durable appends, 32 flows at once", floor: fmt.Sprintf("%.0f k/s (64 × 512 bytes per fsync)", batch/1e3),
		ours: fmt.Sprintf("%.0f k events/s", grouped/1e3), ratio: fmt.Sprintf("%.2f×", grouped/batch),
		budget: "≥ 50 k/s", ok: grouped >= 50_000,
	}), nil
}

// fsyncer appends 512 bytes to a file and syncs it.
func fsyncer(dir string) (func() error, func(), error) {
	f, err := os.Create(filepath.Join(dir, "floor"))
	if err != nil {
		return nil, nil, err
	}
	p := make([]byte, 512)
	return func() error {
		if _, err := f.Write(p); err != nil {
			return err
		}
		return f.Sync()
	}, func() { f.Close() }, nil
}

func batchFloor(dir string) (float64, error) {
	f, err := os.Create(filepath.Join(dir, "batch"))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	p := make([]byte, 64*512)
	d, err := median(501, func() error {
		if _, err := f.Write(p); err != nil {
			return err
		}
		return f.Sync()
	})
	return 64 / d.Seconds(), err
}

// writer commits events of about 400 bytes to one flow.
type writer struct {
	log   eventlog.Log
	lease eventlog.Lease
	seq   uint64
}

func newWriter(ctx context.Context, log eventlog.Log, id event.FlowID) (*writer, error) {
	lease, err := log.Acquire(ctx, id, false)
	return &writer{log: log, lease: lease}, err
}

var body = event.ToolReturned{Turn: event.Turn{Round: 1, Take: 1}, Call: "call", Name: "shell", Result: event.Inline(strings.Repeat("x", 300))}

func (w *writer) commit(ctx context.Context, n int) error {
	events := make([]event.Event, n)
	for i := range events {
		w.seq++
		events[i] = event.Event{
			Flow: w.lease.Flow(), Seq: w.seq, At: time.Now().UTC(),
			Fact: event.Fact{ID: fmt.Sprintf("turn/a/1.1/tool/%d", w.seq), Agent: "a", Body: body},
		}
	}
	return w.log.Commit(ctx, w.lease, events)
}

// groupedRate is events per second over three seconds from 32 flows, four
// events a commit, as a turn makes them.
func groupedRate(ctx context.Context, log eventlog.Log) (float64, error) {
	const flows, each = 32, 4
	var wg sync.WaitGroup
	errs := make(chan error, flows)
	total := make([]int, flows)
	begin := time.Now()
	for i := range flows {
		w, err := newWriter(ctx, log, event.FlowID(fmt.Sprintf("flow-%d", i)))
		if err != nil {
			return 0, err
		}
		wg.Go(func() {
			for time.Since(begin) < 3*time.Second {
				if err := w.commit(ctx, each); err != nil {
					errs <- err
					return
				}
				total[i] += each
			}
		})
	}
	wg.Wait()
	took := time.Since(begin)
	select {
	case err := <-errs:
		return 0, err
	default:
	}
	sum := 0
	for _, n := range total {
		sum += n
	}
	return float64(sum) / took.Seconds(), nil
}
