package tui

import (
	"conclave/internal/event"
	"conclave/internal/live"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// A row is one entry of a run's timeline: an item of it, or several calls of
// tools together.
type row struct {
	x    *lane
	at   int // index in the timeline
	more []int
	kind view.ItemKind
	name string
	// settled is how many of its calls have returned and will not change again,
	// counted from the first.
	settled int
}

func (r *row) item() view.Item { return r.x.story.timeline.At(r.at) }

func (r *row) key() string { return r.name }

// version changes with what draw would draw.
func (r *row) version() uint64 {
	v := uint64(len(r.more))
	switch r.kind {
	case view.ItemTool:
		return v<<32 | r.states()
	case view.ItemAnswer:
		if r.x.newest == r.at {
			v = 1
		}
	case view.ItemFinal:
		if v = r.x.story.seq << 1; r.x.m.goesOn() {
			v++
		}
	case view.ItemStarted:
		v = uint64(len(r.x.before))
	}
	return v
}

// states changes with the states of the row's calls, and every second while one
// of them runs.
func (r *row) states() uint64 {
	n := 1 + len(r.more)
	v := uint64(0)
	for i := r.settled; i < n; i++ {
		t := r.x.story.timeline.At(r.call(i)).Tool
		if t == nil {
			continue
		}
		switch t.State {
		case view.ToolOK, view.ToolFailed:
			if i == r.settled {
				r.settled++
			}
			v = v*31 + 1
		case view.ToolRunning:
			v = v*31 + 2 + uint64(r.x.seen.second)
		default:
			v = v*31 + 3
		}
	}
	return (v ^ uint64(r.settled)<<20) & (1<<32 - 1)
}

// call is the index in the timeline of the row's i-th call.
func (r *row) call(i int) int {
	if i == 0 {
		return r.at
	}
	return r.more[i-1]
}

// draw draws it as its kind is drawn.
func (r *row) draw(b brush) []string {
	it := r.item()
	if len(r.more) > 0 {
		return b.group(r)
	}
	draw := brush.note
	if k, ok := kinds[it.Kind]; ok {
		draw = k
	}
	return draw(b, it)
}

// kinds says how each kind of item is drawn; what is not in it is a note.
var kinds = map[view.ItemKind]func(brush, view.Item) []string{
	view.ItemStarted:   brush.started,
	view.ItemRound:     brush.round,
	view.ItemThinking:  brush.thinkingItem,
	view.ItemText:      brush.textItem,
	view.ItemTool:      brush.tool,
	view.ItemAnswer:    brush.answer,
	view.ItemVote:      brush.vote,
	view.ItemPresented: brush.presented,
	view.ItemFinal:     brush.final,
	view.ItemMessage:   brush.message,
}

// placed is an entry as the list draws it: with a mark at its left if it is
// selected.
type placed struct {
	x *lane
	entry
}

// Key implements list.Item.
func (p placed) Key() string { return p.key() }

// Version implements list.Item.
func (p placed) Version() uint64 {
	const prime = 1099511628211
	s := &p.x.seen
	v := uint64(14695981039346656037)
	for i := range len(s.theme) {
		v = (v ^ uint64(s.theme[i])) * prime
	}
	for _, on := range [...]bool{s.dark, s.airy, s.inList, p.x.m.isOpen(p.entry), s.marked == p.key(), s.ready == p.key()} {
		v *= prime
		if on {
			v ^= 1
		}
	}
	return (v ^ p.version()) * prime
}

// Lines implements list.Item.
func (p placed) Lines(width int) []string {
	b := p.x.brush(width-1, p.x.m.isOpen(p.entry))
	b.row, _ = p.entry.(*row)
	gutter := " "
	if p.x.seen.marked == p.key() {
		gutter = b.m.theme.Accent.Render("▌")
	}
	if r, ok := p.entry.(*liveRow); ok && r.s.parts[r.part].kind == live.Text {
		return r.framed(b, gutter)
	}
	lines := p.draw(b)
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = text.Cut(gutter+l, width)
	}
	return out
}

// A folding is how rows are that nobody has touched.
type folding int

const (
	byKind folding = iota
	unfolded
	folded
)

// isOpen reports whether an entry shows all it has.
func (m *Model) isOpen(e entry) bool {
	if open, said := m.lanes.toggled[e.key()]; said {
		return open
	}
	switch m.lanes.folding {
	case unfolded:
		return true
	case folded:
		return false
	}
	if u, ok := e.(interface{ unfolded() bool }); ok {
		return u.unfolded()
	}
	r, ok := e.(*row)
	return ok && (r.kind == view.ItemText || r.kind == view.ItemAnswer && r.x.newest == r.at)
}

// agentName is an agent as people read it: by its label and its id.
func agentName(l event.Label, a event.AgentID) string {
	label, id := view.OneLine(string(l)), view.OneLine(string(a))
	switch {
	case label == "" || label == id:
		return id
	case id == "":
		return label
	}
	return label + " (" + id + ")"
}
