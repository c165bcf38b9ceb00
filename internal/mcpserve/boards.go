package mcpserve

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"conclave/internal/control"
	"conclave/internal/event"
)

// mostBoards is how many sessions are kept as they were looked at last: more than
// a call looks through.
const mostBoards = 2 * fewest

// boards keeps what the logs of sessions say. A session of a client can be long,
// and every call asks: only what was recorded since is read.
type boards struct {
	c control.Control

	mu   sync.Mutex
	kept map[event.FlowID]*keptBoard
}

type keptBoard struct {
	mu sync.Mutex // of a log that is being read
	board
	seq uint64
}

// of is what a session's log says of one wanted run as far as it has come, to be
// gone on with, and how many events that is.
func (k *boards) of(ctx context.Context, p place) (out *board, seq uint64, err error) {
	err = k.look(ctx, p.session, func(b *keptBoard) { out, seq = b.alone(p.want), b.seq })
	return out, seq, err
}

// find finds a wanted run of a session.
func (k *boards) find(ctx context.Context, id event.FlowID, is func(*want) bool) (out want, ok bool, err error) {
	err = k.look(ctx, id, func(b *keptBoard) {
		for _, w := range b.wants {
			if is(w) {
				out, ok = *w, true
				return
			}
		}
	})
	return out, ok, err
}

// look has f look at a board after all there is in the log. What it gets is not to
// be kept or changed.
func (k *boards) look(ctx context.Context, id event.FlowID, f func(*keptBoard)) error {
	b := k.keep(id)
	b.mu.Lock()
	defer b.mu.Unlock()
	for e, err := range k.c.ReadFrom(ctx, id, b.seq+1) {
		if err != nil {
			return fmt.Errorf("read %s: %w", id, err)
		}
		b.apply(e)
		b.seq = e.Seq
	}
	f(b)
	return nil
}

func (k *boards) keep(id event.FlowID) *keptBoard {
	k.mu.Lock()
	defer k.mu.Unlock()
	b, ok := k.kept[id]
	if !ok {
		if k.kept == nil || len(k.kept) >= mostBoards {
			k.kept = map[event.FlowID]*keptBoard{}
		}
		b = &keptBoard{}
		k.kept[id] = b
	}
	return b
}

// alone is what a board says of one wanted run, to be gone on with.
func (b *board) alone(id string) *board {
	out := &board{wants: map[string]*want{}, refused: maps.Clone(b.refused), amended: map[string]event.Amended{}}
	if out.refused == nil {
		out.refused = map[string]string{}
	}
	if w, ok := b.wants[id]; ok {
		own := *w
		out.wants[id] = &own
	}
	for ref, a := range b.amended {
		if a.Want == id {
			out.amended[ref] = a
		}
	}
	return out
}
