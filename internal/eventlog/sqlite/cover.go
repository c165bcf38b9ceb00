package sqlite

import (
	"cmp"
	"database/sql/driver"
	"fmt"
	"slices"

	"conclave/internal/eventlog"
)

// coverEvery is how many events may wait to be found by flow. A reader looks
// through at most about that many.
const coverEvery = 4096

// cover puts the events that wait into blocks, when they are many enough. It
// has a transaction of its own, which nobody waits for. If it fails nothing is
// lost, and it is tried again after the next commit.
func (w *writer) cover() {
	if w.k == nil || w.k.pos < w.k.covered+w.coverEvery {
		return
	}
	err := w.begin()
	if err == nil {
		err = w.coverTail()
	}
	if err == nil {
		err = w.c.exec("COMMIT")
	}
	if err != nil {
		w.rollback()
	}
}

func (w *writer) coverTail() error {
	for id, s := range w.k.flows {
		if len(s.tail) == 0 {
			continue
		}
		if err := w.loadBlocks(s); err != nil {
			return err
		}
		for _, b := range s.cover() {
			err := w.c.exec("REPLACE INTO blocks VALUES (?, ?, ?, ?, ?, ?)",
				id, int64(b.first), int64(len(b.pos)), int64(b.pos[0]), int64(b.last()), b.encode())
			if err != nil {
				return err
			}
		}
	}
	w.k.covered = w.k.pos
	return w.c.exec("UPDATE covered SET pos = ?", int64(w.k.pos))
}

// cover makes blocks of the tail, the last one there was included if it is
// small, and returns those to be written.
func (s *flowState) cover() []*block {
	type entry struct{ pos, hash uint64 }
	tail := make([]entry, 0, len(s.tail))
	for id, pos := range s.tail {
		tail = append(tail, entry{pos, hashID(id)})
	}
	slices.SortFunc(tail, func(a, b entry) int { return cmp.Compare(a.pos, b.pos) })
	first := s.last + 1 - uint64(len(tail))
	var pos, hashes []uint64
	if n := len(s.blocks); n > 0 && len(s.blocks[n-1].pos) < minBlock {
		b := s.blocks[n-1]
		first, pos, hashes = b.first, slices.Clone(b.pos), b.hashes()
		s.blocks = s.blocks[:n-1]
	}
	for _, e := range tail {
		pos, hashes = append(pos, e.pos), append(hashes, e.hash)
	}
	old := len(s.blocks)
	for len(pos) > 0 {
		n := min(len(pos), maxBlock)
		s.blocks = append(s.blocks, newBlock(first, pos[:n:n], hashes[:n]))
		first, pos, hashes = first+uint64(n), pos[n:], hashes[n:]
	}
	s.tail = map[string]uint64{}
	return s.blocks[old:]
}

// loadBlocks reads the blocks of a flow, if they are not known.
func (w *writer) loadBlocks(s *flowState) error {
	if s.indexed {
		return nil
	}
	s.blocks = nil
	err := w.c.query(func(row []driver.Value) error {
		b, err := scanBlock(row)
		s.blocks = append(s.blocks, b)
		return err
	}, "SELECT first, n, data FROM blocks WHERE flow = ? ORDER BY first", s.id)
	s.indexed = err == nil
	return err
}

// scanBlock reads the columns first, n, data.
func scanBlock(row []driver.Value) (*block, error) {
	data, _ := row[2].([]byte)
	b, err := decode(uint64(row[0].(int64)), int(row[1].(int64)), data)
	if err != nil {
		return nil, fmt.Errorf("block of events from %d on: %w: %w", row[0], eventlog.ErrCorrupt, err)
	}
	return b, nil
}
