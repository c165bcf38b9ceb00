package sqlite

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"

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

// view runs f on a connection for reading, in one transaction: all it reads is
// of one moment.
func (l *Log) view(ctx context.Context, f func(*conn) error) error {
	if err := l.usable(ctx); err != nil {
		return err
	}
	return l.readers.use(func(c *conn) error {
		if err := c.exec("BEGIN"); err != nil {
			return err
		}
		return errors.Join(f(c), c.exec("COMMIT"))
	})
}

// last returns the number of the flow's last event, or 0 if there is none.
func (l *Log) last(ctx context.Context, flow event.FlowID) (last uint64, err error) {
	err = l.view(ctx, func(c *conn) error {
		id, err := l.id(c, flow)
		if err != nil || id == 0 {
			return err
		}
		n, err := c.number(`SELECT coalesce(
			(SELECT max(seq) FROM events WHERE pos > (SELECT pos FROM covered) AND flow = ?1),
			(SELECT max(first + n - 1) FROM blocks WHERE flow = ?1))`, id)
		last = uint64(n)
		return err
	})
	return last, fail("read", l.file, err)
}

// A cursor is how far somebody has read a flow.
type cursor struct {
	flow event.FlowID
	next uint64 // number of the event wanted next
	last uint64 // number after which it ends
	seen uint64 // position up to which all events of the flow were read or are not wanted

	// The chunk that is being read.
	out  []record.Record
	size int
}

func (cur *cursor) full() bool { return len(cur.out) >= chunkRows || cur.size > chunkBytes }

// take adds a row to the chunk.
func (cur *cursor) take(row []driver.Value) error {
	r, err := verify(string(cur.flow), row)
	if err != nil {
		return err
	}
	if r.Seq != cur.next {
		return fmt.Errorf("event %d of %s is missing: %w", cur.next, cur.flow, eventlog.ErrCorrupt)
	}
	cur.next++
	cur.out = append(cur.out, r)
	if cur.size += len(r.Body); cur.full() {
		return errStop
	}
	return nil
}

// events returns the events that come next, as many as fit into a chunk, and
// moves the cursor.
func (l *Log) events(ctx context.Context, cur *cursor) ([]record.Record, error) {
	cur.out, cur.size = make([]record.Record, 0, 16), 0
	err := l.view(ctx, func(c *conn) error {
		top, err := c.number("SELECT max(pos) FROM events")
		if err != nil || uint64(top) == cur.seen {
			return err
		}
		id, err := l.id(c, cur.flow)
		if err != nil || id == 0 {
			return err
		}
		covered, err := c.number("SELECT pos FROM covered")
		if err == nil && cur.seen < uint64(covered) {
			err = cur.readBlocks(c, id)
		}
		if err == nil && !cur.full() {
			err = c.query(cur.take, "SELECT "+columns+` FROM events e
				WHERE e.pos > ? AND e.flow = ? AND e.seq BETWEEN ? AND ? ORDER BY e.pos`,
				max(covered, int64(cur.seen)), id, int64(cur.next), int64(cur.last))
		}
		if cur.full() {
			cur.seen = cur.out[len(cur.out)-1].Pos
		} else {
			cur.seen = uint64(top)
		}
		return err
	})
	if err != nil {
		return nil, fail("read", l.file, err)
	}
	return cur.out, nil
}

// readBlocks takes the events that are in blocks.
func (cur *cursor) readBlocks(c *conn, id int64) error {
	for !cur.full() && cur.next <= cur.last {
		var b *block
		err := c.query(func(row []driver.Value) (err error) {
			b, err = scanBlock(row)
			return err
		}, "SELECT first, n, data FROM blocks WHERE flow = ? AND first <= ? ORDER BY first DESC LIMIT 1", id, int64(cur.next))
		if err != nil || b == nil || b.end() <= cur.next {
			return err
		}
		pos := b.from(cur.next)
		pos = pos[:min(len(pos), chunkRows-len(cur.out), int(min(cur.last-cur.next+1, chunkRows)))]
		if err := cur.readAt(c, id, pos); err != nil {
			return err
		}
	}
	return nil
}

// readAt takes the events at the positions: all there is in between, if that is
// not much more.
func (cur *cursor) readAt(c *conn, id int64, pos []uint64) error {
	lo, hi := pos[0], pos[len(pos)-1]
	if hi-lo < 4*uint64(len(pos)) {
		return c.query(cur.take, "SELECT "+columns+" FROM events e WHERE e.pos BETWEEN ? AND ? AND e.flow = ? ORDER BY e.pos", int64(lo), int64(hi), id)
	}
	list, err := json.Marshal(pos)
	if err != nil {
		return err
	}
	return c.query(cur.take, "SELECT "+columns+" FROM events e WHERE e.pos IN (SELECT value FROM json_each(?)) AND e.flow = ? ORDER BY e.pos", string(list), id)
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
		}, `WITH recent AS MATERIALIZED (
				SELECT flow, min(pos) AS first, max(pos) AS last FROM events WHERE pos > (SELECT pos FROM covered) GROUP BY flow
			), list AS MATERIALIZED (
				SELECT f.name,
					coalesce((SELECT lo FROM blocks WHERE flow = f.id ORDER BY first LIMIT 1), r.first) AS first,
					coalesce(r.last, (SELECT hi FROM blocks WHERE flow = f.id ORDER BY first DESC LIMIT 1)) AS last
				FROM flows f LEFT JOIN recent r ON r.flow = f.id
			)
			SELECT a.pos, a.seq, a.at, a.id, a.agent, a.kind, a.body, a.sum,
				b.pos, b.seq, b.at, b.id, b.agent, b.kind, b.body, b.sum, l.name
			FROM list l JOIN events a ON a.pos = l.first JOIN events b ON b.pos = l.last
			ORDER BY l.last DESC`)
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
