package mem

import (
	"context"
	"fmt"
	"iter"

	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/internal/record"
)

// Read implements [eventlog.Log].
func (l *Log) Read(ctx context.Context, id event.FlowID, from uint64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		all, err := l.events(ctx, id)
		if err == nil && len(all) == 0 {
			err = eventlog.ErrNotFound
		}
		if err != nil {
			yield(event.Event{}, fmt.Errorf("read flow %s: %w", id, err))
			return
		}
		if each(ctx, id, since(all, from), yield) && ctx.Err() != nil {
			yield(event.Event{}, fmt.Errorf("read flow %s: %w", id, ctx.Err()))
		}
	}
}

// Follow implements [eventlog.Log].
func (l *Log) Follow(ctx context.Context, id event.FlowID, from uint64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		next := max(from, 1)
		for ctx.Err() == nil {
			news := l.s.hub.Watch(id)
			all, err := l.events(ctx, id)
			if err != nil {
				if ctx.Err() == nil {
					yield(event.Event{}, fmt.Errorf("follow %s: %w", id, err))
				}
				return
			}
			if tail := since(all, next); len(tail) > 0 {
				next += uint64(len(tail))
				if !each(ctx, id, tail, yield) {
					return
				}
				continue
			}
			l.wait(ctx, news)
		}
	}
}

// Inbox implements [eventlog.Log].
func (l *Log) Inbox(ctx context.Context, id event.FlowID) iter.Seq2[event.Fact, error] {
	return l.entered(ctx, id, true)
}

// Unheard implements [eventlog.Log].
func (l *Log) Unheard(ctx context.Context, id event.FlowID) iter.Seq2[event.Fact, error] {
	return l.entered(ctx, id, false)
}

// entered yields the entries of an inbox, and with follow those that come later.
func (l *Log) entered(ctx context.Context, id event.FlowID, follow bool) iter.Seq2[event.Fact, error] {
	return func(yield func(event.Fact, error) bool) {
		var seen uint64
		for ctx.Err() == nil {
			news := l.s.hub.Watch(id)
			entries, err := l.entries(ctx, id, seen)
			if err != nil {
				if ctx.Err() == nil {
					yield(event.Fact{}, fmt.Errorf("inbox of %s: %w", id, err))
				}
				return
			}
			for _, e := range entries {
				seen = e.n
				f, err := e.Fact()
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

// events returns the events the flow has now.
func (l *Log) events(ctx context.Context, id event.FlowID) ([]record.Record, error) {
	if err := l.enter(ctx); err != nil {
		return nil, err
	}
	defer l.s.mu.Unlock()
	if f, ok := l.s.flows[id]; ok {
		return f.events, nil
	}
	return nil, nil
}

// entries returns the inbox entries that came after the one numbered seen.
func (l *Log) entries(ctx context.Context, id event.FlowID, seen uint64) ([]entry, error) {
	if err := l.enter(ctx); err != nil {
		return nil, err
	}
	defer l.s.mu.Unlock()
	f, ok := l.s.flows[id]
	if !ok {
		return nil, nil
	}
	for i, e := range f.inbox {
		if e.n > seen {
			return f.inbox[i:len(f.inbox):len(f.inbox)], nil
		}
	}
	return nil, nil
}

func since(all []record.Record, from uint64) []record.Record {
	return all[min(uint64(len(all)), max(from, 1)-1):]
}

// each yields the events in order until ctx ends and reports whether the caller
// wants more.
func each(ctx context.Context, id event.FlowID, records []record.Record, yield func(event.Event, error) bool) bool {
	for _, r := range records {
		if ctx.Err() != nil {
			return true
		}
		e, err := r.Event(id)
		if !yield(e, err) || err != nil {
			return false
		}
	}
	return true
}
