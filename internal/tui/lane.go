package tui

import (
	"fmt"

	"conclave/internal/event"
	"conclave/internal/tui/list"
	"conclave/internal/view"
)

// lanes are the timelines of the window: one of all agents together, under the
// empty name, and one of each agent.
type lanes struct {
	of map[event.AgentID]*lane
	// Where the timeline is on the screen, set when a frame is drawn.
	top, room int
	// opened and folded is what the person has opened or closed, by the key of a
	// row; what is in neither is as its kind is by itself.
	toggled map[string]bool
}

// reset forgets every lane: another run is shown.
func (l *lanes) reset() { l.of = nil }

// changed has every lane take in what has come.
func (l *lanes) changed() {
	for _, x := range l.of {
		x.list.Changed()
	}
}

// A lane is one timeline as a list: what was said, what happened since, and what
// is being said right now.
type lane struct {
	m     *Model
	agent event.AgentID
	list  *list.List

	story *story
	rows  []row // of the story's timeline, as far as it has been looked at
	next  int   // index in the timeline to go on from
}

// A row is one entry: an item of the timeline, or several of one kind together.
type row struct {
	at   int // index in the timeline
	more []int
}

// lane is the timeline of the open tab.
func (m *Model) lane() *list.List { return m.laneOf(m.active()).list }

// laneOf is the timeline of an agent, or with an empty name of all.
func (m *Model) laneOf(a event.AgentID) *lane {
	if x, ok := m.lanes.of[a]; ok && x.story == m.shown() {
		x.grow()
		return x
	}
	x := &lane{m: m, agent: a, list: list.New(), story: m.shown()}
	x.list.SetSource(x)
	if m.lanes.of == nil {
		m.lanes.of = map[event.AgentID]*lane{}
	}
	m.lanes.of[a] = x
	x.grow()
	return x
}

// laneView draws the timeline of the open tab.
func (m *Model) laneView(w, h int) []string {
	x := m.laneOf(m.active())
	x.list.SetSize(w, h)
	m.clickable(0, m.lanes.top, w, h, (*Model).clickLane)
	return x.list.View()
}

// grow takes in what has come to the timeline.
func (x *lane) grow() {
	if x.story == nil || x.next >= x.story.timeline.Len() {
		return
	}
	for i, it := range x.story.timeline.All(x.next) {
		x.next = i + 1
		if !x.wants(it) {
			continue
		}
		if n := len(x.rows); n > 0 && x.groups(x.rows[n-1], it) {
			x.rows[n-1].more = append(x.rows[n-1].more, i)
			continue
		}
		x.rows = append(x.rows, row{at: i})
	}
	x.list.Changed()
}

// wants reports whether an item belongs in this lane. All together is calm: who
// thinks and which tools are used is in the agents' own.
func (x *lane) wants(it view.Item) bool {
	if x.agent == "" {
		switch it.Kind {
		case view.ItemThinking, view.ItemText, view.ItemTool, view.ItemNews, view.ItemRound:
			return false
		}
		return true
	}
	return it.Agent == x.agent || it.Agent == ""
}

// groups reports whether an item joins the row before it: calls of tools do.
func (x *lane) groups(r row, it view.Item) bool {
	before := x.story.timeline.At(r.at)
	return it.Kind == view.ItemTool && before.Kind == view.ItemTool && before.Turn == it.Turn && before.Agent == it.Agent
}

// before is how many rows come before those of the timeline: the turns of the
// conversation that are over, and what was said to begin this one.
func (x *lane) before() int { return len(x.m.earlier()) }

// Len implements list.Source.
func (x *lane) Len() int { return x.before() + len(x.rows) + len(x.m.liveRows(x)) }

// At implements list.Source.
func (x *lane) At(i int) list.Item {
	if n := x.before(); i < n {
		return x.m.earlier()[i]
	} else if i -= n; i < len(x.rows) {
		return rowItem{x, x.rows[i]}
	}
	return x.m.liveRows(x)[i-len(x.rows)]
}

// rowItem is a row of the timeline as the list draws it.
type rowItem struct {
	x *lane
	row
}

func (r rowItem) item() view.Item { return r.x.story.timeline.At(r.at) }

// Key implements list.Item.
func (r rowItem) Key() string { return fmt.Sprintf("%s/%d", r.x.story.id, r.at) }

// Version implements list.Item: it changes with what Lines would draw.
func (r rowItem) Version() uint64 {
	v := uint64(len(r.more)) << 8
	for _, i := range append([]int{r.at}, r.more...) {
		if t := r.x.story.timeline.At(i).Tool; t != nil && t.State != view.ToolRunning {
			v += 1 << 32
		}
	}
	if r.x.m.isOpen(r) {
		v |= 1
	}
	return v | uint64(r.x.m.themeVersion())<<1
}

// Lines implements list.Item.
func (r rowItem) Lines(width int) []string { return r.x.m.drawRow(r, width) }
