package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/live"
	"conclave/internal/view"
)

// teamScreen prints what happens in a team: banners when somebody begins and ends a
// turn, messages as cards, what was looked at in one line, and how far the phases
// are. It looks the same in a file and on a terminal, but for colours.
type teamScreen struct {
	out, err io.Writer
	paint    paint
	texts    feed // for the beginnings of larger texts
	team     view.Team
	feed     view.TeamFeed
	next     int   // the first item that was not looked at
	growing  []int // items that are not complete yet
	phases   string
	width    func() int // of the terminal; zero if there is none
}

func newTeamScreen(ctx context.Context, c control.Control, e *env, out io.Writer) *teamScreen {
	width := func() int { return 0 }
	if out == e.Err && e.ErrTerminal || out == e.Out && e.OutTerminal {
		width = func() int { w, _ := e.Size(); return w }
	}
	return &teamScreen{out: out, err: e.Err, paint: paint(e.Color), texts: newFeed(ctx, c, false), width: width}
}

// open begins with a team as far as it has come; what was is not told again.
func (s *teamScreen) open(first event.Event, now view.Snapshot) {
	s.feed = s.feed.Apply(s.texts.preview(first))
	s.next = s.feed.Len()
	if now.Team != nil {
		s.team = *now.Team
		s.progress()
	}
}

func (s *teamScreen) event(e event.Event) {
	e = s.texts.preview(e)
	s.team, s.feed = s.team.Apply(e), s.feed.Apply(e)
	for ; s.next < s.feed.Len(); s.next++ {
		s.growing = append(s.growing, s.next)
	}
	s.growing = slices.DeleteFunc(s.growing, func(i int) bool {
		done := s.complete(i)
		if done {
			s.item(s.feed.At(i))
		}
		return done
	})
	s.progress()
}

// complete reports whether an item will not change any more: of tools that is when
// their member has gone on to something else.
func (s *teamScreen) complete(at int) bool {
	i := s.feed.At(at)
	switch i.Kind {
	case view.FeedTool:
		return !i.Until.IsZero() || s.goneOn(at, i.Agent)
	case view.FeedLook:
		return s.goneOn(at, i.Agent)
	}
	return true
}

func (s *teamScreen) goneOn(at int, who event.AgentID) bool {
	for _, later := range s.feed.All(at + 1) {
		if later.Agent == who {
			return true
		}
	}
	return false
}

// item prints one thing that happened.
func (s *teamScreen) item(i view.FeedItem) {
	at := i.At.Local().Format("15:04:05")
	who := s.face(i.Agent)
	line := strings.TrimSpace(who + " " + view.OneLine(i.Title))
	switch i.Kind {
	case view.FeedTurn:
		s.print(at+" ", "━━ "+line+s.role(i.Agent), s.paint.bold)
		return
	case view.FeedOver:
		line = "── " + line
	case view.FeedCard:
		s.card(at, i)
		return
	case view.FeedText:
		s.print(at+"    ", who+" » "+view.Shorten(i.Text.Text, longestSaid), nil)
		return
	case view.FeedTool:
		at, line = at+"   ", strings.TrimSpace(who+" "+toolWords(i))
	case view.FeedLook:
		at += "   "
	default:
		at += "   "
		if text := view.OneLine(i.Text.Text); text != "" && i.Kind != view.FeedMember {
			line += ": " + view.Shorten(text, longestSaid)
		}
	}
	s.print(at+" ", line, func(line string) string { return s.tint(i, line) })
}

// toolDone are tools by what was done with them once they have succeeded.
var toolDone = map[string]string{
	"write": "wrote", "write_file": "wrote", "writefile": "wrote",
	"edit": "edited", "edit_file": "edited", "multiedit": "edited", "replace": "edited",
}

// toolWords is a use of a tool that is over: "wrote requirements.md", or "finish
// failed: qa is not done".
func toolWords(i view.FeedItem) string {
	if len(i.Uses) != 1 {
		return view.OneLine(i.Title)
	}
	u := i.Uses[0]
	switch did := toolDone[strings.ToLower(u.Name)]; {
	case u.State == view.ToolFailed:
		return view.Shorten(strings.TrimSuffix(view.OneLine(i.Title+" failed: "+u.Result), ":"), longestSaid)
	case u.State == view.ToolOK && u.What != "" && did != "":
		return view.OneLine(did + " " + u.What)
	}
	return view.OneLine(i.Title)
}

// print prints a text after what leads it in, on a terminal in as many lines as it
// takes, which begin below one another and end with a word.
func (s *teamScreen) print(lead, text string, tint func(string) string) {
	lines := []string{text}
	if room := s.width() - ansi.StringWidth(lead) - 1; room >= narrowest && ansi.StringWidth(text) > room {
		lines = wrap(text, room)
	}
	bar := strings.HasSuffix(lead, cardBar)
	for _, l := range lines {
		if tint != nil {
			l = tint(l)
		}
		fmt.Fprintln(s.out, lead+l)
		if !bar {
			lead = strings.Repeat(" ", ansi.StringWidth(lead))
		}
	}
}

// narrowest is the room below which lines are left to the terminal to break.
const narrowest = 20

// cardBar is at the side of the text of a message.
const cardBar = "│ "

// longestSaid is how much of a text is shown on one line.
const longestSaid = 160

// tint colours a line by how it went.
func (s *teamScreen) tint(i view.FeedItem, line string) string {
	switch {
	case i.Bad:
		return s.paint.red(line)
	case i.Kind == view.FeedMerge, i.Kind == view.FeedTeam:
		return s.paint.green(line)
	case i.Kind == view.FeedLook, i.Kind == view.FeedTool, i.Kind == view.FeedCommit:
		return s.paint.dim(line)
	}
	return line
}

// cardLines is how much of a message is shown.
const cardLines = 8

// card prints a message: who to whom, about what, and the beginning of its text.
func (s *teamScreen) card(at string, i view.FeedItem) {
	from := s.face(i.Agent)
	if i.Agent == "" {
		from = sender(view.TeamMail{Kind: i.Sort})
	}
	var to []string
	for _, a := range i.To {
		to = append(to, s.face(a))
	}
	about := i.Sort
	if about == view.MailPerson {
		about = "message"
	}
	if i.Task != "" {
		about = strings.TrimSpace(strings.Join([]string{i.Sort, view.OneLine(i.Task), string(i.State)}, " "))
	}
	head := fmt.Sprintf("✉ %s → %s  %s", from, strings.Join(to, ", "), about)
	tint := s.paint.yellow
	if i.Bad {
		tint = s.paint.red
	}
	s.print(at+"    ", head, tint)
	side := strings.Repeat(" ", 12) + cardBar
	lines := strings.Split(strings.TrimSpace(view.Clean(i.Text.Text)), "\n")
	for n, l := range lines {
		if n == cardLines {
			s.print(side, "… "+plural(len(lines)-n, "line")+" more", nil)
			break
		}
		s.print(side, view.Shorten(l, longestSaid), nil)
	}
	if len(i.Files) > 0 {
		s.print(side, "files: "+view.Shorten(strings.Join(i.Files, ", "), longestSaid), nil)
	}
}

// progress prints how far the phases are, when that has changed.
func (s *teamScreen) progress() {
	if now := phaseLine(s.team); now != s.phases {
		s.phases = now
		s.print(strings.Repeat(" ", 9), now, nil)
	}
}

func (s *teamScreen) member(a event.AgentID) (view.TeamMember, bool) {
	i := slices.IndexFunc(s.team.Members, func(m view.TeamMember) bool { return m.Agent == a })
	if i < 0 {
		return view.TeamMember{}, false
	}
	return s.team.Members[i], true
}

// face is a member by avatar and name.
func (s *teamScreen) face(a event.AgentID) string {
	if m, ok := s.member(a); ok {
		return face(m)
	}
	return string(a)
}

// role is what a member is, where its name does not say it.
func (s *teamScreen) role(a event.AgentID) string {
	m, ok := s.member(a)
	if !ok || m.Title == "" {
		return ""
	}
	return " · " + view.OneLine(m.Title)
}

func (*teamScreen) delta(live.Delta)  {}
func (s *teamScreen) notice(t string) { notify(s.err, t) }
func (s *teamScreen) ask(t string)    { notify(s.err, t) }
func (*teamScreen) tick()             {}

func (s *teamScreen) close() {
	for _, i := range s.growing {
		s.item(s.feed.At(i))
	}
	s.growing = nil
}
