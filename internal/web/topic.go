package web

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"io"
	"sync"
	"time"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/live"
)

// kept is how many changes of a flow are kept for those who come back.
const kept = 512

// A frame is one event of a stream, written once for all who get it. Its id is
// added for each: it says how far that tab has come in everything it watches.
type frame struct {
	flow event.FlowID
	seq  uint64 // zero for live text, which has no place in the log
	text []byte
}

// A topic is a flow that somebody watches, or the list of all.
type topic struct {
	c    control.Control
	name event.FlowID
	stop context.CancelFunc
	// ready is closed once seq is known; stir says that live text is to be handed
	// on, tick that something happened, so there may be somebody to be heard.
	ready      chan struct{}
	stir, tick chan struct{}
	users      int // guarded by the feed

	mu      sync.Mutex
	tabs    map[*tab]bool
	seq     uint64
	ring    []frame // newest last
	speech  speech
	pending []live.Delta
}

func newTopic(c control.Control, name event.FlowID) *topic {
	return &topic{
		c: c, name: name, tabs: map[*tab]bool{}, speech: speech{},
		ready: make(chan struct{}), stir: make(chan struct{}, 1), tick: make(chan struct{}, 1),
	}
}

// A change says that something happened in a flow. Pages fetch what they show.
type change struct {
	Flow  event.FlowID  `json:"flow"`
	Seq   uint64        `json:"seq"`
	Kind  string        `json:"kind"`
	Agent event.AgentID `json:"agent,omitempty"`
	Kinds []string      `json:"kinds,omitempty"`
}

func (c change) frame() frame { return frame{c.Flow, c.Seq, encode("change", c)} }

func changeOf(id event.FlowID, e event.Event) change {
	kind := "unknown"
	if u, ok := e.Body.(event.Unknown); ok {
		kind = u.Kind
	} else if e.Body != nil {
		kind = event.Kind(e.Body)
	}
	return change{Flow: id, Seq: e.Seq, Kind: kind, Agent: e.Agent}
}

func encode(name string, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil { // of our own plain types
		panic(err)
	}
	return append(append([]byte("event: "+name+"\ndata: "), text...), '\n')
}

// again is how long is waited before something that failed is tried again.
const again = time.Second

// pause waits, unless ctx ends first or something happens.
func pause(ctx context.Context, d time.Duration, sooner <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-sooner:
	case <-t.C:
	}
	return ctx.Err() == nil
}

// follow tells of every event of the flow from now on.
func (p *topic) follow(ctx context.Context) {
	if now, err := p.c.Open(ctx, p.name); err == nil {
		p.seq = now.Seq
	}
	close(p.ready)
	for ctx.Err() == nil {
		p.mu.Lock()
		from := p.seq + 1
		p.mu.Unlock()
		for e, err := range p.c.Follow(ctx, p.name, from) {
			if err != nil {
				break
			}
			p.publish(changeOf(p.name, e).frame())
			nudge(p.tick)
		}
		pause(ctx, again, nil)
	}
}

// publish hands a change to every tab.
func (p *topic) publish(f frame) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seq = f.seq
	if p.ring = append(p.ring, f); len(p.ring) >= 2*kept { // let go of the older half at a time
		p.ring = append([]frame(nil), p.ring[kept:]...)
	}
	for t := range p.tabs {
		t.push(f)
	}
}

// enter has a tab get what happens from now on, and returns where that begins. What
// is being said is given from its beginning. A tab that was there before gets what
// it missed, if that is still at hand; otherwise missed is from where on it is to
// be read.
func (p *topic) enter(t *tab, after uint64, before bool) (now, missed uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flush() // to the others: the speech has it
	p.tabs[t] = true
	for _, f := range p.speech.frames() {
		t.push(f)
	}
	if !before || after >= p.seq {
		return p.seq, 0
	}
	if len(p.ring) > 0 && p.ring[0].seq <= after+1 {
		for _, f := range p.ring {
			if f.seq > after {
				t.push(f)
			}
		}
		return after, 0
	}
	return p.seq, after + 1
}

func (p *topic) drop(t *tab) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.tabs, t)
}

// glance is how often the list of flows is looked at while somebody watches it, and
// rest how many times as long as that takes is waited at least: a list of thousands
// does not keep a processor busy.
const (
	glance = 2 * time.Second
	rest   = 10
)

// list tells when the list of flows has changed. Its number is made of what the
// list says, so that it means the same to the next server.
func (p *topic) list(ctx context.Context) {
	p.seq = listed(ctx, p.c)
	close(p.ready)
	wait := glance
	for pause(ctx, wait, p.stir) {
		begun := time.Now()
		now := listed(ctx, p.c)
		wait = max(glance, rest*time.Since(begun))
		p.mu.Lock()
		if now != p.seq && now != 0 {
			p.seq = now
			f := change{Flow: home, Seq: now, Kind: "home"}.frame()
			for t := range p.tabs {
				t.push(f)
			}
		}
		p.mu.Unlock()
	}
}

// enterList is enter for the list of flows, whose numbers have no order.
func (p *topic) enterList(t *tab, after uint64, before bool) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tabs[t] = true
	if before && after != p.seq {
		t.push(change{Flow: home, Seq: p.seq, Kind: "home"}.frame())
		return after
	}
	return p.seq
}

// listed is a number for what the list of flows says; zero if that is not known.
func listed(ctx context.Context, c control.Control) uint64 {
	flows, err := c.Flows(ctx)
	if err != nil {
		return 0
	}
	h := fnv.New64a()
	for _, f := range flows {
		for _, part := range []string{string(f.ID), f.State(), f.Title(80), f.Last.UTC().Format(time.RFC3339Nano)} {
			_, _ = io.WriteString(h, part)
			_, _ = h.Write([]byte{0})
		}
	}
	return h.Sum64()>>11 | 1 // a number that scripts can hold
}
