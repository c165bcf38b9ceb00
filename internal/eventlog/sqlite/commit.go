package sqlite

import (
	"context"
	"fmt"
	"strings"

	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/internal/record"
)

// Commit implements [eventlog.Log].
func (l *Log) Commit(ctx context.Context, le eventlog.Lease, events []event.Event) error {
	flow := le.Flow()
	records, err := record.OfEvents(flow, events)
	if err != nil {
		return fmt.Errorf("commit to %s: %w", flow, err)
	}
	if err := l.usable(ctx); err != nil {
		return fmt.Errorf("commit to %s: %w", flow, err)
	}
	if !l.holds(flow, le.Epoch()) {
		return fmt.Errorf("commit to %s: the lease of epoch %d is no longer held: %w", flow, le.Epoch(), eventlog.ErrSuperseded)
	}
	r := &request{flow: flow, do: func(w *writer) error { return w.append(flow, le.Epoch(), records) }}
	if err := l.w.submit(ctx, r); err != nil {
		return fmt.Errorf("commit to %s: %w", flow, err)
	}
	for i := range events {
		events[i].Pos = records[i].Pos
	}
	return nil
}

// append writes the records the flow does not have yet and sets Pos in all.
func (w *writer) append(flow event.FlowID, epoch uint64, records []record.Record) error {
	s, err := w.state(flow)
	if err != nil {
		return fail("write", w.log.file, err)
	}
	if s.epoch != epoch {
		return refusal{fmt.Errorf("epoch %d, the newest is %d: %w", epoch, s.epoch, eventlog.ErrSuperseded)}
	}
	known, err := w.checkNew(s, records)
	if err != nil {
		return err
	}
	for i := range records[known:] {
		r := &records[known+i]
		r.Pos = w.k.pos + 1
		w.rows = append(w.rows, int64(r.Pos), s.id, int64(r.Seq), r.At, r.ID, r.Agent, r.Kind, r.Body, checksum(string(flow), *r))
		w.k.add(s, r.Pos, r.Seq, r.ID)
	}
	if s.inbox == 0 {
		return nil
	}
	return fail("write", w.log.file, w.clearInbox(s, records))
}

// One statement inserts many events, which takes less than one each.
const rowColumns = 9

var inserts = []struct {
	rows int
	sql  string
}{{16, insert(16)}, {4, insert(4)}, {1, insert(1)}}

func insert(rows int) string {
	one := "(?" + strings.Repeat(",?", rowColumns-1) + ")"
	return "INSERT OR FAIL INTO events VALUES " + one + strings.Repeat(","+one, rows-1)
}

// flush inserts the events that were appended in this transaction.
func (w *writer) flush() error {
	rows := w.rows
	for _, in := range inserts {
		for n := in.rows * rowColumns; len(rows) >= n; rows = rows[n:] {
			if err := w.c.exec(in.sql, rows[:n]...); err != nil {
				return err
			}
		}
	}
	w.forgetRows()
	return nil
}

// forgetRows empties rows and keeps the memory for the next transaction, unless
// it is a lot.
func (w *writer) forgetRows() {
	if cap(w.rows) > 1000*rowColumns {
		w.rows = nil
	}
	clear(w.rows)
	w.rows = w.rows[:0]
}

// checkNew returns how many of the records, from the first one on, the flow
// holds already. The others must follow its last one and have new ids.
func (w *writer) checkNew(s *flowState, records []record.Record) (known int, err error) {
	var seen map[string]*record.Record
	if len(records) > 1 {
		seen = make(map[string]*record.Record, len(records))
	}
	for i := range records {
		r := &records[i]
		held, isKnown, err := w.byID(s, r.ID)
		if err != nil {
			return 0, fail("write", w.log.file, err)
		}
		if o, twice := seen[r.ID]; twice {
			held, isKnown = *o, true
		}
		if isKnown {
			if err := eventlog.CheckKnown(r.ID, r.Seq, held.Seq, r.Same(held)); err != nil {
				return 0, refusal{err}
			}
			r.Pos = held.Pos
			known++
			continue
		}
		if r.Seq != s.last+1+uint64(i-known) {
			return 0, refusal{fmt.Errorf("event %s has number %d, the last one is %d: %w", r.ID, r.Seq, s.last, eventlog.ErrGap)}
		}
		if seen != nil {
			seen[r.ID] = r
		}
	}
	return known, nil
}

func (w *writer) clearInbox(s *flowState, records []record.Record) error {
	for _, r := range records {
		_, in, err := w.inInbox(s, r.ID)
		if err != nil {
			return err
		}
		if !in {
			continue
		}
		if err := w.c.exec("DELETE FROM inbox WHERE flow = ? AND id = ?", s.id, r.ID); err != nil {
			return err
		}
		s.inbox--
	}
	return nil
}

// Send implements [eventlog.Log].
func (l *Log) Send(ctx context.Context, flow event.FlowID, f event.Fact) error {
	rec, err := record.OfFact(f)
	if err != nil {
		return fmt.Errorf("send to %s: %w", flow, err)
	}
	if err := l.usable(ctx); err != nil {
		return fmt.Errorf("send to %s: %w", flow, err)
	}
	r := &request{flow: flow, do: func(w *writer) error { return w.send(flow, rec) }}
	if err := l.w.submit(ctx, r); err != nil {
		return fmt.Errorf("send %s to %s: %w", f.ID, flow, err)
	}
	return nil
}

func (w *writer) send(flow event.FlowID, r record.Record) error {
	s, err := w.existing(flow)
	if err != nil {
		return err
	}
	held, known, err := w.byID(s, r.ID)
	if err == nil && !known {
		held, known, err = w.inInbox(s, r.ID)
	}
	switch {
	case err != nil:
		return fail("write", w.log.file, err)
	case known && !r.Same(held):
		return refusal{eventlog.ErrConflict}
	case known:
		return nil
	}
	r.Pos = w.k.sent + 1
	err = w.c.exec("INSERT INTO inbox VALUES (?, ?, ?, ?, ?, ?, ?)",
		int64(r.Pos), s.id, r.ID, r.Agent, r.Kind, r.Body, checksum(string(flow), r))
	if err == nil {
		s.inbox++
		w.k.sent++
	}
	return fail("write", w.log.file, err)
}

// SaveCheckpoint implements [eventlog.Log].
func (l *Log) SaveCheckpoint(ctx context.Context, flow event.FlowID, c eventlog.Checkpoint) error {
	if err := l.usable(ctx); err != nil {
		return fmt.Errorf("save checkpoint %s of %s: %w", c.Name, flow, err)
	}
	r := &request{do: func(w *writer) error { return w.saveCheckpoint(flow, c) }}
	if err := l.w.submit(ctx, r); err != nil {
		return fmt.Errorf("save checkpoint %s of %s: %w", c.Name, flow, err)
	}
	return nil
}

func (w *writer) saveCheckpoint(flow event.FlowID, c eventlog.Checkpoint) error {
	s, err := w.existing(flow)
	if err != nil {
		return err
	}
	if c.Seq > s.last {
		return refusal{fmt.Errorf("it is of %d events, there are %d: %w", c.Seq, s.last, eventlog.ErrGap)}
	}
	err = w.c.exec("REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?)", s.id, c.Name, int64(c.Version), int64(c.Seq), seal(c.Data))
	return fail("write", w.log.file, err)
}
