package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// runCard is a run in a conversation, from when it is wanted to what it has come
// to: what it is about, who works on it, how it stands, and what can be done.
type runCard struct {
	x    *lane
	want string          // the id of the fact that wants it
	run  view.SessionRun // once it is launched
}

// cardWidth is how wide a card is at most.
const cardWidth = 100

// What can be clicked on a card.
const (
	buttonOpen   = "[Open]"
	buttonCancel = "[Cancel]"
	buttonDecide = "[Decide]"
)

func (r *runCard) key() string { return "card/" + r.want + "/" + string(r.run.ID) }

// wanted is the run as it is wanted, if it is not launched.
func (r *runCard) wanted(m *Model) (view.SessionWant, bool) {
	for _, w := range slices.Backward(m.chat().Wants) {
		if w.ID == r.want && r.run.ID == "" {
			return w, true
		}
	}
	return view.SessionWant{}, false
}

// live is the run as its own events tell it, if this window follows them.
func (r *runCard) live() *story {
	if s := r.x.m.story; s != nil && s.id == r.run.ID && s.seq > 0 {
		return s
	}
	return nil
}

// version changes with how the run stands, and every second while it goes on.
func (r *runCard) version() uint64 {
	m := r.x.m
	if w, ok := r.wanted(m); ok {
		return 1 + uint64(w.Revision)<<8 + bit(w.Open())<<4 + uint64(len(w.Refused)+len(w.Note))<<16
	}
	v := bit(m.pinned(r.pin())) | bit(r.run.Over)<<1
	if s := r.live(); s != nil {
		v |= s.seq << 3
	}
	if !r.run.Over {
		v ^= uint64(r.x.seen.second) << 30
	}
	return v
}

// pin is what is pinned: what the run has come to.
func (r *runCard) pin() string {
	if !r.run.Over {
		return ""
	}
	return "returned/" + string(r.run.ID)
}

func (r *runCard) plain(m *Model) string {
	l := r.launch(m)
	parts := []string{text.Clean(m.texts.of(l.Task))}
	if !l.Context.Empty() {
		parts = append(parts, text.Clean(m.texts.of(l.Context)))
	}
	if w, ok := r.wanted(m); ok && w.Refused != "" {
		parts = append(parts, text.Clean(w.Refused))
	}
	for _, c := range []event.Content{r.run.Answer, event.Inline(r.run.Error)} {
		if !c.Empty() {
			parts = append(parts, text.Clean(m.texts.of(c)))
		}
	}
	return strings.Join(parts, "\n\n")
}

// launch is what is launched or wanted.
func (r *runCard) launch(m *Model) event.Launch {
	if r.run.Launch != nil {
		return *r.run.Launch
	}
	w, _ := r.wanted(m)
	return w.Launch
}

// draw draws the card in a frame, or where there is little room without.
func (r *runCard) draw(b brush) []string {
	t := &b.m.theme
	w := min(b.w, cardWidth)
	inner := brush{m: b.m, story: b.story, w: w - 2, open: b.open, airy: b.airy, all: b.all}
	if !b.airy {
		inner.w = w
	}
	mark, style := r.state(b.m)
	title := text.Cut(mark+" Run: "+view.OneLine(b.of(r.launch(b.m).Task)), max(inner.w-2, 1))
	lines := r.body(inner, style)
	if !b.airy {
		return append([]string{style.Render(title)}, indent(lines)...)
	}
	bar := t.Border.Render("│")
	out := []string{t.Border.Render("╭ ") + style.Render(title) + t.Border.Render(" "+strings.Repeat("─", max(w-4-text.Width(title), 0))+"╮")}
	for _, l := range lines {
		out = append(out, bar+" "+text.Pad(text.Cut(l, w-4), w-4)+" "+bar)
	}
	return append(out, t.Border.Render("╰"+strings.Repeat("─", max(w-2, 0))+"╯"), "")
}

// state is how the run stands, as one character.
func (r *runCard) state(m *Model) (string, lipgloss.Style) {
	t := &m.theme
	if w, ok := r.wanted(m); ok {
		switch {
		case w.Open():
			return "?", t.Warn
		case w.Refused != "":
			return "✗", t.Bad
		}
		return "■", t.Dim
	}
	switch {
	case r.run.ID == "":
		return "○", t.Dim
	case !r.run.Over:
		return "●", t.Accent
	case r.run.Status == event.StatusSuccess:
		return "✓", t.Good
	case r.run.Status == event.StatusCancelled || r.run.Status == event.StatusTimeout:
		return "■", t.Warn
	}
	return "✗", t.Bad
}

// body is what stands below the title.
func (r *runCard) body(b brush, style lipgloss.Style) []string {
	t := &b.m.theme
	room := max(b.w-2, 1)
	var out []string
	say := func(s string, st lipgloss.Style) { out = append(out, b.wrapped(s, st, room)...) }
	if w, ok := r.wanted(b.m); ok {
		say(strings.Join(append([]string{r.wantWords(w)}, launchWords(w.Launch)...), " · "), style)
		switch {
		case w.Refused != "":
			say(w.Refused, t.Dim)
		case w.Note != "":
			say("You said: "+w.Note, t.Dim)
		case w.Open():
			out = append(out, t.Key.Render(buttonDecide)+t.Faint.Render(" (Ctrl+O)"))
		}
		return out
	}
	say(r.standing(b.m), style)
	if r.run.Over {
		out = append(out, r.outcome(b, room)...)
	}
	buttons := t.Key.Render(buttonOpen) + t.Faint.Render(r.openKey(b.m))
	switch {
	case r.run.ID == "" || r.run.Unbegun():
		return out
	case !r.run.Over:
		buttons += "  " + t.Key.Render(buttonCancel) + t.Faint.Render(cancelKey(b.m))
	}
	if b.m.pinned(r.pin()) {
		buttons += "  " + t.Accent.Render("◈ pinned")
	}
	return append(out, text.Cut(buttons, room))
}

// openKey is what opens the run from where the focus is, in brackets.
func (r *runCard) openKey(m *Model) string {
	switch s := &r.x.seen; {
	case s.marked == r.key() || s.ready == r.key():
		return " (Enter)"
	case m.inList:
		return ""
	}
	return " (F6, Enter)"
}

func cancelKey(m *Model) string {
	if m.inList {
		return " (x)"
	}
	return " (Esc)"
}

// readyCard is the key of the card that Enter opens while nothing is typed: that of
// the run that goes on, or of the newest one. A question that waits comes first.
func (m *Model) readyCard() string {
	if m.inList || !m.input.Empty() || len(m.gates()) > 0 {
		return ""
	}
	if r, ok := m.newestCard(); ok {
		return r.key()
	}
	return ""
}

// newestCard is the card of the run that goes on, or else of the newest one.
func (m *Model) newestCard() (*runCard, bool) {
	if m.talk.chat == nil {
		return nil, false
	}
	var newest *runCard
	for _, e := range slices.Backward(m.talk.chat.before) {
		r, ok := e.(*runCard)
		switch {
		case !ok || r.run.ID == "" || r.run.Unbegun():
		case r.run.ID == m.session.Running:
			return r, true
		case newest == nil:
			newest = r
		}
		if newest != nil && !m.runGoesOn() {
			break
		}
	}
	return newest, newest != nil
}

// enterCard opens the run that goes on, or the newest one if its card is in view.
func (m *Model) enterCard() (tea.Cmd, bool) {
	x := m.chatLane()
	r, ok := m.newestCard()
	if !ok {
		return nil, false
	}
	if r.run.ID == m.session.Running {
		return r.open(m), true
	}
	for y := range m.lanes.room {
		if i, _, ok := x.list.At(y); ok && x.entry(i).key() == r.key() {
			return r.open(m), true
		}
	}
	return nil, false
}

// outcome is what the run has come to, as far as it is shown.
func (r *runCard) outcome(b brush, room int) []string {
	t := &b.m.theme
	var out []string
	if r.run.Error != "" {
		out = append(out, b.wrapped(r.run.Error, t.Bad, room)...)
	}
	if !r.run.Answer.Empty() {
		answer := brush{m: b.m, w: room + 2, open: b.open}.markdown(b.of(r.run.Answer))
		if !b.open && len(answer) > foldedCard {
			answer = append(answer[:foldedCard:foldedCard], t.Faint.Render("… "+more(len(answer)-foldedCard)+" ("+b.m.listKey("Space")+")"))
		}
		out = append(out, answer...)
	}
	return out
}

// foldedCard is how many lines of an answer a card shows.
const foldedCard = 3

func (r *runCard) wantWords(w view.SessionWant) string {
	switch {
	case w.Refused != "":
		return "not launched"
	case w.Open():
		s := "waits for your approval"
		if w.Revision > 1 {
			s += fmt.Sprintf(", revision %d", w.Revision)
		}
		if e := w.Estimate; e != nil && e.Cost > 0 {
			s += ", about " + e.Cost.String()
		}
		return s
	}
	return "not approved"
}

// launchWords is who works on a run and how.
func launchWords(l event.Launch) []string {
	var names []string
	for _, a := range l.Agents {
		names = append(names, view.OneLine(string(a)))
	}
	var out []string
	if len(names) > 0 {
		out = append(out, strings.Join(names, ", "))
	}
	switch {
	case l.Plan && l.Execute:
		out = append(out, "plan and execute")
	case l.Plan:
		out = append(out, "plan")
	}
	if l.Quick {
		out = append(out, "no refinement")
	}
	return out
}

// standing is how the run stands: its state, who works on it, the round, the time
// and what it has cost.
func (r *runCard) standing(m *Model) string {
	x, s := r.run, r.live()
	words := []string{r.phase(m, s)}
	if won(x) {
		words = append(words, view.OneLine(string(x.Winner))+" won")
	}
	words = append(words, launchWords(r.launch(m))...)
	if s != nil && s.round() > 0 {
		words = append(words, fmt.Sprintf("round %d", s.round()))
	}
	if took := r.elapsed(m, s); took > 0 {
		words = append(words, face(took))
	}
	switch {
	case x.Over && x.Usage.Tokens() > 0:
		words = append(words, x.Usage.Cost.String())
	case s != nil:
		words = append(words, costWords(s.cost.Total.Cost, s.cost.Total.Unpriced))
	}
	return strings.Join(words, " · ")
}

// won reports whether there was something to win in a run: it has come to its end,
// and several were in it.
func won(r view.SessionRun) bool {
	alone := r.Launch != nil && len(r.Launch.Agents) == 1
	return r.Winner != "" && !alone && r.Status != event.StatusCancelled
}

func (r *runCard) phase(m *Model, s *story) string {
	switch x := r.run; {
	case x.ID == "":
		return "about to be launched"
	case x.Unbegun():
		return "could not begin"
	case x.Over:
		return strings.ToLower(statusWords(x.Status, x.StoppedBy))
	case m.stalled():
		return "stands still (F9 goes on)"
	case s == nil || s.card.Phase == view.PhaseNone:
		return "running"
	case s.over():
		return "ending" // the conversation is about to be told
	case s.card.Paused:
		return "paused"
	}
	return "running, " + string(s.card.Phase)
}

func (r *runCard) elapsed(m *Model, s *story) time.Duration {
	switch x := r.run; {
	case x.Began.IsZero():
		return 0
	case x.Over:
		return x.Ended.Sub(x.Began)
	case s != nil:
		return s.card.Elapsed(m.o.Now())
	default:
		return m.o.Now().Sub(x.Began)
	}
}

// opens reports whether there is something behind the card: the run, or the
// question about it.
func (r *runCard) opens(m *Model) bool {
	if w, ok := r.wanted(m); ok {
		return w.Open() && m.asks(w.Gate)
	}
	return r.run.ID != "" && !r.run.Unbegun()
}

// open shows the run, or the question about it.
func (r *runCard) open(m *Model) tea.Cmd {
	if w, ok := r.wanted(m); ok {
		if g, ok := m.gate(w.Gate); ok {
			m.decide(g)
		}
		return nil
	}
	return m.openRun(r.run)
}

// clickCard does what was clicked on a card, if it was one.
func (m *Model) clickCard(l *lane, x, y int) (tea.Cmd, bool) {
	i, n, ok := l.list.At(y)
	if !ok {
		return nil, false
	}
	c, ok := l.entry(i).(*runCard)
	if !ok {
		return nil, false
	}
	lines := placed{l, c}.Lines(m.width)
	if n >= len(lines) || ansi.Strip(lines[n]) == "" {
		return nil, true
	}
	line := ansi.Strip(lines[n])
	if at := strings.Index(line, buttonCancel); at >= 0 {
		if from := text.Width(line[:at]); x >= from && x < from+len(buttonCancel) {
			m.askCancel(c.run)
			return nil, true
		}
	}
	if !c.opens(m) {
		return nil, false
	}
	return c.open(m), true
}
