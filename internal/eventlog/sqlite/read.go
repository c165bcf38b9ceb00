package sqlite

import (
	"context"
	"fmt"
	"iter"
	"math"
	"runtime"
	"sync"

	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/internal/record"
)

// Read implements [eventlog.Log].
func (l *Log) Read(ctx context.Context, flow event.FlowID, from uint64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		last, err := l.last(ctx, flow)
		if err == nil && last == 0 {
			err = eventlog.ErrNotFound
		}
		cur := cursor{flow: flow, next: max(from, 1), last: last}
		for err == nil && cur.next <= last {
			var events []record.Record
			if events, err = l.events(ctx, &cur); err != nil {
				break
			}
			if !each(ctx, flow, events, yield) {
				return
			}
			err = ctx.Err()
		}
		if err != nil {
			yield(event.Event{}, fmt.Errorf("read flow %s: %w", flow, err))
		}
	}
}

// Follow implements [eventlog.Log].
func (l *Log) Follow(ctx context.Context, flow event.FlowID, from uint64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		leave := l.bell.listen()
		defer leave()
		cur := cursor{flow: flow, next: max(from, 1), last: math.MaxInt64}
		for ctx.Err() == nil {
			news := l.hub.Watch(flow)
			events, err := l.events(ctx, &cur)
			if err != nil {
				if ctx.Err() == nil {
					yield(event.Event{}, fmt.Errorf("follow %s: %w", flow, err))
				}
				return
			}
			if !each(ctx, flow, events, yield) {
				return
			}
			if len(events) == 0 {
				l.wait(ctx, news)
			}
		}
	}
}

// Inbox implements [eventlog.Log].
func (l *Log) Inbox(ctx context.Context, flow event.FlowID) iter.Seq2[event.Fact, error] {
	return func(yield func(event.Fact, error) bool) {
		leave := l.bell.listen()
		defer leave()
		var seen uint64
		for ctx.Err() == nil {
			news := l.hub.Watch(flow)
			entries, err := l.entries(ctx, flow, seen)
			if err != nil {
				if ctx.Err() == nil {
					yield(event.Fact{}, fmt.Errorf("inbox of %s: %w", flow, err))
				}
				return
			}
			for _, r := range entries {
				seen = r.Pos
				f, err := r.Fact()
				if !yield(f, err) || err != nil || ctx.Err() != nil {
					return
				}
			}
			if len(entries) == 0 {
				l.wait(ctx, news)
			}
		}
	}
}

// wait blocks until there is news, the log is closed or ctx ends.
func (l *Log) wait(ctx context.Context, news <-chan struct{}) {
	select {
	case <-news:
	case <-l.done:
	case <-ctx.Done():
	}
}

// each yields the events in order until ctx ends and reports whether the caller
// wants more.
func each(ctx context.Context, flow event.FlowID, records []record.Record, yield func(event.Event, error) bool) bool {
	for _, d := range decodeAll(flow, records) {
		if ctx.Err() != nil {
			return true
		}
		if !yield(d.event, d.err) || d.err != nil {
			return false
		}
	}
	return true
}

type decoded struct {
	event event.Event
	err   error
}

// decodeAll decodes bodies, which takes longer than reading them, on all
// processors if there are many.
func decodeAll(flow event.FlowID, records []record.Record) []decoded {
	out := make([]decoded, len(records))
	part := max(64, (len(records)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for from := 0; from < len(out); from += part {
		todo := func() {
			for i := from; i < min(from+part, len(out)); i++ {
				out[i].event, out[i].err = records[i].Event(flow)
			}
		}
		if from+part < len(out) {
			wg.Go(todo)
		} else {
			todo()
		}
	}
	wg.Wait()
	return out
}
