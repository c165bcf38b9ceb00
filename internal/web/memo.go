package web

import (
	"context"
	"sync"

	"conclave/internal/event"
	"conclave/internal/view"
)

// Pages ask again whenever something happens, so what was worked out for one answer
// is kept for the next. All of it can be worked out anew at any time.

// memos is what a server keeps at hand.
type memos struct {
	mu      sync.Mutex
	html    map[event.Hash]rendering
	size    int
	stories map[event.FlowID]story
	recent  []event.FlowID // of stories, the newest last
}

func newMemos() *memos {
	return &memos{html: map[event.Hash]rendering{}, stories: map[event.FlowID]story{}}
}

// How much is kept: bytes of rendered text, and stories.
const (
	mostRendered = 16 << 20
	mostStories  = 16
)

// render is render, once for each text.
func (s *Server) render(text string) rendering {
	if len(text) < 64 {
		return render(text)
	}
	m, k := s.memos, event.HashOf([]byte(text))
	m.mu.Lock()
	out, ok := m.html[k]
	m.mu.Unlock()
	if ok {
		return out
	}
	out = render(text)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.size += len(out.HTML); m.size > mostRendered {
		clear(m.html)
		m.size = len(out.HTML)
	}
	m.html[k] = out
	return out
}

// A story is what is folded from all of a flow's log besides its snapshot. Its
// folds are persistent, so it can be shared and gone on with.
type story struct {
	seq      uint64
	timeline view.Timeline
	answers  view.Answers
	// Of a team: what people follow it by.
	isTeam bool
	feed   view.TeamFeed
	// Of a companion: the job it is about, or as it is outlined.
	job      event.FlowID
	outlined []event.Outlined
}

// apply returns the story after one more event.
func (y story) apply(e event.Event) story {
	y.seq = e.Seq
	if _, begins := e.Body.(event.TeamStarted); begins || y.isTeam {
		y.isTeam, y.feed = true, y.feed.Apply(e)
		return y
	}
	y.timeline, y.answers = y.timeline.Apply(e), y.answers.Apply(e)
	switch b := e.Body.(type) {
	case event.SessionStarted:
		y.job = b.Job
	case event.Linked:
		y.job = b.Job
	case event.Outlined:
		y.outlined = append(y.outlined[:len(y.outlined):len(y.outlined)], b)
	}
	return y
}

// story is that of a flow as far as its snapshot, read from where it was known.
func (s *Server) story(ctx context.Context, now view.Snapshot) (story, error) {
	id := idOf(now)
	y := s.memos.recall(id, now.Seq)
	if y.seq >= now.Seq {
		return y, nil
	}
	for e, err := range s.Control.Follow(ctx, id, y.seq+1) {
		if err != nil {
			return y, err
		}
		if y = y.apply(e); e.Seq >= now.Seq {
			break
		}
	}
	s.memos.keep(id, y)
	return y, nil
}

// recall is what is known of a flow, if that is not more than was asked for.
func (m *memos) recall(id event.FlowID, most uint64) story {
	m.mu.Lock()
	defer m.mu.Unlock()
	if y, ok := m.stories[id]; ok && y.seq <= most {
		return y
	}
	return story{}
}

func (m *memos) keep(id event.FlowID, y story) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.stories[id]; !ok {
		if m.recent = append(m.recent, id); len(m.recent) > mostStories {
			delete(m.stories, m.recent[0])
			m.recent = m.recent[1:]
		}
	}
	if m.stories[id].seq < y.seq {
		m.stories[id] = y
	}
}
