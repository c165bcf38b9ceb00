package sqlite

import (
	"context"
	"database/sql/driver"
	"slices"
	"sync"

	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/internal/record"
)

// mostListed is how many flows are kept as they were listed last. A log with more
// of them is listed from the database each time, for the sake of memory.
const mostListed = 1000

// A list is the flows as they were after the event at a position. Events are
// never changed, so that what was listed once is not read again: only flows with
// later events are. The slice is never changed either.
type list struct {
	pos   uint64
	flows []eventlog.Flow
}

// lists keeps the last list.
type lists struct {
	mu   sync.Mutex
	last list
}

func (k *lists) get() list {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.last
}

// put keeps a list, unless it is too long, or something in it could not be read:
// that is looked at again each time.
func (k *lists) put(l list) {
	if len(l.flows) > mostListed || slices.ContainsFunc(l.flows, func(f eventlog.Flow) bool { return f.Damaged != nil }) {
		l = list{}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if l.pos == 0 || l.pos > k.last.pos {
		k.last = l
	}
}

// ends are the first and the last event of a flow that a list does not have yet.
// In a flow that the list has, first is the first of the new ones.
type ends struct {
	flow        event.FlowID
	first, last record.Record
	// Why they cannot be read.
	noFirst, noLast error
}

// Flows implements [eventlog.Log].
func (l *Log) Flows(ctx context.Context) ([]eventlog.Flow, error) {
	before := l.listed.get()
	news, err := l.since(ctx, before)
	if err != nil {
		return nil, fail("list flows of", l.file, err)
	}
	if len(news) == 0 {
		return slices.Clone(before.flows), nil
	}
	now := before.with(news, l.file)
	l.listed.put(now)
	return slices.Clone(now.flows), nil
}

// since are the ends of the flows with events that a list does not have.
func (l *Log) since(ctx context.Context, before list) (news []ends, err error) {
	err = l.view(ctx, func(c *conn) (err error) {
		if before.pos == 0 {
			news, err = readEnds(c, everyFlow)
		} else {
			news, err = readEnds(c, laterFlows, int64(before.pos))
		}
		return err
	})
	return news, err
}

// with is the list after news, of which the newest comes first.
func (l list) with(news []ends, file string) list {
	known := make(map[event.FlowID]eventlog.Flow, len(news))
	for _, n := range news {
		known[n.flow] = eventlog.Flow{}
	}
	rest := make([]eventlog.Flow, 0, len(l.flows))
	for _, f := range l.flows {
		if _, ok := known[f.ID]; ok {
			known[f.ID] = f
		} else {
			rest = append(rest, f)
		}
	}
	out := list{pos: news[0].last.Pos, flows: make([]eventlog.Flow, 0, len(news)+len(rest))}
	for _, n := range news {
		out.flows = append(out.flows, n.onto(known[n.flow], file))
	}
	out.flows = append(out.flows, rest...)
	return out
}

// onto is a flow with its new end; the zero flow gets its beginning as well.
func (n ends) onto(f eventlog.Flow, file string) eventlog.Flow {
	take := func(e *event.Event, r record.Record, err error) {
		if err == nil {
			*e, err = r.Event(n.flow)
		}
		if err != nil && f.Damaged == nil {
			f.Damaged = fail("read", file, err)
		}
	}
	if f.ID == "" {
		f.ID = n.flow
		take(&f.First, n.first, n.noFirst)
	}
	f.Last = event.Event{}
	take(&f.Last, n.last, n.noLast)
	return f
}

// readEnds reads the ends of flows, the one with the newest event first.
func readEnds(c *conn, query string, args ...any) (out []ends, err error) {
	err = c.query(func(row []driver.Value) error {
		n := ends{flow: event.FlowID(row[16].(string))}
		n.first, n.noFirst = verify(string(n.flow), row)
		n.last, n.noLast = verify(string(n.flow), row[8:])
		out = append(out, n)
		return nil
	}, query, args...)
	return out, err
}

const (
	everyFlow = `WITH recent AS MATERIALIZED (
			SELECT flow, min(pos) AS first, max(pos) AS last FROM events WHERE pos > (SELECT pos FROM covered) GROUP BY flow
		), list AS MATERIALIZED (
			SELECT f.name,
				coalesce((SELECT lo FROM blocks WHERE flow = f.id ORDER BY first LIMIT 1), r.first) AS first,
				coalesce(r.last, (SELECT hi FROM blocks WHERE flow = f.id ORDER BY first DESC LIMIT 1)) AS last
			FROM flows f LEFT JOIN recent r ON r.flow = f.id
		)` + endsOf
	laterFlows = `WITH list AS MATERIALIZED (
			SELECT (SELECT name FROM flows f WHERE f.id = flow) AS name, min(pos) AS first, max(pos) AS last
			FROM events WHERE pos > ? GROUP BY flow
		)` + endsOf
	endsOf = `
		SELECT a.pos, a.seq, a.at, a.id, a.agent, a.kind, a.body, a.sum,
			b.pos, b.seq, b.at, b.id, b.agent, b.kind, b.body, b.sum, l.name
		FROM list l JOIN events a ON a.pos = l.first JOIN events b ON b.pos = l.last
		ORDER BY l.last DESC`
)
