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
				if err != nil && f.Damaged == nil {
					f.Damaged = fail("read", l.file, err)
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
		return nil, fail("list flows of", l.file, err)
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
			sealed, _ := row[1].([]byte)
			if data, whole := unseal(sealed); whole { // a damaged cache is no cache
				cp, ok = eventlog.Checkpoint{Name: name, Version: version, Seq: uint64(row[0].(int64)), Data: data}, true
			}
			return nil
		}, "SELECT seq, data FROM checkpoints WHERE flow = ? AND name = ? AND version = ?", id, name, int64(version))
	})
	return cp, ok, fail("read", l.file, err)
}
