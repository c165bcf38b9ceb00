package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"conclave/internal/event"
	"conclave/internal/tui/list"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// Where keys go at a team: they look and decide, or write.
const (
	atTeam     Where = "a team"
	atTeamNote Where = "what is said to a team"
)

// A teamPage is one way to look at a team.
type teamPage int

const (
	teamFeed teamPage = iota
	teamBoard
	teamMail
	teamFiles
	teamLog
	teamPages
)

func (p teamPage) String() string { return [...]string{"Feed", "Team", "Mail", "Files", "Log"}[p] }

// teamScreen is a team: what its members do and write to one another, who waits for
// whom, the tasks, the files, and a place to speak from. All of it is folded from
// the team's events, so that every window shows the same; what is written and not
// sent, what is unfolded and which member is looked at is the screen's own.
type teamScreen struct {
	visit
	m      *Model
	team   view.Team
	feed   view.TeamFeed
	log    []view.AuditRow // the newest, oldest first
	saying map[event.AgentID]*speech
	files  teamTree

	page  teamPage
	who   event.AgentID // the member that is looked at; empty is everybody
	lists [teamPages]*list.List
	moved [teamPages]bool // the person has moved in it
	shown []int           // the items of the feed that are listed
	next  int             // of the feed, to go on from
	open  map[string]bool // what was unfolded or folded, by its key
	seen  string          // what the lists were made for
	rows  [teamPages][]teamRow

	chips []chip // of the last frame
	tabs  []chip
	above int // lines above the list in the last frame
	width int // of the list
	room  int // lines of the list
	note  teamNote
	// hushed is when a letter was last taken for one of a message to a team that is
	// over.
	hushed time.Time
}

// A chip is a part of the head that can be clicked.
type chip struct {
	x, y, w int
	do      func(*teamScreen)
}

// newTeamScreen shows what is known of a team.
func newTeamScreen(m *Model, t view.Team) *teamScreen {
	s := &teamScreen{
		m: m, team: t, width: max(m.width, 1), room: max(m.height-10, 1), saying: map[event.AgentID]*speech{}, open: map[string]bool{},
	}
	s.visit = newVisit(t.ID, s.hear)
	for p := range teamPages {
		s.lists[p] = list.New()
		s.lists[p].SetSource(teamSource{s, p})
	}
	return s
}

func (s *teamScreen) Full() bool { return true }

func (s *teamScreen) Where() Where {
	if s.note.on {
		return atTeamNote
	}
	return atTeam
}

func (s *teamScreen) Title(m *Model) string {
	return flowTitle(m, "Team", m.texts.of(s.team.Name()), s.state())
}

// state is how it stands, in a word or two.
func (s *teamScreen) state() string {
	switch st := s.team.State(); st {
	case view.TeamTrouble:
		return "cannot go on"
	case view.TeamAsking:
		return "asks you"
	default:
		return st
	}
}

// Typing: letters are text while something is written.
func (s *teamScreen) Typing() bool { return s.note.on }

func (s *teamScreen) list() *list.List { return s.lists[s.page] }

// Scroll moves the page.
func (s *teamScreen) Scroll(n int) {
	s.renew()
	s.moved[s.page] = true
	s.list().Scroll(n)
}

func (s *teamScreen) Update(m *Model, msg tea.Msg) (tea.Cmd, bool) {
	if s.note.on {
		done, used := s.note.field.update(msg)
		if done {
			return s.noted(m), true
		}
		return nil, used
	}
	k, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return nil, false
	}
	s.renew()
	switch k.Keystroke() {
	case "home", "g":
		s.list().Top()
		s.list().Select(-1)
		s.move(1)
	case "end", "G", "shift+g":
		s.list().Bottom()
		s.list().Select(-1)
	case "down", "j":
		s.move(1)
	case "up", "k":
		s.move(-1)
	default:
		return nil, false
	}
	s.moved[s.page] = true
	return nil, true
}

// move marks the next row, or the one before, with which something can be done.
func (s *teamScreen) move(n int) {
	l, was := s.list(), s.list().Selected()
	for {
		at := l.Selected()
		if l.Move(n); l.Selected() == at {
			break
		}
		if r := s.row(s.page, l.Selected()); r.marks() {
			return
		}
	}
	if was < 0 || s.row(s.page, was).marks() {
		l.Select(was) // there is none further on
	}
}

// look turns to a page.
func (s *teamScreen) look(p teamPage) { s.page = (p + teamPages) % teamPages }

// watch looks at one member, or at everybody.
func (s *teamScreen) watch(a event.AgentID) tea.Cmd {
	if s.who == a {
		return nil
	}
	s.who, s.shown, s.next = a, nil, 0
	for _, l := range s.lists {
		l.Select(-1)
	}
	s.lists[teamFeed].Bottom()
	return s.load(s.m)
}

// Click opens a page, looks at a member, or unfolds what is clicked.
func (s *teamScreen) Click(_ *Model, x, y int) tea.Cmd {
	if s.note.on {
		return nil
	}
	for _, c := range slices.Concat(s.tabs, s.chips) {
		if y == c.y && x >= c.x && x < c.x+c.w {
			c.do(s)
			return s.load(s.m)
		}
	}
	if i, _, ok := s.list().At(y - s.above); ok && y >= s.above {
		if s.list().Selected() == i {
			s.fold()
		}
		s.list().Select(i)
	}
	return nil
}

// View draws the head, the page, and how the team stands.
func (s *teamScreen) View(m *Model, width, height int) []string {
	foot := s.foot(m, width, height)
	head := s.head(m, width, height)
	s.above = len(head)
	room := max(height-len(head)-len(foot), 1)
	s.width, s.room = width, room
	s.renew()
	return append(append(head, text.Fit(slices.Clone(s.list().View()), width, room)...), foot...)
}

// head is the pages, the phases, and who is in the team.
func (s *teamScreen) head(m *Model, width, height int) []string {
	out := []string{s.tabLine(m, width)}
	low := height < lowHeight
	if len(s.team.Phases) > 0 && !low {
		out = append(out, s.phaseLine(m, width))
	}
	lines := 2
	if low {
		lines = 1
	}
	out = append(out, s.strip(m, width, len(out), lines)...)
	if !low {
		out = append(out, m.rule(width))
	}
	return out
}

// label is the tab of a page.
func (s *teamScreen) label(p teamPage) string {
	n := 0
	switch p {
	case teamMail:
		n = len(s.team.Mail)
	case teamFiles:
		n = len(s.team.Files)
	}
	if n > 0 {
		return fmt.Sprintf(" %s %d ", p, n)
	}
	return " " + p.String() + " "
}

// tabLine is the pages, and at the right the time and the money.
func (s *teamScreen) tabLine(m *Model, width int) string {
	line := " "
	s.tabs = s.tabs[:0]
	for p := range teamPages {
		style := m.theme.Dim
		if p == s.page {
			style = m.theme.Selected
		}
		word := s.label(p)
		s.tabs = append(s.tabs, chip{text.Width(line), 0, text.Width(word), func(s *teamScreen) { s.look(p) }})
		line += style.Render(word)
	}
	return apartLine(line, m.theme.Dim.Render(s.spent(m)), width)
}

// apartLine is two texts at the ends of a line, the second only if there is room.
func apartLine(left, right string, width int) string {
	if gap := width - text.Width(left) - text.Width(right) - 1; gap > 0 {
		return left + text.Spaces(gap) + right
	}
	return text.Cut(left, width)
}

// spent is what time and money are left and gone.
func (s *teamScreen) spent(m *Model) string {
	var parts []string
	if d := s.team.Deadline; !d.IsZero() {
		at := s.team.Last
		if now := m.o.Now(); m.feed.hears(s.id) && now.After(at) {
			at = now
		}
		parts = append(parts, face(d.Sub(at))+" left")
	} else if w := time.Duration(s.team.Worked); w > 0 {
		parts = append(parts, face(w))
	}
	cost := s.team.Usage.Cost.String()
	if b := s.team.Started.Rules.Budget.Cost; b != nil {
		cost += " of " + b.String()
	}
	if s.team.Unpriced > 0 {
		cost += "+"
	}
	return strings.Join(append(parts, cost), " · ")
}

// phaseMarks are how far a phase is.
var phaseMarks = map[string]string{view.PhaseAhead: "○", view.PhaseNow: "◐", view.PhaseDone: "●", view.PhaseLeft: "✗"}

// phaseLine is "● plan ─ ◐ build ─ ○ test", and how many tasks are done.
func (s *teamScreen) phaseLine(m *Model, width int) string {
	var parts []string
	for _, p := range s.team.Phases {
		style := m.theme.Dim
		switch p.State {
		case view.PhaseNow:
			style = m.theme.Accent
		case view.PhaseDone:
			style = m.theme.Good
		}
		words := phaseMarks[p.State] + " " + view.OneLine(p.Name)
		if p.Tasks > 0 && p.State == view.PhaseNow {
			words += fmt.Sprintf(" %d/%d", p.Done, p.Tasks)
		}
		parts = append(parts, style.Render(words))
	}
	done, all := s.team.Progress()
	right := ""
	if all > 0 {
		right = m.theme.Dim.Render(fmt.Sprintf("%d of %s done", done, plural(all, "task")))
	}
	return apartLine(" "+strings.Join(parts, m.theme.Dim.Render(" ─ ")), right, width)
}

// strip is everybody in the team, with what they do, in at most so many lines.
func (s *teamScreen) strip(m *Model, width, y, most int) []string {
	s.chips = s.chips[:0]
	var out []string
	line := ""
	for i := -1; i < len(s.team.Members); i++ {
		word, style, who := " 0 everybody ", m.theme.Dim, event.AgentID("")
		if i >= 0 {
			x := s.team.Members[i]
			word, style, who = s.chipWords(i, max(width/3, 12)), s.memberStyle(m, x), x.Agent
		}
		if s.who == who {
			style = m.theme.Selected
		}
		w := text.Width(word)
		if line != "" && text.Width(line)+w > width {
			if left := len(s.team.Members) - i; len(out) == most-1 {
				more := fmt.Sprintf(" +%d", left)
				line = text.Cut(line, max(width-text.Width(more), 0)) + m.theme.Dim.Render(more)
				break
			}
			out, line = append(out, line), ""
		}
		s.chips = append(s.chips, chip{text.Width(line), y + len(out), w, func(s *teamScreen) { s.watch(who) }})
		line += style.Render(word)
	}
	out = append(out, line)
	for i, l := range out {
		out[i] = text.Cut(l, width)
	}
	return out
}

// chipWords is a member in the strip: "1 ★ lead waits for pm".
func (s *teamScreen) chipWords(i, width int) string {
	x := s.team.Members[i]
	n := " "
	if i < 9 {
		n = fmt.Sprint(i + 1)
	}
	words := fmt.Sprintf(" %s %s %s", n, text.Clean(x.Avatar), view.OneLine(string(x.Agent)))
	switch {
	case x.State == view.MemberLost:
		words += ": " + x.Word()
	case x.Doing != "":
		words += ": " + view.Shorten(x.Doing, max(width-text.Width(words), 10))
	case x.State != view.MemberIdle || s.team.Ended == nil:
		words += ": " + x.State
	}
	if x.Queued > 0 {
		words += fmt.Sprintf(" ✉%d", x.Queued)
	}
	return words + " "
}

// memberStyle is the look of a member by what it does.
func (s *teamScreen) memberStyle(m *Model, x view.TeamMember) lipgloss.Style {
	switch x.State {
	case view.MemberLost:
		return m.theme.Bad
	case view.MemberAsking:
		return m.theme.Warn
	case view.MemberWorking:
		return s.colour(m, x.Agent)
	}
	return m.theme.Dim
}

// colour is that of a member, wherever it is named.
func (s *teamScreen) colour(m *Model, a event.AgentID) lipgloss.Style {
	for i, x := range s.team.Members {
		if x.Agent == a {
			return m.theme.Agent(i)
		}
	}
	return m.theme.Strong
}

// name is a member as it is named in the feed: with its avatar, in its colour.
func (s *teamScreen) name(m *Model, a event.AgentID) string {
	words := view.OneLine(string(a))
	if x, ok := s.team.Member(a); ok {
		words = text.Clean(x.Avatar) + " " + words
	}
	return s.colour(m, a).Render(words)
}
