package tui

import (
	"slices"
	"strconv"

	"conclave/internal/event"
	"conclave/internal/tui/list"
	"conclave/internal/view"
)

// lanes are the timelines of the window: of each run one of all agents together,
// under the empty name, and one of each agent.
type lanes struct {
	of map[laneID]*lane
	// Where the timeline is on the screen, set when a frame is drawn.
	top, room int
	// toggled is what the person has opened (true) or folded, by the key of a
	// row; what is not in it is as its kind is by itself, or as folding says.
	toggled map[string]bool
	folding folding
	sought  string // what was looked for last
	// news counts what has come, so that a lane knows whether it has it all.
	news uint64
}

type laneID struct {
	flow  event.FlowID
	agent event.AgentID
}

// reset forgets every lane: another run is shown.
func (l *lanes) reset() { l.of = nil }

// changed has every lane take in what has come when it is looked at next.
func (l *lanes) changed() { l.news++ }

// A lane is one timeline as a list: what was said, what happened since, and what
// is being said right now. Between two calls of sync it does not change.
type lane struct {
	m     *Model
	agent event.AgentID
	list  *list.List
	story *story    // nil before there is a run
	chat  *chatRows // of a conversation with one agent; nil for a run

	before  []entry // of the conversation, before the run
	rows    []*row  // of the run's timeline, as far as it has been looked at
	now     []entry // what is being said
	after   []entry // of the conversation, after the run
	next    int     // index in the timeline to go on from
	newest  int     // index in the timeline of the newest answer
	ended   int     // index in rows of the final answer that was not shown yet, or -1
	sized   bool    // it has been drawn
	streams map[streamID]*stream

	// What the rest of it was made for.
	news    uint64
	session uint64
	seen    look
}

// An entry is something in a lane. It may change its lines only with its version.
type entry interface {
	key() string
	version() uint64
	// draw is what it looks like, in lines of at most the brush's width.
	draw(b brush) []string
	// plain is all there is of it as text, to be copied and searched.
	plain(m *Model) string
}

// look is what the lines of all entries depend on besides themselves.
type look struct {
	theme  string
	dark   bool
	airy   bool // there is room for blank lines
	fold   folding
	second int64
	marked string // the key of the entry that is selected
	inList bool   // the timeline has the focus
	ready  string // the key of the card that Enter opens from the input
}

// lane is the timeline of the open tab.
func (m *Model) lane() *list.List { return m.laneOf(m.active()).list }

// laneOf is the timeline of an agent, or with an empty name of all.
func (m *Model) laneOf(a event.AgentID) *lane {
	if m.chatting() {
		return m.chatLane()
	}
	s := m.shown()
	id := laneID{agent: a}
	if s != nil {
		id.flow = s.id
	}
	x, ok := m.lanes.of[id]
	if !ok || x.story != s {
		x = &lane{m: m, agent: a, list: list.New(), story: s, newest: -1, ended: -1}
		x.list.SetSource(x)
		if m.lanes.of == nil {
			m.lanes.of = map[laneID]*lane{}
		}
		m.lanes.of[id] = x
		x.news = m.lanes.news - 1
	}
	x.sync()
	return x
}

// laneView draws the timeline of the open tab.
func (m *Model) laneView(w, h int) []string {
	x := m.laneOf(m.active())
	m.clickable(0, m.lanes.top, w, h, (*Model).clickLane)
	return x.view(w, h)
}

// view draws the lane.
func (x *lane) view(w, h int) []string {
	x.list.SetSize(w, h)
	x.sized = w > 0 && h > 0
	x.conclude()
	return x.list.View()
}

// conclude shows the final answer, when it has come, from its beginning to
// whoever follows.
func (x *lane) conclude() {
	if i := x.ended; i >= 0 && x.sized {
		if x.ended = -1; x.list.Following() {
			x.list.Reveal(len(x.before) + i)
		}
	}
}

// sync brings the lane up to what is known now.
func (x *lane) sync() {
	news, now := x.news != x.m.lanes.news, x.look()
	if !news && now == x.seen {
		return
	}
	x.seen = now
	if news {
		x.news = x.m.lanes.news
		x.update()
	}
	x.list.Changed()
	x.conclude()
}

// update takes in what has come.
func (x *lane) update() {
	if x.chat != nil {
		x.talkOver()
		return
	}
	x.grow()
	x.converse()
	x.now = x.m.liveRows(x, x.now[:0])
}

func (x *lane) look() look {
	m := x.m
	l := look{theme: m.theme.Name, dark: m.theme.Dark, airy: m.height >= lowHeight, fold: m.lanes.folding, second: m.o.Now().Unix(), inList: m.inList}
	if x.chat != nil {
		l.ready = m.readyCard()
	}
	if i := x.list.Selected(); m.inList && i >= 0 && i < x.Len() && (x.chat != nil || x.agent == m.active()) {
		l.marked = x.entry(i).key()
	}
	return l
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
		if it.Kind == view.ItemAnswer {
			x.newest = i
		}
		if it.Kind == view.ItemFinal {
			x.ended = len(x.rows)
		}
		if n := len(x.rows); n > 0 && x.groups(x.rows[n-1], it) {
			x.rows[n-1].more = append(x.rows[n-1].more, i)
			continue
		}
		x.rows = append(x.rows, &row{x: x, at: i, kind: it.Kind, name: string(x.story.id) + "/" + strconv.Itoa(i)})
	}
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
func (x *lane) groups(r *row, it view.Item) bool {
	if it.Kind != view.ItemTool || r.kind != view.ItemTool {
		return false
	}
	before := x.story.timeline.At(r.at)
	return before.Turn == it.Turn && before.Agent == it.Agent
}

// converse takes in what the conversation around the run is.
func (x *lane) converse() {
	seq := x.m.session.Seq + 1
	if x.session == seq {
		return
	}
	x.session = seq
	if x.m.inRun() {
		x.before, x.after = x.m.assigned(x.story), nil
		return
	}
	x.before, x.after = x.m.around(x.story)
}

// Len implements list.Source.
func (x *lane) Len() int { return len(x.before) + len(x.rows) + len(x.now) + len(x.after) }

// entry is the entry at an index.
func (x *lane) entry(i int) entry {
	if i < len(x.before) {
		return x.before[i]
	}
	if i -= len(x.before); i < len(x.rows) {
		return x.rows[i]
	}
	if i -= len(x.rows); i < len(x.now) {
		return x.now[i]
	}
	return x.after[i-len(x.now)]
}

// At implements list.Source.
func (x *lane) At(i int) list.Item { return placed{x, x.entry(i)} }

// selected is the entry that is selected.
func (x *lane) selected() (entry, bool) {
	if i := x.list.Selected(); i >= 0 && i < x.Len() {
		return x.entry(i), true
	}
	return nil, false
}

// forget drops the lanes of a run that is not shown any more.
func (l *lanes) forget(id event.FlowID) {
	for k := range l.of {
		if k.flow == id {
			delete(l.of, k)
		}
	}
}

// indices are the items of a row, the first one first.
func (r *row) indices() []int { return slices.Concat([]int{r.at}, r.more) }
