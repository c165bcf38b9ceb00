package tui

import (
	"strconv"
	"strings"

	"conclave/internal/event"
	"conclave/internal/live"
	"conclave/internal/tui/markdown"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// liveRows are what is being said right now: in an agent's own lane its words as
// they come, in that of all a line for each agent at work.
func (m *Model) liveRows(x *lane, out []entry) []entry {
	if x.story == nil || x.story.over() {
		x.streams = nil
		return out
	}
	for i := range x.story.card.Agents {
		a := &x.story.card.Agents[i]
		s := x.story.saying[a.ID]
		switch {
		case x.agent == "" && (a.State == view.StateWorking || a.State == view.StatePresenting):
			out = append(out, &workRow{x: x, agent: a.ID, s: s})
		case x.agent == a.ID && s != nil:
			for i := range s.parts {
				out = append(out, &liveRow{x: x, agent: a.ID, s: s, part: i})
			}
		}
	}
	return out
}

// workRow is a line about an agent at work: what it does, and the end of what it
// says.
type workRow struct {
	x     *lane
	agent event.AgentID
	s     *speech // nil while it says nothing
}

func (r *workRow) key() string { return "work/" + string(r.agent) }

// version changes with what is said and, while it works, every second.
func (r *workRow) version() uint64 {
	v := r.x.story.seq<<32 ^ uint64(r.x.seen.second)
	if r.s != nil {
		v ^= r.s.version << 16
	}
	return v
}

func (r *workRow) plain(*Model) string {
	if r.s == nil {
		return ""
	}
	var s strings.Builder
	for i := range r.s.parts {
		s.WriteString(text.Clean(r.s.parts[i].text.String()) + "\n")
	}
	return s.String()
}

func (r *workRow) draw(b brush) []string {
	t := &b.m.theme
	a, _ := r.x.story.card.Agent(r.agent)
	what := stateWords(a)
	if !a.Since.IsZero() {
		what += " " + face(b.m.o.Now().Sub(a.Since))
	}
	line := b.agent(a.ID, a.Label) + " " + t.Dim.Render(what)
	if said := r.tail(b.w); said != "" {
		if room := b.w - 2 - text.Width(line) - 2; room >= 12 {
			line += "  " + t.Faint.Render(text.CutLeft(said, room))
		}
	}
	return []string{b.head("●", t.Accent, line)}
}

// tail is the end of what the agent says, on one line.
func (r *workRow) tail(w int) string {
	if r.s == nil || len(r.s.parts) == 0 {
		return ""
	}
	p := &r.s.parts[len(r.s.parts)-1]
	s := p.text.String()
	s = view.OneLine(strings.ToValidUTF8(s[max(len(s)-8*w, 0):], ""))
	switch p.kind {
	case live.Tool:
		return "→ " + toolName(s)
	case live.Thinking:
		return "∴ " + s
	}
	return s
}

// liveRow is a stretch of what an agent says. It looks as it will when the fact
// that ends it has come.
type liveRow struct {
	x     *lane
	agent event.AgentID
	s     *speech
	part  int
}

func (r *liveRow) key() string { return "live/" + string(r.agent) + "/" + strconv.Itoa(r.part) }

// version changes with what is said: of the last stretch with every piece, of
// those before it not any more.
func (r *liveRow) version() uint64 {
	p := &r.s.parts[r.part]
	return uint64(p.text.Len())<<16 ^ r.s.gen<<40 ^ uint64(len(p.kind))<<60
}

func (r *liveRow) plain(*Model) string { return text.Clean(r.s.parts[r.part].text.String()) }

func (r *liveRow) draw(b brush) []string {
	p := &r.s.parts[r.part]
	t := &b.m.theme
	switch p.kind {
	case live.Thinking:
		return b.thinking(p.text.String())
	case live.Tool:
		u := purposeOf(p.text.String())
		return []string{b.head("●", t.Accent, u.style(t).Render(u.mark+" "+view.OneLine(toolName(p.text.String()))))}
	}
	return r.framed(b, "")
}

// framed is the stretch as it stands in the lane, behind a gutter. What has been
// drawn of a text that grows is not drawn again.
func (r *liveRow) framed(b brush, gutter string) []string {
	lines := r.x.stream(r).lines(r.s.parts[r.part].text.String(), b, gutter)
	return b.apart(lines[:len(lines):len(lines)])
}

// streamID names a stretch of live text.
type streamID struct {
	agent event.AgentID
	gen   uint64 // of what it says
	part  int
	theme string
}

// A stream is Markdown that is drawn while it comes.
type stream struct {
	md   *markdown.Stream
	have int // bytes
	// What was drawn last, and from what.
	width  int
	gutter string
	from   []string
	drawn  []string
}

// stream is that of a row. Those of what was said before are forgotten.
func (x *lane) stream(r *liveRow) *stream {
	id := streamID{r.agent, r.s.gen, r.part, x.m.theme.Name + strconv.FormatBool(x.m.theme.Dark)}
	if s, ok := x.streams[id]; ok {
		return s
	}
	if x.streams == nil {
		x.streams = map[streamID]*stream{}
	}
	for k := range x.streams {
		if k.agent == r.agent && (k.gen != id.gen || k.theme != id.theme) {
			delete(x.streams, k)
		}
	}
	s := &stream{md: markdown.NewStream(x.m.theme)}
	x.streams[id] = s
	return s
}

// lines are all that has come, with a mark before the first. They hold until more
// has come.
func (s *stream) lines(all string, b brush, gutter string) []string {
	if s.have < len(all) {
		s.md.Append(all[s.have:])
		s.have = len(all)
	}
	if s.width != b.w || s.gutter != gutter {
		s.width, s.gutter, s.from, s.drawn = b.w, gutter, nil, nil
	}
	now := s.md.Lines(b.inner())
	for i, l := range now {
		switch {
		case i < len(s.from) && s.from[i] == l:
			continue
		case i < len(s.from):
			s.from[i] = l
		default:
			s.from, s.drawn = append(s.from, l), append(s.drawn, "")
		}
		mark := " "
		if i == 0 {
			mark = b.m.theme.Dim.Render("•")
		}
		s.drawn[i] = text.Cut(gutter+mark+" "+l, b.w+text.Width(gutter))
	}
	s.from, s.drawn = s.from[:len(now)], s.drawn[:len(now)]
	return s.drawn
}
