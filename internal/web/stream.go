package web

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"conclave/internal/event"
)

const (
	// mostWatched is how many flows one tab watches.
	mostWatched = 32
	// mostMissed is how much of a flow is told one by one to somebody who was away.
	mostMissed = 2000
	// beat is how often a stream without news says that it is there, and stuck how
	// long a browser may take to read.
	beat  = 15 * time.Second
	stuck = 30 * time.Second
)

// watched are the flows a tab wants to hear of.
func watched(r *http.Request) ([]event.FlowID, error) {
	var out []event.FlowID
	for _, list := range r.URL.Query()["watch"] {
		for id := range strings.SplitSeq(list, ",") {
			if id = strings.TrimSpace(id); id == "" {
				continue
			}
			if !ids().MatchString(id) {
				return nil, bad("%q cannot be watched: it is no id.", clip(id, 100))
			}
			if f := event.FlowID(id); !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	if len(out) == 0 || len(out) > mostWatched {
		return nil, bad("watch has to name 1 to %d flows, separated by commas.", mostWatched)
	}
	return out, nil
}

// A stream is the connection of one tab.
type stream struct {
	*tab
	s   *Server
	w   http.ResponseWriter
	rc  *http.ResponseController
	ctx context.Context
}

// events is the one stream of a tab.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	names, err := watched(r)
	if err != nil {
		s.answer(w, r, nil, err)
		return
	}
	after := r.Header.Get("Last-Event-ID")
	if after == "" {
		after = r.URL.Query().Get("after")
	}
	seen, wrong := parseToken(after)
	t, err := s.feed.join(r.Context(), names)
	if err != nil {
		s.answer(w, r, nil, &problem{status: http.StatusServiceUnavailable, Code: "busy", Text: "No stream can be opened: " + err.Error() + ".", Do: "Close some tabs."})
		return
	}
	defer s.feed.leave(t)
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	c := stream{t, s, w, http.NewResponseController(w), r.Context()}
	if c.begin(seen, wrong != nil) == nil {
		c.serve()
	}
}

// begin says hello and what was missed.
func (c stream) begin(after map[event.FlowID]uint64, lost bool) error {
	missed := make([]uint64, len(c.topics))
	for i, p := range c.topics {
		seq, before := after[p.name]
		if p.name == home {
			c.seen[home] = p.enterList(c.tab, seq, before)
			continue
		}
		now, from := p.enter(c.tab, seq, before)
		if before && seq > now { // maybe only ahead of us: see whether it is there
			if there, err := c.s.Control.Open(c.ctx, p.name); err == nil && there.Seq >= seq {
				now = seq
			} else {
				lost = true
			}
		}
		c.seen[p.name], missed[i] = now, from
		if from > 0 {
			c.seen[p.name] = from - 1
		}
	}
	var b bytes.Buffer
	b.WriteString("retry: 1000\nid: " + c.token() + "\n")
	b.Write(encode("hello", map[string]any{"resume": c.token(), "version": c.s.Version, "flows": c.seen}))
	b.WriteByte('\n')
	if lost {
		c.resync(&b)
	}
	if err := c.send(&b); err != nil {
		return err
	}
	for i, p := range c.topics {
		if missed[i] > 0 {
			if err := c.replay(p, missed[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// replay tells what happened in a flow while the tab was away, from the log.
func (c stream) replay(p *topic, from uint64) error {
	p.mu.Lock()
	to := p.seq // what comes later is in the queue
	p.mu.Unlock()
	var b bytes.Buffer
	if to-from >= mostMissed {
		c.seen[p.name] = to
		c.resync(&b)
		return c.send(&b)
	}
	for e, err := range c.s.Control.Follow(c.ctx, p.name, from) {
		if err != nil {
			return err
		}
		c.write(&b, []frame{changeOf(p.name, e).frame()}, nil)
		if e.Seq >= to {
			break
		}
	}
	return c.send(&b)
}

// serve sends what comes until the browser goes or the server ends.
func (c stream) serve() {
	heart := time.NewTicker(beat)
	defer heart.Stop()
	var b bytes.Buffer
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-c.s.feed.ctx.Done():
			return
		case <-heart.C:
			b.WriteString(": still here\n\n")
		case <-c.wake:
			queue, lost := c.take()
			c.write(&b, queue, lost)
		}
		if c.send(&b) != nil {
			return
		}
	}
}

// send writes what is in the buffer and empties it. A browser that does not read
// is let go; it comes back and is told what it missed.
func (c stream) send(b *bytes.Buffer) error {
	defer b.Reset()
	_ = c.rc.SetWriteDeadline(time.Now().Add(stuck))
	if _, err := c.w.Write(b.Bytes()); err != nil {
		return err
	}
	return c.rc.Flush()
}

// changes is the stream for somebody who asks again and again.
func (s *Server) changes(r *http.Request) (any, error) {
	names, err := watched(r)
	if err != nil {
		return nil, err
	}
	after, err := parseToken(r.URL.Query().Get("after"))
	out := struct {
		Changes []change `json:"changes"`
		Resume  string   `json:"resume"`
		Resync  bool     `json:"resync,omitempty"`
	}{Changes: []change{}, Resync: err != nil}
	t := newTab(names)
	for _, n := range names {
		seq, before := after[n]
		now, of, lost, err := s.since(r.Context(), n, seq, before)
		if err != nil {
			return nil, err
		}
		t.seen[n] = now
		out.Changes = append(out.Changes, of...)
		out.Resync = out.Resync || lost
	}
	out.Resume = t.token()
	return out, nil
}

// since is what happened in a flow after an event, all told in one change.
func (s *Server) since(ctx context.Context, id event.FlowID, seq uint64, before bool) (now uint64, of []change, lost bool, err error) {
	if id == home {
		now = listed(ctx, s.Control)
		if before && now != seq {
			of = []change{{Flow: home, Seq: now, Kind: "home"}}
		}
		return now, of, false, nil
	}
	there, err := s.Control.Open(ctx, id)
	if err != nil {
		if p := problemOf(err); p.status == http.StatusNotFound {
			return 0, nil, before && seq > 0, nil
		}
		return 0, nil, false, err
	}
	switch {
	case !before || seq == there.Seq:
		return there.Seq, nil, false, nil
	case seq > there.Seq, there.Seq-seq > mostMissed:
		return there.Seq, nil, true, nil
	}
	var all change
	for e, err := range s.Control.Follow(ctx, id, seq+1) {
		if err != nil {
			return 0, nil, false, err
		}
		one := changeOf(id, e)
		one.Kinds = all.Kinds
		if !slices.Contains(one.Kinds, one.Kind) {
			one.Kinds = append(one.Kinds, one.Kind)
		}
		if all = one; e.Seq >= there.Seq {
			break
		}
	}
	return all.Seq, []change{all}, false, nil
}
