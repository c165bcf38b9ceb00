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

// Read implements [eventlog.Log]. While the caller looks at one chunk, the next
// one is read, but for the first.
func (l *Log) Read(ctx context.Context, flow event.FlowID, from uint64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		last, err := l.last(ctx, flow)
		if err == nil && last == 0 {
			err = eventlog.ErrNotFound
		}
		cur := &cursor{flow: flow, next: max(from, 1), last: last, rows: firstRows}
		var ahead chan chunk
		defer func() {
			if ahead != nil {
				<-ahead
			}
		}()
		for err == nil && (ahead != nil || cur.next <= last) {
			var c chunk
			if ahead != nil {
				c, ahead = <-ahead, nil
			} else {
				c = l.chunk(ctx, cur)
			}
			if err = c.err; err == nil && len(c.events) == 0 {
				err = fmt.Errorf("event %d is missing: %w", cur.next, eventlog.ErrCorrupt)
			}
			if err != nil {
				break
			}
			if cur.next <= last && cur.rows > firstRows {
				ahead = make(chan chunk, 1)
				go func(to chan<- chunk) { to <- l.chunk(ctx, cur) }(ahead)
			}
			if !each(ctx, c.events, yield) {
				return
			}
			if err = ctx.Err(); ahead == nil {
				cur.rows = chunkRows
			}
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
		cur := &cursor{flow: flow, next: max(from, 1), last: math.MaxInt64, rows: chunkRows}
		for ctx.Err() == nil {
			news := l.hub.Watch(flow)
			c := l.chunk(ctx, cur)
			if c.err != nil {
				if ctx.Err() == nil {
					yield(event.Event{}, fmt.Errorf("follow %s: %w", flow, c.err))
				}
				return
			}
			if !each(ctx, c.events, yield) {
				return
			}
			if len(c.events) == 0 {
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
		l.entered(ctx, flow, true)(yield)
	}
}

// Unheard implements [eventlog.Log].
func (l *Log) Unheard(ctx context.Context, flow event.FlowID) iter.Seq2[event.Fact, error] {
	return l.entered(ctx, flow, false)
}

// entered yields the entries of an inbox, and with follow those that come later.
func (l *Log) entered(ctx context.Context, flow event.FlowID, follow bool) iter.Seq2[event.Fact, error] {
	return func(yield func(event.Fact, error) bool) {
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
			switch {
			case len(entries) > 0:
			case !follow:
				return
			default:
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

// A chunk is what is read at once.
type chunk struct {
	events []decoded
	err    error
}

type decoded struct {
	event event.Event
	err   error
}

func (l *Log) chunk(ctx context.Context, cur *cursor) chunk {
	records, err := l.events(ctx, cur)
	return chunk{decodeAll(cur.flow, records), err}
}

// each yields the events in order until ctx ends and reports whether the caller
// wants more.
func each(ctx context.Context, events []decoded, yield func(event.Event, error) bool) bool {
	for _, d := range events {
		if ctx.Err() != nil {
			return true
		}
		if !yield(d.event, d.err) || d.err != nil {
			return false
		}
	}
	return true
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
