package eventlogtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"conclave/internal/event"
	"conclave/internal/eventlog"
)

// Sample returns events of a flow numbered from..to with bodies of about 400
// bytes and ids as runs have them.
func Sample(f event.FlowID, from, to uint64) []event.Event {
	text := strings.Repeat("measured ", 36)
	at := time.Now()
	var out []event.Event
	for n := from; n <= to; n++ {
		body := event.ToolReturned{Call: fmt.Sprintf("call-%d", n), Name: "read_file", Result: event.Inline(text)}
		out = append(out, event.Event{Flow: f, Seq: n, At: at, Fact: event.Fact{
			ID: fmt.Sprintf("turn/%d.1/agent2/tool/%d", n/8, n), Agent: "claude", Body: body}})
	}
	return out
}

// Committers returns a function that has that many committers, each with a flow
// of its own, commit each events one by one, and waits for them. It is how
// grouped commits are measured; what it needs is made before.
func Committers(ctx context.Context, log eventlog.Log, committers, each int) (run func() error, err error) {
	work := make([]func() error, committers)
	for c := range work {
		f := event.FlowID(fmt.Sprintf("many-%d", c))
		l, err := log.Acquire(ctx, f, false)
		if err != nil {
			return nil, err
		}
		events := Sample(f, 1, uint64(each))
		work[c] = func() error {
			defer l.Release()
			for i := range events {
				if err := log.Commit(ctx, l, events[i:i+1]); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return func() error {
		var wg sync.WaitGroup
		errs := make([]error, committers)
		for c := range work {
			wg.Go(func() { errs[c] = work[c]() })
		}
		wg.Wait()
		return errors.Join(errs...)
	}, nil
}

// SyncAppends appends n times that many bytes to a new file and syncs it each
// time: the floor under every durable commit.
func SyncAppends(path string, n, size int) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	p := make([]byte, size)
	for range n {
		if _, werr := f.Write(p); werr != nil {
			err = werr
			break
		}
		if err = f.Sync(); err != nil {
			break
		}
	}
	return errors.Join(err, f.Close())
}
