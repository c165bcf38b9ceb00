package tui

import (
	"fmt"
	"strings"
	"time"

	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// A pinnable is an entry that can be pinned, by the id of the fact that says it.
type pinnable interface{ pin() string }

// pinned reports whether something said stays word for word.
func (m *Model) pinned(id string) bool { return id != "" && m.session.Pinned(id) }

// bit is one bit of a version.
func bit(on bool) uint64 {
	if on {
		return 1
	}
	return 0
}

// chatSaid is something the person has said: at the right, in a bubble.
type chatSaid struct {
	x      *lane
	id     string
	at     time.Time
	text   event.Content
	images []string
	by     string
}

func (r *chatSaid) key() string           { return "said/" + r.id }
func (r *chatSaid) version() uint64       { return bit(r.x.m.pinned(r.id)) }
func (r *chatSaid) plain(m *Model) string { return m.texts.of(r.text) }
func (r *chatSaid) pin() string           { return r.id }

func (r *chatSaid) draw(b brush) []string {
	t := &b.m.theme
	who := view.Speaker(r.by)
	if b.airy && !r.at.IsZero() {
		who += " · " + r.at.In(b.m.o.Now().Location()).Format("15:04")
	}
	if b.m.pinned(r.id) {
		who += " · ◈ pinned"
	}
	inner := bubbleWidth(b.w)
	lines := b.fold(b.wrapped(b.of(r.text), t.Text, inner), foldedAnswer)
	for _, i := range r.images {
		lines = append(lines, t.Dim.Render(text.CutLeft("image: "+view.OneLine(i), inner)))
	}
	return b.apart(b.right(who, lines, inner))
}

// bubbleWidth is how wide the words of a person may be in a conversation.
func bubbleWidth(w int) int { return max(w*3/4-2, min(w-2, 16), 1) }

// right puts lines at the right end, below a head, with a bar behind them: in a
// block as wide as the widest of them.
func (b brush) right(head string, lines []string, inner int) []string {
	t := &b.m.theme
	wide := 0
	for _, l := range lines {
		wide = max(wide, text.Width(l))
	}
	wide = min(wide, inner)
	out := []string{text.Spaces(max(b.w-text.Width(head)-2, 0)) + t.User.Render(text.Cut(head, b.w)+" ╷")}
	left := text.Spaces(max(b.w-wide-2, 0))
	for _, l := range lines {
		out = append(out, left+text.Pad(l, wide)+" "+t.User.Render("┃"))
	}
	return out
}

// chatText is something the agent has said: at the left.
type chatText struct {
	x    *lane
	id   string
	text event.Content
}

func (r *chatText) key() string           { return "text/" + r.id }
func (r *chatText) version() uint64       { return bit(r.x.m.pinned(r.id)) }
func (r *chatText) plain(m *Model) string { return m.texts.of(r.text) }
func (r *chatText) pin() string           { return r.id }
func (r *chatText) unfolded() bool        { return true }

func (r *chatText) draw(b brush) []string {
	t := &b.m.theme
	mark := t.Dim.Render("•")
	lines := b.fold(b.markdown(b.of(r.text)), foldedAnswer)
	if b.m.pinned(r.id) {
		mark = t.Accent.Render("◈")
		lines = append(lines[:len(lines):len(lines)], t.Accent.Render("pinned"))
	}
	return b.apart(hang(mark, lines))
}

// chatThought is what the agent thought before it said or did something.
type chatThought struct {
	id   string
	text event.Content
}

func (r *chatThought) key() string           { return "thought/" + r.id }
func (r *chatThought) version() uint64       { return 0 }
func (r *chatThought) plain(m *Model) string { return m.texts.of(r.text) }
func (r *chatThought) draw(b brush) []string { return b.thinking(b.of(r.text)) }

// chatTools are calls of tools, one after the other.
type chatTools struct {
	x     *lane
	steps []view.SessionStep
	over  bool // the turn is
}

func (r *chatTools) key() string { return "tools/" + r.steps[0].ID }

// version changes with what has returned, and every second while something has
// not.
func (r *chatTools) version() uint64 {
	v := uint64(len(r.steps))
	for i := range r.steps {
		if s := &r.steps[i]; s.Done {
			v = v*31 + 1 + bit(s.Error)
		} else {
			v = v*31 + 3 + bit(r.over)
		}
	}
	if last := r.steps[len(r.steps)-1]; !last.Done && !r.over {
		v ^= uint64(r.x.seen.second) << 20
	}
	return v
}

func (r *chatTools) items(m *Model) []view.Item {
	out := make([]view.Item, 0, len(r.steps))
	for _, s := range r.steps {
		out = append(out, stepItem(m, s, r.over))
	}
	return out
}

// stepItem is a call as an entry of a timeline.
func stepItem(m *Model, s view.SessionStep, over bool) view.Item {
	state := view.ToolRunning
	switch {
	case s.Done && s.Error:
		state = view.ToolFailed
	case s.Done:
		state = view.ToolOK
	case over:
		state = view.ToolUnknown
	}
	return view.Item{Kind: view.ItemTool, At: s.At, Detail: s.Result,
		Tool: &view.ToolUse{Call: s.Call, Name: s.Tool, Input: m.texts.of(s.Input), State: state, Ended: s.Ended}}
}

func (r *chatTools) draw(b brush) []string {
	items := r.items(b.m)
	if len(items) == 1 {
		return b.apart(b.tool(items[0]))
	}
	return b.apart(b.calls(items))
}

func (r *chatTools) plain(m *Model) string {
	var out []string
	for _, it := range r.items(m) {
		out = append(out, fmt.Sprintf("%s (%s)\n\n%s\n%s", text.Clean(toolName(it.Tool.Name)), it.Tool.State, text.Clean(prettyArguments(it.Tool.Input)), text.Clean(m.texts.of(it.Detail))))
	}
	return strings.Join(out, "\n\n")
}

// noteFailed is the kind of a note about a turn that failed.
const noteFailed view.StepKind = "failed"

// chatNote is something that happened, in a line or a few.
type chatNote struct {
	x    *lane
	step view.SessionStep
}

func (r *chatNote) key() string           { return "note/" + r.step.ID }
func (r *chatNote) version() uint64       { return uint64(len(r.x.m.chat().Pins)) }
func (r *chatNote) plain(m *Model) string { return m.texts.of(r.step.Text) }

func (r *chatNote) draw(b brush) []string {
	t := &b.m.theme
	mark, style, words := "·", t.Dim, view.OneLine(b.of(r.step.Text))
	var below []string
	switch r.step.Kind {
	case noteFailed:
		mark, style = "✗", t.Bad
		words = b.m.partnerName() + " has not finished: " + words
		below = b.wrapped("Say how to go on, or say it again: ↑ brings back what you said.", t.Dim, b.inner())
	case view.StepCompacted:
		return b.apart(r.compacted(b))
	case view.StepOpened:
		mark, words = "▸", openedWords(words, view.OneLine(r.step.By))
	case view.StepPublished:
		mark, style, words = "✎", t.Good, publishedWords(r.step.Published, words)
	}
	if r.step.Error {
		mark, style = "!", t.Warn
	}
	if !b.open {
		words = view.Shorten(words, 400)
	}
	lines := hang(style.Render(mark), text.Wrap(style.Render(words), b.inner()))
	return b.apart(append(lines, indent(below)...))
}

func openedWords(project, who string) string {
	if who != "" {
		who = " (" + who + ")"
	}
	if project == "" {
		return "No project is open any more" + who + "."
	}
	return "Project " + project + " is open" + who + "."
}

func publishedWords(p *event.Published, note string) string {
	if p == nil {
		return note
	}
	s := fmt.Sprintf("%s, version %d, is in project %s.", view.OneLine(p.Path), p.Version, view.OneLine(p.Project))
	if note != "" {
		s += " " + note
	}
	return s
}

func pinsStay(n int) string {
	if n == 1 {
		return "1 pinned stays"
	}
	return fmt.Sprintf("%d pinned stay", n)
}

// compacted says that what was said before is put into fewer words; open, it has
// those.
func (r *chatNote) compacted(b brush) []string {
	t := &b.m.theme
	words := "Earlier messages were put into fewer words for " + b.m.partnerName()
	if n := len(b.m.chat().Pins); n > 0 {
		words += "; " + pinsStay(n)
	}
	if !b.open {
		words += " (" + b.m.listKey("Enter") + ": the summary)"
	}
	lines := hang(t.Dim.Render("≈"), text.Wrap(t.Dim.Render(words+"."), b.inner()))
	if b.open {
		lines = append(lines, indent(b.wrapped(b.of(r.step.Text), t.Dim, b.inner()))...)
	}
	return lines
}

// chatWork says that the agent is at work and says nothing yet.
type chatWork struct{ x *lane }

func (r *chatWork) key() string         { return "work" }
func (r *chatWork) version() uint64     { return uint64(r.x.seen.second) }
func (r *chatWork) plain(*Model) string { return "" }

func (r *chatWork) draw(b brush) []string {
	t := &b.m.theme
	words := " is at work"
	switch {
	case b.m.stalled():
		words = " stands still (F9 goes on)"
	case b.m.session.State() == view.SessionProcessing:
		words = " reads what the run has come to"
	}
	if since := b.m.o.Now().Sub(b.m.session.Last); since >= time.Second && !b.m.session.Last.IsZero() {
		words += " " + face(since)
	}
	return b.apart([]string{b.head("●", t.Accent, t.Agent(0).Render(b.m.partnerName())+t.Dim.Render(words))})
}
