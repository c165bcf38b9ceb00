package tui

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"conclave/internal/event"
	"conclave/internal/live"
	"conclave/internal/tui/markdown"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// How many lines of a card and of what somebody says are seen at once.
const (
	foldedLetter = 6
	foldedSaid   = 12
)

// feedRow is an item of the feed.
func (s *teamScreen) feedRow(at int) teamRow {
	i := s.feed.At(at)
	r := teamRow{key: fmt.Sprintf("feed/%d/%s", at, i.Kind), ref: i.Ref, of: fmt.Sprint(i.Total, i.Failures, i.Until.UnixNano(), i.Title), folds: true}
	m := s.m
	switch i.Kind {
	case view.FeedTurn:
		r.folds = false
		r.lines = func(w int, _ bool) []string { return s.bannerLines(i, w) }
	case view.FeedOver:
		r.lines = func(w int, open bool) []string { return s.noteLines(i, "◦", m.theme.Dim, w, open) }
	case view.FeedText:
		r.lines = func(w int, open bool) []string { return s.saidLines(i, w, open) }
	case view.FeedLook:
		r.lines = func(w int, open bool) []string { return s.lookLines(i, w, open) }
	case view.FeedTool:
		r.lines = func(w int, open bool) []string { return s.toolLines(i, w, open) }
	case view.FeedCard:
		mail, _ := s.team.Letter(i.Mail)
		r.of += mail.Fate()
		r.lines = func(w int, open bool) []string { return s.cardLines(i, mail, w, open) }
	default:
		mark, style := "•", m.theme.Text
		switch {
		case i.Bad:
			mark, style = "!", m.theme.Warn
		case i.Kind == view.FeedGate:
			mark, style = "?", m.theme.Accent
		case i.Kind == view.FeedMerge:
			mark, style = "⋈", m.theme.Good
		case i.Kind == view.FeedCommit:
			mark, style = "✎", m.theme.Dim
		case i.Kind == view.FeedTeam:
			mark, style = "■", m.theme.Strong
		}
		r.lines = func(w int, open bool) []string { return s.noteLines(i, mark, style, w, open) }
	}
	r.read = func() (string, string) { return s.readItem(i) }
	return r
}

// readItem is all there is of an item.
func (s *teamScreen) readItem(i view.FeedItem) (title, body string) {
	who := string(i.Agent)
	if who == "" && i.Kind == view.FeedCard {
		who = speaker(i.Sort, i.By)
	}
	title = view.OneLine(strings.TrimSpace(who + " " + i.Title))
	var b strings.Builder
	b.WriteString(s.m.texts.of(i.Text))
	for _, u := range i.Uses {
		fmt.Fprintf(&b, "%s %s %s (%s)\n", s.m.clock(u.At), u.Name, u.What, u.State)
		if u.Result != "" {
			fmt.Fprintf(&b, "    %s\n", u.Result)
		}
	}
	if n := i.Total - len(i.Uses); n > 0 {
		fmt.Fprintf(&b, "and %d more, which are in the log\n", n)
	}
	if len(i.Files) > 0 {
		b.WriteString("\n\nFiles: " + strings.Join(i.Files, ", "))
	}
	return title, b.String()
}

// bannerLines say that a member begins a turn.
func (s *teamScreen) bannerLines(i view.FeedItem, w int) []string {
	m := s.m
	title := ""
	if x, ok := s.team.Member(i.Agent); ok {
		title = prefixed(", ", view.OneLine(x.Title))
	}
	rule := m.theme.Border
	line := rule.Render("── ") + s.name(m, i.Agent) + m.theme.Dim.Render(title+" "+view.OneLine(i.Title)) + " "
	right := " " + m.clock(i.At)
	fill := w - text.Width(line) - text.Width(right)
	return []string{text.Cut(line+rule.Render(strings.Repeat("─", max(fill, 0)))+m.theme.Faint.Render(right), w)}
}

// head is the first line of an item: a mark, who, and what.
func (s *teamScreen) headLine(i view.FeedItem, mark string, style lipgloss.Style, what string, w int) string {
	line := style.Render(mark) + " "
	if i.Agent != "" {
		line += s.name(s.m, i.Agent) + " "
	}
	return apartLine(text.Cut(line+style.Render(view.OneLine(what)), max(w-10, 8)), s.m.theme.Faint.Render(s.m.clock(i.At)), w)
}

// noteLines are an item that is a line, with its text below it once it is unfolded.
func (s *teamScreen) noteLines(i view.FeedItem, mark string, style lipgloss.Style, w int, open bool) []string {
	body := s.m.texts.of(i.Text)
	if !open {
		return []string{s.headLine(i, mark, style, i.Title+prefixed(": ", view.Shorten(body, 400)), w)}
	}
	return append([]string{s.headLine(i, mark, style, i.Title, w)}, indent(bodyLines(body, max(w-2, 4)))...)
}

// saidLines are what a member says to nobody in particular.
func (s *teamScreen) saidLines(i view.FeedItem, w int, open bool) []string {
	lines := markdown.Render(s.m.texts.of(i.Text), max(w-2, 4), s.m.theme)
	return append([]string{s.headLine(i, "•", s.m.theme.Dim, i.Title, w)}, indent(s.cut(lines, foldedSaid, open))...)
}

// cut leaves out what is beyond n lines, unless the row is unfolded, and says so.
func (s *teamScreen) cut(lines []string, n int, open bool) []string {
	if open || len(lines) <= n+1 {
		return lines
	}
	return append(lines[:n:n], s.m.theme.Faint.Render("… "+more(len(lines)-n)+" (Space)"))
}

// lookLines are what a member has looked at.
func (s *teamScreen) lookLines(i view.FeedItem, w int, open bool) []string {
	what := i.Title
	if i.Failures > 0 {
		what += fmt.Sprintf(", %d failed", i.Failures)
	}
	mark := "▸"
	if open {
		mark = "▾"
	}
	out := []string{s.headLine(i, mark, s.m.theme.Tool, what, w)}
	if !open {
		return out
	}
	for _, u := range i.Uses {
		out = append(out, s.useLine(u, w))
	}
	if n := i.Total - len(i.Uses); n > 0 {
		out = append(out, s.m.theme.Faint.Render(text.Cut(fmt.Sprintf("    and %d more", n), w)))
	}
	return out
}

// useMarks are how a use of a tool came out.
var useMarks = map[view.ToolState]string{view.ToolRunning: "…", view.ToolOK: "✓", view.ToolFailed: "✗", view.ToolUnknown: "?"}

func (s *teamScreen) useLine(u view.FeedUse, w int) string {
	style := s.m.theme.Dim
	if u.State == view.ToolFailed {
		style = s.m.theme.Warn
	}
	words := fmt.Sprintf("    %s %s %s", useMarks[u.State], u.Name, view.OneLine(u.What))
	if u.State == view.ToolFailed {
		words += prefixed(": ", view.OneLine(u.Result))
	}
	return style.Render(text.Cut(words, w))
}

// toolLines are the use of a tool that is told alone.
func (s *teamScreen) toolLines(i view.FeedItem, w int, open bool) []string {
	u := view.FeedUse{}
	if len(i.Uses) > 0 {
		u = i.Uses[0]
	}
	p := purposeOf(strings.ToLower(u.Name))
	style := p.style(&s.m.theme)
	if u.State == view.ToolFailed {
		style = s.m.theme.Bad
	}
	out := []string{s.headLine(i, p.mark, style, i.Title+" "+useMarks[u.State], w)}
	if (open || u.State == view.ToolFailed) && u.Result != "" {
		out = append(out, indent(text.Wrap(s.m.theme.Dim.Render(text.Clean(u.Result)), max(w-2, 4)))...)
	}
	return out
}

// cardLines are a message, with sender, recipients and fate.
func (s *teamScreen) cardLines(i view.FeedItem, mail view.TeamMail, w int, open bool) []string {
	return s.letterLines(letter{
		from: i.Agent, by: i.By, to: i.To, sort: i.Sort, task: i.Task, state: i.State, files: i.Files, bad: i.Bad,
		title: mail.Title, text: i.Text, at: s.m.clock(i.At), fate: mail.Fate(), waits: mail.Waiting(),
	}, w, open)
}

// A letter is a message as it is drawn.
type letter struct {
	from        event.AgentID
	by          string
	to          []event.AgentID
	sort        string
	task, title string
	state       event.TaskState
	files       []string
	text        event.Content
	at, fate    string
	bad, waits  bool
}

func (s *teamScreen) letterLines(l letter, w int, open bool) []string {
	m := s.m
	edge := m.theme.Border
	if l.bad {
		edge = m.theme.Warn
	}
	head := edge.Render("╭ ") + s.sender(l) + m.theme.Dim.Render(" → ") + s.names(l.to) + m.theme.Dim.Render(letterWords(l))
	out := []string{apartLine(text.Cut(head, max(w-10, 8)), m.theme.Faint.Render(l.at), w)}
	var body []string
	if l.sort == view.MailNotice {
		body = text.Wrap(m.theme.Dim.Render(text.Clean(view.OneLine(m.texts.of(l.text)))), max(w-2, 4))
	} else {
		body = markdown.Render(markdown.Breaks(m.texts.of(l.text)), max(w-2, 4), m.theme)
	}
	if len(l.files) > 0 {
		body = append(body, m.theme.Faint.Render(text.Cut("files: "+view.OneLine(strings.Join(l.files, ", ")), max(w-2, 4))))
	}
	for _, b := range s.cut(body, foldedLetter, open) {
		out = append(out, text.Cut(edge.Render("│ ")+b, w))
	}
	style := m.theme.Faint
	if l.waits {
		style = m.theme.Accent
	}
	return append(out, text.Cut(edge.Render("╰ ")+style.Render(l.fate), w))
}

// sender is whoever has written a message.
func (s *teamScreen) sender(l letter) string {
	style := s.m.theme.User
	switch {
	case l.from != "":
		return s.name(s.m, l.from)
	case l.sort == view.MailNotice:
		style = s.m.theme.Dim
	}
	return style.Render(speaker(l.sort, l.by))
}

// speaker is who has written a message that is of no member.
func speaker(sort, by string) string {
	if sort == view.MailNotice {
		return "Conclave"
	}
	return view.Speaker(by)
}

func (s *teamScreen) names(list []event.AgentID) string {
	var out []string
	for _, a := range list {
		out = append(out, s.name(s.m, a))
	}
	return strings.Join(out, s.m.theme.Dim.Render(", "))
}

// letterWords say what a message is about.
func letterWords(l letter) string {
	task := view.OneLine(l.task) + prefixed(": ", view.OneLine(l.title))
	switch l.sort {
	case view.MailGoal:
		return "  what is wanted"
	case view.MailTask:
		return "  task " + task
	case view.MailReport:
		return "  " + string(l.state) + ": " + task
	case view.MailQuestion:
		return "  asks, and waits"
	}
	return ""
}

// speechRow is a member at work: what it does, and the end of what it says.
func (s *teamScreen) speechRow(a event.AgentID) teamRow {
	x, _ := s.team.Member(a)
	said, version := s.saying[a], uint64(0)
	if said != nil {
		version = said.version
	}
	since := face(s.m.o.Now().Sub(x.Since))
	return teamRow{key: "saying/" + string(a), of: fmt.Sprint(x.Doing, x.State, since, version), lines: func(w int, _ bool) []string {
		line := s.m.theme.Accent.Render("●") + " " + s.name(s.m, a) + " " + s.m.theme.Dim.Render(view.OneLine(x.Doing)+" "+since)
		if room := w - text.Width(line) - 3; said != nil && room >= 12 {
			line += "  " + s.m.theme.Faint.Render(text.CutLeft(tailOf(said, w), room))
		}
		return []string{text.Cut(line, w)}
	}}
}

// tailOf is the end of what somebody says, on one line.
func tailOf(s *speech, w int) string {
	if len(s.parts) == 0 {
		return ""
	}
	p := &s.parts[len(s.parts)-1]
	t := p.text.String()
	t = view.OneLine(strings.ToValidUTF8(t[max(len(t)-8*w, 0):], ""))
	switch p.kind {
	case live.Tool:
		return "→ " + toolName(t)
	case live.Thinking:
		return "∴ " + t
	}
	return t
}
