package sqlite

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"

	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/internal/record"
)

// How much is read with one query: nothing holds the database while a caller
// looks at what it was given.
const (
	chunkRows  = 500
	chunkBytes = 4 << 20
	// firstRows is how much is read first: many want to know how a flow begins
	// and nothing else.
	firstRows = 4
)

// A cursor is how far somebody has read a flow.
type cursor struct {
	flow event.FlowID
	next uint64 // number of the event wanted next
	last uint64 // number after which it ends
	seen uint64 // position up to which all events of the flow were read or are not wanted
	rows int    // at most in a chunk

	// The chunk that is being read.
	out  []record.Record
	size int
}

func (cur *cursor) full() bool { return len(cur.out) >= cur.rows || cur.size > chunkBytes }

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
		var top, covered int64
		err := c.query(func(row []driver.Value) error {
			top, _ = row[0].(int64)
			covered = row[1].(int64)
			return nil
		}, "SELECT (SELECT max(pos) FROM events), pos FROM covered")
		if err != nil || uint64(top) == cur.seen {
			return err
		}
		id, err := l.id(c, cur.flow)
		if err != nil || id == 0 {
			return err
		}
		if cur.seen < uint64(covered) {
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
		pos = pos[:min(len(pos), cur.rows-len(cur.out), int(min(cur.last-cur.next+1, chunkRows)))]
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
