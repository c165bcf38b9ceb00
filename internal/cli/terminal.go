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
	out        io.Writer
	size       func() (int, int)
	paint      paint
	id         event.FlowID
	driving    bool
	everything bool

	timeline view.Timeline
	printed  int
	card     view.Card
	saying   map[event.AgentID]string // the end of what is being said
	message  string
	lines    int // drawn below the scrolled part
	dirty    bool
	closed   bool
}

func newTerminal(e *env, id event.FlowID, driving, everything bool) *terminal {
	return &terminal{
		out: e.Err, size: e.Size, paint: paint(e.Color), id: id, driving: driving, everything: everything,
		saying: map[event.AgentID]string{}, dirty: true,
	}
}

func (t *terminal) event(e event.Event) {
	t.card = t.card.Apply(e)
	t.timeline = t.timeline.Apply(e)
	switch e.Body.(type) {
	case event.Called, event.Failed, event.Interrupted:
		delete(t.saying, e.Agent) // superseded by the fact
	}
	t.dirty = true
}

// tail is how much of what an agent says is kept for its line.
const tail = 400

func (t *terminal) delta(d live.Delta) {
	s := t.saying[d.Agent]
	switch d.Kind {
	case live.Tool:
		s += " [" + d.Text + "] "
	default:
		s += d.Text
	}
	if len(s) > 2*tail {
		s = strings.ToValidUTF8(s[len(s)-tail:], "")
	}
	t.saying[d.Agent] = s
	t.dirty = true
}

func (t *terminal) notice(s string) { t.message, t.dirty = s, true; t.tick() }

// tick draws what has changed. Time passes by itself, so the clock is redrawn
// once a second even if nothing else is.
func (t *terminal) tick() {
	if t.closed {
		return
	}
	t.draw()
}

// close takes the live part away and leaves what has scrolled.
func (t *terminal) close() {
	if t.closed {
		return
	}
	t.closed = true
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
	below := t.below(width)
	if len(below) >= height {
		below = below[:max(height-1, 1)]
	}
	for _, l := range below {
		b.WriteString(l + "\x1b[K\n")
	}
	t.lines = len(below)
	b.WriteString("\x1b[?2026l")
	_, _ = io.WriteString(t.out, b.String())
	t.dirty = false
}

// erase goes back to where the live part begins and clears it.
func (t *terminal) erase(b *strings.Builder) {
	if t.lines > 0 {
		fmt.Fprintf(b, "\x1b[%dA", t.lines)
	}
	b.WriteString("\r\x1b[J")
	t.lines = 0
}

// scroll prints what has happened since.
func (t *terminal) scroll(b *strings.Builder) {
	width, _ := t.size()
	for ; t.printed < t.timeline.Len(); t.printed++ {
		i := t.timeline.At(t.printed)
		if !t.everything && !worthALine(i) {
			continue
		}
		b.WriteString(t.paint.dim(i.At.Local().Format("15:04:05")) + "  " + t.paint.item(i, fit(i.Line(), width-11)) + "\n")
	}
}

// below is the live part, line by line.
func (t *terminal) below(width int) []string {
	out := []string{""}
	for _, l := range t.card.Agents {
		out = append(out, t.agent(l, width))
	}
	sentence := t.card.Ballot.Sentence()
	out = append(out, "", fit(fmt.Sprintf("  %s  %s", clockFace(t.card.Elapsed(time.Now())), sentence), width-1))
	if t.message != "" {
		out = append(out, t.paint.bold(fit("  "+t.message, width-1)))
	} else if t.driving {
		out = append(out, t.paint.dim(fit("  Ctrl-C cancels · Ctrl-C twice leaves it resumable · Ctrl-\\ continues in background", width-1)))
	} else {
		out = append(out, t.paint.dim(fit("  following; Ctrl-C stops following · to end the run: conclave runs cancel "+string(t.id), width-1)))
	}
	return out
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
		mark, doing = "✗", "lost: "+view.OneLine(l.Lost)
	}
	if l.State != view.StateLost && l.Answers > 0 {
		doing += fmt.Sprintf(" · %s", plural(l.Answers, "answer"))
	}
	left := fmt.Sprintf("  %s %-7s %-12s %s", mark, l.Label, view.Shorten(string(l.ID), 12), doing)
	left = fit(left, width-1)
	out := t.paint.state(l.State, left)
	if room := width - 1 - runewidth.StringWidth(left) - 3; room > 12 {
		if s := lastOf(t.saying[l.ID], room); s != "" {
			out += "  " + t.paint.dim(s)
		}
	}
	return out
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
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
