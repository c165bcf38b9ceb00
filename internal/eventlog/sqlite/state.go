package sqlite

import (
	"database/sql/driver"
	"fmt"
	"maps"

	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/internal/record"
)

// knowledge is what the writer can say without asking the database. Within a
// transaction it is true; [writer.learn] makes it so.
type knowledge struct {
	version int64  // PRAGMA data_version at the time
	pos     uint64 // of the last event
	covered uint64 // position up to which events are in blocks
	sent    uint64 // number of the newest inbox entry ever
	ids     map[event.FlowID]int64
	flows   map[int64]*flowState
}

// A flowState is what is known of a flow.
type flowState struct {
	id   int64  // flows.id, 0 if there is no row yet
	last uint64 // number of the last event

	loaded bool   // epoch and inbox are known
	epoch  uint64 // of the newest driver
	inbox  int64  // how many entries wait

	// tail has the events that are in no block: their ids and positions.
	tail    map[string]uint64
	blocks  []*block
	indexed bool // blocks are known
}

// learn brings what is known up to date with what other processes have written
// since.
func (w *writer) learn() error {
	v, err := w.c.number("PRAGMA data_version")
	if err != nil || w.k != nil && w.k.version == v {
		return err
	}
	covered, err := w.c.number("SELECT pos FROM covered")
	if err != nil {
		return err
	}
	sent, err := w.c.number("SELECT seq FROM sqlite_sequence WHERE name = 'inbox'")
	if err != nil {
		return err
	}
	k := w.k
	if k == nil {
		k = &knowledge{pos: uint64(covered), ids: map[event.FlowID]int64{}, flows: map[int64]*flowState{}}
		w.k = k
	}
	k.version, k.covered, k.sent = v, uint64(covered), uint64(sent)
	k.pos = max(k.pos, k.covered)
	for _, s := range k.flows {
		s.loaded, s.indexed = false, false
		maps.DeleteFunc(s.tail, func(_ string, pos uint64) bool { return pos <= k.covered })
	}
	w.log.hub.All()
	return w.c.query(func(row []driver.Value) error {
		k.add(k.flow(row[1].(int64)), uint64(row[0].(int64)), uint64(row[2].(int64)), row[3].(string))
		return nil
	}, "SELECT pos, flow, seq, id FROM events WHERE pos > ? ORDER BY pos", int64(k.pos))
}

func (k *knowledge) flow(id int64) *flowState {
	s, ok := k.flows[id]
	if !ok {
		s = &flowState{id: id, tail: map[string]uint64{}}
		k.flows[id] = s
	}
	return s
}

// add takes note of a new event, the last one of all.
func (k *knowledge) add(s *flowState, pos, seq uint64, id string) {
	k.pos, s.last, s.tail[id] = pos, seq, pos
}

// name takes note of a new flow's number.
func (k *knowledge) name(flow event.FlowID, id int64, s *flowState) {
	s.id, k.ids[flow], k.flows[id] = id, id, s
}

// state returns what is known of a flow. It may not be there yet.
func (w *writer) state(flow event.FlowID) (*flowState, error) {
	id, ok := w.k.ids[flow]
	if !ok {
		var err error
		if id, err = w.c.number("SELECT id FROM flows WHERE name = ?", string(flow)); err != nil {
			return nil, err
		}
		if id == 0 {
			return &flowState{tail: map[string]uint64{}, loaded: true, indexed: true}, nil
		}
		w.k.ids[flow] = id
	}
	s := w.k.flow(id)
	if s.loaded {
		return s, nil
	}
	err := w.c.query(func(row []driver.Value) error {
		seq, _ := row[1].(int64)
		s.epoch, s.inbox, s.loaded = uint64(row[0].(int64)), row[2].(int64), true
		s.last = max(s.last, uint64(seq))
		return nil
	}, `SELECT epoch, (SELECT max(first + n - 1) FROM blocks WHERE flow = ?1), (SELECT count(*) FROM inbox WHERE flow = ?1)
		FROM flows WHERE id = ?1`, id)
	return s, err
}

// existing is state for a flow that has to have events.
func (w *writer) existing(flow event.FlowID) (*flowState, error) {
	s, err := w.state(flow)
	if err != nil {
		return nil, fail("write", w.log.file, err)
	}
	if s.last == 0 {
		return nil, refusal{fmt.Errorf("flow %s: %w", flow, eventlog.ErrNotFound)}
	}
	return s, nil
}

const columns = "e.pos, e.seq, e.at, e.id, e.agent, e.kind, e.body, e.sum"

// byID looks for the event with that id.
func (w *writer) byID(s *flowState, id string) (r record.Record, known bool, err error) {
	if pos, ok := s.tail[id]; ok {
		if err := w.flush(); err != nil {
			return r, false, err
		}
		return w.at(pos, id)
	}
	if err := w.loadBlocks(s); err != nil {
		return r, false, err
	}
	hash := hashID(id)
	for _, b := range s.blocks {
		b.find(hash, func(pos uint64) {
			if !known && err == nil {
				r, known, err = w.at(pos, id)
			}
		})
	}
	return r, known, err
}

// at returns the event at a position, if it has that id: hashes may be equal.
func (w *writer) at(pos uint64, id string) (r record.Record, known bool, err error) {
	err = w.c.query(func(row []driver.Value) error {
		r = scan(row)
		known = r.ID == id
		return nil
	}, "SELECT "+columns+" FROM events e WHERE pos = ?", int64(pos))
	return r, known, err
}

// inInbox looks for the inbox entry with that id.
func (w *writer) inInbox(s *flowState, id string) (r record.Record, known bool, err error) {
	if s.inbox == 0 {
		return r, false, nil
	}
	err = w.c.query(func(row []driver.Value) error {
		r, known = scan(row), true
		return nil
	}, "SELECT n, 0, 0, id, agent, kind, body FROM inbox WHERE flow = ? AND id = ?", s.id, id)
	return r, known, err
}
