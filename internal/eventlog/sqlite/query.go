package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"

	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/internal/record"
)

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

// Last is the number of the flow's last event, or 0 if there is none. Not every
// log can tell so quickly: whoever wants to know asks whether this one does.
func (l *Log) Last(ctx context.Context, flow event.FlowID) (uint64, error) { return l.last(ctx, flow) }

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

// LoadCheckpoint implements [eventlog.Log].
func (l *Log) LoadCheckpoint(ctx context.Context, flow event.FlowID, name string, version int) (cp eventlog.Checkpoint, ok bool, err error) {
	err = l.view(ctx, func(c *conn) error {
		id, err := l.id(c, flow)
		if err != nil {
			return err
		}
		return c.query(func(row []driver.Value) error {
			sealed, _ := row[1].([]byte)
			if data, whole := unseal(sealed); whole { // a damaged cache is no cache
				cp, ok = eventlog.Checkpoint{Name: name, Version: version, Seq: uint64(row[0].(int64)), Data: data}, true
			}
			return nil
		}, "SELECT seq, data FROM checkpoints WHERE flow = ? AND name = ? AND version = ?", id, name, int64(version))
	})
	return cp, ok, fail("read", l.file, err)
}
