package web

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"conclave/internal/event"
)

// How far a tab may fall behind: in live text, which it then loses, and in all.
const (
	mostLive   = 64
	mostQueued = 256
)

// A tab is one stream: what it is to be sent, and how far it has come. Only the
// queue is shared; push never waits.
type tab struct {
	names  []event.FlowID
	topics []*topic
	wake   chan struct{}
	seen   map[event.FlowID]uint64 // the stream's own

	mu    sync.Mutex
	queue []frame
	lost  map[event.FlowID]uint64 // how far what was dropped went; nil if nothing was
}

func newTab(names []event.FlowID) *tab {
	return &tab{names: names, wake: make(chan struct{}, 1), seen: map[event.FlowID]uint64{}}
}

// push adds a frame. A tab that does not read loses live text first, and then
// everything that waits, which it is told.
func (t *tab) push(f frame) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case f.seq == 0 && len(t.queue) >= mostLive:
		return
	case len(t.queue) >= mostQueued:
		if t.lost == nil {
			t.lost = map[event.FlowID]uint64{}
		}
		for _, q := range append(t.queue, f) {
			if q.seq > 0 {
				t.lost[q.flow] = q.seq
			}
		}
		t.queue = nil
	default:
		t.queue = append(t.queue, f)
	}
	nudge(t.wake)
}

// take takes out what waits, and what was lost before it.
func (t *tab) take() ([]frame, map[event.FlowID]uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	queue, lost := t.queue, t.lost
	t.queue, t.lost = nil, nil
	return queue, lost
}

// write puts frames into a buffer as they are sent, each once, with the id from
// which a tab can go on.
func (t *tab) write(b *bytes.Buffer, queue []frame, lost map[event.FlowID]uint64) {
	if lost != nil {
		for flow, seq := range lost { // order does not matter: each flow for itself
			t.seen[flow] = seq
		}
		t.resync(b)
	}
	for _, f := range queue {
		if f.seq > 0 {
			if s, ok := t.seen[f.flow]; ok && (f.flow == home && s == f.seq || f.flow != home && s >= f.seq) {
				continue
			}
			t.seen[f.flow] = f.seq
			b.WriteString("id: " + t.token() + "\n")
		}
		b.Write(f.text)
		b.WriteByte('\n')
	}
}

// resync has the page fetch everything anew.
func (t *tab) resync(b *bytes.Buffer) {
	b.WriteString("id: " + t.token() + "\n")
	b.Write(encode("resync", struct{}{}))
	b.WriteByte('\n')
}

// token says how far the tab has come: flow:seq pairs.
func (t *tab) token() string {
	var b strings.Builder
	for i, n := range t.names {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%s:%d", n, t.seen[n])
	}
	return b.String()
}

var errToken = errors.New("this is no place to go on from")

// parseToken reads what token wrote.
func parseToken(text string) (map[event.FlowID]uint64, error) {
	out := map[event.FlowID]uint64{}
	if text == "" {
		return out, nil
	}
	for _, part := range strings.Split(text, ",") {
		id, n, ok := strings.Cut(part, ":")
		seq, err := strconv.ParseUint(n, 10, 64)
		if !ok || err != nil || !ids().MatchString(id) || len(out) > mostWatched {
			return nil, errToken
		}
		out[event.FlowID(id)] = seq
	}
	return out, nil
}
