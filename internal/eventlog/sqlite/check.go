package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"iter"
	"reflect"

	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/internal/record"
)

// A Problem is something in the log that is not as it was written.
type Problem struct {
	Flow event.FlowID // empty if it is about no flow in particular
	Seq  uint64       // of the event, or 0
	What string
}

func (p Problem) String() string {
	switch {
	case p.Flow == "":
		return p.What
	case p.Seq == 0:
		return fmt.Sprintf("flow %s: %s", p.Flow, p.What)
	}
	return fmt.Sprintf("flow %s, event %d: %s", p.Flow, p.Seq, p.What)
}

// Check reads everything there is and reports what is damaged: the database
// file, rows that do not match their checksum, missing events, an index that
// does not find them, blobs that are missing or not what their name says. An
// error means that the check itself could not be done. It changes nothing.
func (l *Log) Check(ctx context.Context) ([]Problem, error) {
	k := &checker{
		log: l, names: map[int64]event.FlowID{}, last: map[int64]uint64{},
		ids: map[place]bool{}, at: map[uint64]place{}, blobs: map[event.Hash]bool{},
	}
	err := l.view(ctx, func(c *conn) error {
		for _, step := range []func(context.Context, *conn) error{k.pages, k.events, k.index, k.inbox} {
			if err := step(ctx, c); code(err) == codeCorrupt {
				k.report("", 0, err.Error())
			} else if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return k.found, fail("check log", l.file, err)
	}
	err = l.blobs.Check(ctx, func(path, what string) { k.report("", 0, path+" "+what) })
	return k.found, fail("check log", string(l.blobs), err)
}

// A checker collects problems, and what the events say that the index should.
type checker struct {
	log   *Log
	found []Problem
	names map[int64]event.FlowID
	last  map[int64]uint64    // number of a flow's last event
	ids   map[place]bool      // flow and hash
	at    map[uint64]place    // by position
	blobs map[event.Hash]bool // is it there
}

// A place is an event in its flow.
type place struct {
	flow      int64
	seq, hash uint64
}

func (k *checker) report(flow event.FlowID, seq uint64, what string) {
	k.found = append(k.found, Problem{flow, seq, what})
}

func (k *checker) pages(_ context.Context, c *conn) error {
	return c.query(func(row []driver.Value) error {
		if s, _ := row[0].(string); s != "ok" {
			k.report("", 0, k.log.file+": "+s)
		}
		return nil
	}, "PRAGMA integrity_check")
}

func (k *checker) events(ctx context.Context, c *conn) error {
	err := c.query(func(row []driver.Value) error {
		k.names[row[0].(int64)] = event.FlowID(row[1].(string))
		return nil
	}, "SELECT id, name FROM flows")
	if err != nil {
		return err
	}
	return c.query(func(row []driver.Value) error {
		k.event(row[8].(int64), row)
		return ctx.Err()
	}, "SELECT "+columns+", e.flow FROM events e ORDER BY e.pos")
}

// event checks one event and takes note of where it is.
func (k *checker) event(id int64, row []driver.Value) {
	flow := k.names[id]
	r, err := verify(string(flow), row)
	if err != nil {
		k.report(flow, r.Seq, "does not match its checksum")
	} else if e, err := r.Event(flow); err != nil {
		k.report(flow, r.Seq, err.Error())
	} else {
		k.refers(e)
	}
	if r.Seq != k.last[id]+1 {
		k.report(flow, r.Seq, fmt.Sprintf("follows event %d", k.last[id]))
	}
	hash := hashID(r.ID)
	if k.ids[place{id, 0, hash}] {
		k.report(flow, r.Seq, fmt.Sprintf("has the id %q of an earlier one", r.ID))
	}
	k.last[id], k.ids[place{id, 0, hash}], k.at[r.Pos] = r.Seq, true, place{id, r.Seq, hash}
}

// refers checks that the blobs an event names are there.
func (k *checker) refers(e event.Event) {
	for c := range contents(reflect.ValueOf(e.Body)) {
		there, known := k.blobs[c.Blob]
		if !known {
			there = k.log.blobs.Has(c.Blob)
			k.blobs[c.Blob] = there
		}
		if !there {
			k.report(e.Flow, e.Seq, fmt.Sprintf("names the blob %s, which is missing", c.Blob))
		}
	}
}

// contents yields all content in a body that is a blob.
func contents(v reflect.Value) iter.Seq[event.Content] {
	return func(yield func(event.Content) bool) { walk(v, yield) }
}

func walk(v reflect.Value, yield func(event.Content) bool) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return v.IsNil() || walk(v.Elem(), yield)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return true
		}
		for i := range v.Len() {
			if !walk(v.Index(i), yield) {
				return false
			}
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			if !walk(v.MapIndex(key), yield) {
				return false
			}
		}
	case reflect.Struct:
		if c, ok := v.Interface().(event.Content); ok {
			return c.Blob == "" || yield(c)
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && !walk(v.Field(i), yield) {
				return false
			}
		}
	}
	return true
}

// index checks that the blocks have exactly the events they should.
func (k *checker) index(_ context.Context, c *conn) error {
	covered, err := c.number("SELECT pos FROM covered")
	if err != nil {
		return err
	}
	err = c.query(func(row []driver.Value) error {
		id := row[3].(int64)
		b, err := scanBlock(row)
		if err != nil {
			k.report(k.names[id], 0, err.Error())
			return nil
		}
		for i, hash := range b.hashes() {
			if seq := b.first + uint64(i); k.at[b.pos[i]] != (place{id, seq, hash}) {
				k.report(k.names[id], seq, "is not where the index says")
			}
			delete(k.at, b.pos[i])
		}
		return nil
	}, "SELECT first, n, data, flow FROM blocks ORDER BY flow, first")
	if err != nil {
		return err
	}
	for pos, p := range k.at {
		if pos <= uint64(covered) {
			k.report(k.names[p.flow], p.seq, "is not in the index")
		}
	}
	return nil
}

func (k *checker) inbox(_ context.Context, c *conn) error {
	return c.query(func(row []driver.Value) error {
		flow := k.names[row[8].(int64)]
		if r, err := verify(string(flow), row); err != nil {
			k.report(flow, 0, fmt.Sprintf("inbox entry %q does not match its checksum", r.ID))
		}
		return nil
	}, "SELECT n, 0, 0, id, agent, kind, body, sum, flow FROM inbox ORDER BY n")
}

// verify reads a row and compares it with its checksum.
func verify(flow string, row []driver.Value) (record.Record, error) {
	r := scan(row)
	if sum, _ := row[7].(int64); sum != checksum(flow, r) {
		return r, fmt.Errorf("event %d (id %.80q) of %s does not match its checksum: %w", r.Seq, r.ID, flow, eventlog.ErrCorrupt)
	}
	return r, nil
}
