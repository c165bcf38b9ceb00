package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"conclave/internal/event"
	"conclave/internal/live"
	"conclave/internal/view"
)

// terminal is the live display: what has happened scrolls by above, and below
// it stand the agents and what each is saying right now. It is drawn on the
// error stream, at most ten times a second.
type terminal struct {
	out     io.Writer
	size    func() (int, int)
	paint   paint
	id      event.FlowID
	driving bool

	feed    feed
	lines   []view.Item // that have not scrolled by yet
	asked   []string    // questions, likewise
	card    view.Card
	saying  speeches // the end of what is being said
	message string
	drawn   int       // lines below the scrolled part
	shown   time.Time // the second that the clock shows
	dirty   bool
	closed  bool
}

func newTerminal(e *env, id event.FlowID, driving bool, f feed) *terminal {
	return &terminal{
		out: e.Err, size: e.Size, paint: paint(e.Color), id: id, driving: driving, feed: f,
		saying: speeches{}, dirty: true,
	}
}

func (t *terminal) open(first event.Event, s view.Snapshot) {
	t.card = s.Card
	t.feed.begin(first)
}

func (t *terminal) event(e event.Event) {
	t.card = t.card.Apply(e)
	t.lines = append(t.lines, t.feed.take(e)...)
	t.saying.ended(e)
	t.dirty = true
}

// tail is how much of what an agent says is kept for its line.
const tail = 400

func (t *terminal) delta(d live.Delta) {
	text := d.Text
	if d.Kind == live.Tool {
		text = " [" + d.Text + "] "
	}
	now, _ := t.saying.hear(d, text)
	if s := now.text; len(s) > 2*tail {
		t.saying.keep(d.Agent, strings.ToValidUTF8(s[len(s)-tail:], ""))
	}
	t.dirty = true
}

func (t *terminal) notice(s string) {
	t.message, t.dirty = s, true
	t.tick()
}

// ask has the question scroll by like everything that has happened: nothing of
// it is left out for want of room.
func (t *terminal) ask(s string) {
	t.asked, t.dirty = append(t.asked, s), true
	t.tick()
}

// tick draws what has changed. Time passes by itself, so the clock is redrawn
// once a second even if nothing else is.
func (t *terminal) tick() {
	now := time.Now().Truncate(time.Second)
	if t.closed || !t.dirty && now.Equal(t.shown) {
		return
	}
	t.shown = now
	t.draw()
}

// close takes the live part away and leaves what has scrolled.
func (t *terminal) close() {
	if t.closed {
		return
	}
	t.closed = true
	t.lines = append(t.lines, t.feed.rest()...)
	var b strings.Builder
	t.erase(&b)
	t.scroll(&b)
	_, _ = io.WriteString(t.out, b.String())
}

func (t *terminal) draw() {
	var b strings.Builder
	b.WriteString("\x1b[?2026h") // one frame, where the terminal knows how
	t.erase(&b)
	t.scroll(&b)
	width, height := t.size()
	below := t.below(width, max(height-1, 1))
	for _, l := range below {
		b.WriteString(l + "\x1b[K\n")
	}
	t.drawn = len(below)
	b.WriteString("\x1b[?2026l")
	_, _ = io.WriteString(t.out, b.String())
	t.dirty = false
}

// erase goes back to where the live part begins and clears it.
func (t *terminal) erase(b *strings.Builder) {
	if t.drawn > 0 {
		fmt.Fprintf(b, "\x1b[%dA", t.drawn)
	}
	b.WriteString("\r\x1b[J")
	t.drawn = 0
}

// scroll prints what has happened since.
func (t *terminal) scroll(b *strings.Builder) {
	width, _ := t.size()
	for _, i := range t.lines {
		b.WriteString(t.paint.dim(when(i).Local().Format("15:04:05")) + "  " + t.paint.item(i, fit(i.Line(), width-11)) + "\n")
	}
	for _, q := range t.asked {
		for l := range strings.SplitSeq(q, "\n") {
			b.WriteString(t.paint.bold(l) + "\n")
		}
	}
	t.lines, t.asked = nil, nil
}

// below is the live part, line by line. In a low terminal the empty lines go
// first and then the agents, from the last: how the run stands comes before who
// does what.
func (t *terminal) below(width, height int) []string {
	foot := []string{fit(fmt.Sprintf("  %s  %s", clockFace(t.card.Elapsed(time.Now())), t.card.Ballot.Sentence()), width-1)}
	foot = append(foot, t.hint(width)...)
	foot = foot[:min(len(foot), height)]
	room := height - len(foot)
	var out []string
	for _, l := range t.card.Agents[:min(len(t.card.Agents), room)] {
		out = append(out, t.agent(l, width))
	}
	if len(out) > 0 && len(out)+2 <= room {
		out = append([]string{""}, append(out, "")...)
	}
	return append(out, foot...)
}

// hint is what can be done now, or what has just been.
func (t *terminal) hint(width int) []string {
	text, style := t.message, t.paint.bold
	if text == "" {
		style = t.paint.dim
		text = "Following; Ctrl-C stops following · to end the run: conclave runs cancel " + string(t.id)
		if t.driving {
			text = "Ctrl-C cancels · Ctrl-C twice leaves it resumable · Ctrl-\\ continues in background"
		}
	}
	var out []string
	for _, l := range wrap(text, width-3) {
		out = append(out, style("  "+l))
	}
	return out
}

// wrap breaks a text between words.
func wrap(s string, columns int) []string {
	var out []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		if line != "" && runewidth.StringWidth(line)+1+runewidth.StringWidth(word) > columns {
			out = append(out, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += fit(word, columns)
	}
	return append(out, line)
}

// agent is one agent's line: a mark, its names, what it does, what it says.
func (t *terminal) agent(l view.AgentLine, width int) string {
	mark, doing := "·", string(l.State)
	switch l.State {
	case view.StateWorking:
		mark, doing = "●", fmt.Sprintf("round %d", l.Round)
		if tool, ok := l.Tool(); ok {
			doing += ", " + view.OneLine(tool.Name)
		}
	case view.StatePresenting:
		mark, doing = "●", "writes the final answer"
	case view.StateVoted:
		mark, doing = "✓", "voted for "+string(l.VoteFor)
	case view.StateLost:
		mark, doing = "✗", l.Gone()
	}
	if l.State != view.StateLost && l.Answers > 0 {
		doing += fmt.Sprintf(" · %s", plural(l.Answers, "answer"))
	}
	left := fmt.Sprintf("  %s %-7s %-12s %s", mark, l.Label, view.Shorten(string(l.ID), 12), doing)
	left = fit(left, width-1)
	out := t.paint.state(l.State, left)
	if room := width - 1 - runewidth.StringWidth(left) - 3; room > 12 {
		if s := lastOf(t.saying[l.ID].text, room); s != "" {
			out += "  " + t.paint.dim(s)
		}
	}
	return out
}

// plural counts things, regular ones unless many is given.
func plural(n int, one string, many ...string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, strings.Join(append(many, one+"s")[:1], ""))
}

func clockFace(d time.Duration) string {
	d = d.Truncate(time.Second)
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

// fit cuts a line to the columns there are.
func fit(s string, columns int) string {
	return runewidth.Truncate(s, max(columns, 1), "…")
}

// lastOf is the end of a text on one line.
func lastOf(s string, columns int) string {
	s = view.OneLine(s)
	if w := runewidth.StringWidth(s); w > columns {
		return runewidth.TruncateLeft(s, w-columns+1, "…")
	}
	return s
}
