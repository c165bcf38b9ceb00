package sqlite

import (
	"database/sql/driver"
	"fmt"

	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/internal/record"
)

// A flowState is what the writer knows of a flow without asking. It is true as
// long as no other process writes.
type flowState struct {
	id    int64  // flows.id, 0 if there is no row yet
	epoch uint64 // of the newest driver
	last  uint64 // number of the last event
	inbox int64  // how many entries wait
}

// state returns what is known of a flow.
func (w *writer) state(flow event.FlowID) (*flowState, error) {
	if s, ok := w.flows[string(flow)]; ok {
		return s, nil
	}
	s := &flowState{}
	err := w.c.query(func(row []driver.Value) error {
		s.id, s.epoch = row[0].(int64), uint64(row[1].(int64))
		return nil
	}, "SELECT id, epoch FROM flows WHERE name = ?", string(flow))
	if err != nil {
		return nil, err
	}
	if s.id != 0 {
		last, err := w.c.number("SELECT max(seq) FROM events WHERE flow = ?", s.id)
		if err != nil {
			return nil, err
		}
		s.last = uint64(last)
		if s.inbox, err = w.c.number("SELECT count(*) FROM inbox WHERE flow = ?", s.id); err != nil {
			return nil, err
		}
	}
	w.flows[string(flow)] = s
	return s, nil
}

// existing is state for a flow that has to have events.
func (w *writer) existing(flow event.FlowID) (*flowState, error) {
	s, err := w.state(flow)
	if err == nil && s.last == 0 {
		err = refusal{fmt.Errorf("flow %s: %w", flow, eventlog.ErrNotFound)}
	}
	return s, err
}

// byID looks for the event or, after it, the inbox entry with that id.
func (w *writer) byID(s *flowState, id string) (r record.Record, known bool, err error) {
	each := func(row []driver.Value) error {
		r, known = scan(row), true
		return errStop
	}
	err = w.c.query(each, "SELECT pos, seq, at, id, agent, kind, body FROM events WHERE flow = ? AND id = ?", s.id, id)
	return r, known, err
}

func (w *writer) inInbox(s *flowState, id string) (r record.Record, known bool, err error) {
	if s.inbox == 0 {
		return r, false, nil
	}
	each := func(row []driver.Value) error {
		r, known = scan(row), true
		return errStop
	}
	err = w.c.query(each, "SELECT n, 0, 0, id, agent, kind, body FROM inbox WHERE flow = ? AND id = ?", s.id, id)
	return r, known, err
}
