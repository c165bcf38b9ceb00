package web

import (
	"context"
	"time"

	"conclave/internal/event"
	"conclave/internal/live"
)

// gather is for how long live text is put together before it is handed on.
const gather = 50 * time.Millisecond

// mostSaid bounds what is kept of what an agent is saying, for those who come
// later; they read the rest when it is in the log.
const mostSaid = 64 << 10

type speaker struct {
	flow  event.FlowID
	agent event.AgentID
}

// speech is what agents are saying just now.
type speech map[speaker][]live.Delta

// hear takes in a piece.
func (s speech) hear(d live.Delta) {
	k := speaker{d.Flow, d.Agent}
	said := s[k]
	switch {
	case d.Kind == live.End:
		delete(s, k)
		return
	case d.Anew, len(said) > 0 && (said[0].Turn != d.Turn || said[0].Call != d.Call):
		said = nil
	}
	n := 0
	for _, p := range said {
		n += len(p.Text)
	}
	if n+len(d.Text) > mostSaid {
		return
	}
	s[k] = join(said, d)
}

// join adds a piece, to the last one of the same speaker if it goes on with it:
// between speakers there is no order.
func join(said []live.Delta, d live.Delta) []live.Delta {
	for i := len(said) - 1; i >= 0 && d.Kind != live.End && d.Kind != live.Tool && !d.Anew; i-- {
		last := &said[i]
		if last.Flow != d.Flow || last.Agent != d.Agent {
			continue
		}
		if last.Turn == d.Turn && last.Call == d.Call && last.Kind == d.Kind {
			last.Text += d.Text
			return said
		}
		break
	}
	return append(said, d)
}

// frames are what is being said, from its beginning.
func (s speech) frames() []frame {
	var out []frame
	for _, said := range s { // order does not matter: each agent for itself
		for i, d := range said {
			d.Anew = i == 0
			out = append(out, liveFrame(d))
		}
	}
	return out
}

func liveFrame(d live.Delta) frame { return frame{flow: d.Flow, text: encode("live", d)} }

// listen hears what is being said in the flow, whenever somebody drives it.
func (p *topic) listen(ctx context.Context) {
	for ctx.Err() == nil {
		p.c.Listen(ctx, p.name, false, p.hear)
		p.hush()
		if !pause(ctx, again/10, nil) || !pause(ctx, again, p.tick) {
			return
		}
	}
}

// hush forgets what was being said: nobody is there who would end it.
func (p *topic) hush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.speech)
}

func (p *topic) hear(d live.Delta) {
	p.mu.Lock()
	p.speech.hear(d)
	p.pending = join(p.pending, d)
	p.mu.Unlock()
	nudge(p.stir)
}

// hand hands live text on, a little later than it is heard and so in larger
// pieces.
func (p *topic) hand(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.stir:
		}
		if !pause(ctx, gather, nil) {
			return
		}
		p.mu.Lock()
		p.flush()
		p.mu.Unlock()
	}
}

// flush hands on what was put together. The topic is locked.
func (p *topic) flush() {
	for _, d := range p.pending {
		f := liveFrame(d)
		for t := range p.tabs {
			t.push(f)
		}
	}
	p.pending = nil
}
