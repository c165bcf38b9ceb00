package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"iter"

	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/internal/record"
)

// How much is read with one query: nothing holds the database while a caller
// looks at what it was given.
const (
	chunkRows  = 500
	chunkBytes = 4 << 20
)

// Read implements [eventlog.Log].
func (l *Log) Read(ctx context.Context, flow event.FlowID, from uint64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		last, err := l.last(ctx, flow)
		if err == nil && last == 0 {
			err = eventlog.ErrNotFound
		}
		for next := max(from, 1); err == nil && next <= last; {
			var events []record.Record
			if events, err = l.events(ctx, flow, next, last); err != nil {
				break
			}
			next += uint64(len(events))
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
		next := max(from, 1)
		for ctx.Err() == nil {
			news := l.hub.Watch(flow)
			events, err := l.events(ctx, flow, next, 1<<62)
			if err != nil {
				if ctx.Err() == nil {
					yield(event.Event{}, fmt.Errorf("follow %s: %w", flow, err))
				}
				return
			}
			next += uint64(len(events))
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
	for _, r := range records {
		if ctx.Err() != nil {
			return true
		}
		e, err := r.Event(flow)
		if !yield(e, err) || err != nil {
			return false
		}
	}
	return true
}

// id returns the flow's number in the database, or 0 if it has none yet.
func (l *Log) id(c *conn, flow event.FlowID) (int64, error) {
	l.mu.Lock()
	id := l.ids[flow]
	l.mu.Unlock()
	if id != 0 {
		return id, nil
	}
	id, err := c.number("SELECT id FROM flows WHERE name = ?", string(flow))
	if err == nil && id != 0 {
		l.mu.Lock()
		l.ids[flow] = id
		l.mu.Unlock()
	}
	return id, err
}

// view runs f on a connection for reading.
func (l *Log) view(ctx context.Context, f func(*conn) error) error {
	if err := l.usable(ctx); err != nil {
		return err
	}
	return l.readers.use(f)
}

// last returns the number of the flow's last event, or 0 if there is none.
func (l *Log) last(ctx context.Context, flow event.FlowID) (last uint64, err error) {
	err = l.view(ctx, func(c *conn) error {
		id, err := l.id(c, flow)
		if err != nil || id == 0 {
			return err
		}
		n, err := c.number("SELECT max(seq) FROM events WHERE flow = ?", id)
		last = uint64(n)
		return err
	})
	return last, fail("read", l.file, err)
}

// events returns events from number from on, up to the number upTo or as many
// as fit into a chunk.
func (l *Log) events(ctx context.Context, flow event.FlowID, from, upTo uint64) (out []record.Record, err error) {
	size := 0
	err = l.view(ctx, func(c *conn) error {
		id, err := l.id(c, flow)
		if err != nil || id == 0 {
			return err
		}
		return c.query(func(row []driver.Value) error {
			r, err := verify(string(flow), row)
			if err != nil {
				return err
			}
			if want := from + uint64(len(out)); r.Seq != want {
				return fmt.Errorf("event %d of %s is missing: %w", want, flow, eventlog.ErrCorrupt)
			}
			out = append(out, r)
			if size += len(r.Body); size > chunkBytes {
				return errStop
			}
			return nil
		}, "SELECT pos, seq, at, id, agent, kind, body, sum FROM events WHERE flow = ? AND seq BETWEEN ? AND ? ORDER BY seq LIMIT ?",
			id, int64(from), int64(upTo), int64(chunkRows))
	})
	return out, fail("read", l.file, err)
}

// entries returns a chunk of the inbox entries after the one numbered seen.
func (l *Log) entries(ctx context.Context, flow event.FlowID, seen uint64) (out []record.Record, err error) {
	err = l.view(ctx, func(c *conn) error {
		id, err := l.id(c, flow)
		if err != nil || id == 0 {
			return err
		}
		return c.query(func(row []driver.Value) error {
			r, err := verify(string(flow), row)
			out = append(out, r)
			return err
		}, "SELECT n, 0, 0, id, agent, kind, body, sum FROM inbox WHERE flow = ? AND n > ? ORDER BY n LIMIT ?",
			id, int64(seen), int64(chunkRows))
	})
	return out, fail("read", l.file, err)
}

// verify reads a row and compares it with its checksum.
func verify(flow string, row []driver.Value) (record.Record, error) {
	r := scan(row)
	if sum, _ := row[7].(int64); sum != checksum(flow, r) {
		return r, fmt.Errorf("event %d (id %.80q) of %s does not match its checksum: %w", r.Seq, r.ID, flow, eventlog.ErrCorrupt)
	}
	return r, nil
}

// Flows implements [eventlog.Log].
func (l *Log) Flows(ctx context.Context) ([]eventlog.Flow, error) {
	var out []eventlog.Flow
	err := l.view(ctx, func(c *conn) error {
		return c.query(func(row []driver.Value) error {
			name := row[16].(string)
			f := eventlog.Flow{ID: event.FlowID(name)}
			for i, e := range []*event.Event{&f.First, &f.Last} {
				r, err := verify(name, row[8*i:])
				if err == nil {
					*e, err = r.Event(f.ID)
				}
				if err != nil {
					return err
				}
			}
			out = append(out, f)
			return nil
		}, `SELECT a.pos, a.seq, a.at, a.id, a.agent, a.kind, a.body, a.sum,
			b.pos, b.seq, b.at, b.id, b.agent, b.kind, b.body, b.sum, f.name
			FROM flows f JOIN events a ON a.flow = f.id AND a.seq = 1
			JOIN events b ON b.flow = f.id AND b.seq = (SELECT max(seq) FROM events WHERE flow = f.id)
			ORDER BY b.pos DESC`)
	})
	if err != nil {
		return nil, fail("list flows", l.file, err)
	}
	return out, nil
}

// LoadCheckpoint implements [eventlog.Log].
func (l *Log) LoadCheckpoint(ctx context.Context, flow event.FlowID, name string, version int) (cp eventlog.Checkpoint, ok bool, err error) {
	err = l.view(ctx, func(c *conn) error {
		id, err := l.id(c, flow)
		if err != nil {
			return err
		}
		return c.query(func(row []driver.Value) error {
			data, _ := row[1].([]byte)
			cp, ok = eventlog.Checkpoint{Name: name, Version: version, Seq: uint64(row[0].(int64)), Data: data}, true
			return nil
		}, "SELECT seq, data FROM checkpoints WHERE flow = ? AND name = ? AND version = ?", id, name, int64(version))
	})
	return cp, ok, fail("load checkpoint", l.file, err)
}
