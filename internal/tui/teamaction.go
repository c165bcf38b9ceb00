package tui

import (
	"cmp"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// A teamNote is what a person is writing to a member.
type teamNote struct {
	on    bool
	to    event.AgentID
	field field
}

// addressee is whom the next message goes to: the member that is looked at, or the
// leader.
func (s *teamScreen) addressee() event.AgentID {
	if x, ok := s.team.Member(s.who); ok && x.State != view.MemberLost {
		return x.Agent
	}
	l, _ := s.team.Leader()
	return l.Agent
}

// write begins a message.
func (s *teamScreen) write(_ *Model) tea.Cmd {
	s.note = teamNote{on: true, to: s.addressee(), field: newField("Enter sends it; it is told between two of its steps, or begins its next turn")}
	return nil
}

// noted sends what was written.
func (s *teamScreen) noted(m *Model) tea.Cmd {
	n, words := s.note, s.note.field.text()
	if words == "" {
		m.notify("Write something, or press Esc.")
		return nil
	}
	s.note.on = false
	return s.tell(m, fact(event.Messaged{Text: event.Inline(words), To: []event.AgentID{n.to}, By: by}), "Not sent", func(*Model, event.Refused) {
		if !s.note.on {
			s.note = n
			s.note.on = true
		}
	})
}

// putAway stops writing.
func (s *teamScreen) putAway(*Model) tea.Cmd {
	s.note.on = false
	return nil
}

// noteEditor goes on writing in the person's own editor.
func (s *teamScreen) noteEditor(m *Model) tea.Cmd {
	return m.editNote(&s.note.field, &s.note.on)
}

// mine is the newest message of a person that can be taken back.
func (s *teamScreen) mine() (view.TeamMail, bool) {
	for i := len(s.team.Mail) - 1; i >= 0; i-- {
		if x := s.team.Mail[i]; x.Kind == view.MailPerson && x.Waiting() {
			return x, true
		}
	}
	return view.TeamMail{}, false
}

// takeBack takes the newest message back that nobody has been told, and goes on
// writing it.
func (s *teamScreen) takeBack(m *Model) tea.Cmd {
	x, _ := s.mine()
	words := m.texts.of(x.Text)
	m.notify("Being taken back; it is here to be written anew.")
	s.write(m)
	if len(x.To) > 0 {
		s.note.to = x.To[0]
	}
	s.note.field.in.SetText(words)
	return s.tell(m, fact(event.Withdrawn{Message: x.ID, By: by}), "Not taken back", func(*Model, event.Refused) { s.note.on = false })
}

// wrapUp has the leader come to an end.
func (s *teamScreen) wrapUp(m *Model) tea.Cmd {
	m.notify("The leader is asked to come to an end.")
	return s.tell(m, fact(event.WrapUpRequested{By: by}), "Not asked", nil)
}

// permission is the first question whether a tool may be used.
func (s *teamScreen) permission() (view.Gate, bool) {
	for _, g := range s.team.Gates {
		if g.Kind == event.GatePermission {
			return g, true
		}
	}
	return view.Gate{}, false
}

// permit asks whether a tool may be used.
func (s *teamScreen) permit(m *Model) tea.Cmd {
	g, _ := s.permission()
	m.askPermit(g, "Allow it in this team", func(m *Model, choice string) tea.Cmd { return s.reply(m, g, choice, "") })
	return nil
}

// goOn asks whether there is something to say with it, and has a team that cannot go
// on by itself go on.
func (s *teamScreen) goOn(m *Model) tea.Cmd {
	g := *s.team.Trouble()
	about := text.Clean(view.OneLine(g.Title)) + "\n\nIt goes on with as much again of what had run out. What you write here is told to the leader; it may be nothing.\nEnter has it go on, Esc leaves it as it is."
	p := newPrompt("Go on?", about, "", func(m *Model, words string) tea.Cmd { return s.reply(m, g, event.TroubleRetry, words) })
	p.optional = true
	m.open(p)
	return nil
}

func (s *teamScreen) reply(m *Model, g view.Gate, choice, words string) tea.Cmd {
	return s.tell(m, fact(event.Replied{Gate: g.Gate, Choice: choice, Text: words, Revision: g.Revision, By: by}), "Not decided", nil)
}

// enter opens what is marked: a file, a member, or a text to read.
func (s *teamScreen) enter(m *Model) tea.Cmd {
	r, _ := s.current()
	switch {
	case s.page == teamFiles && r.ref != "":
		return s.readFile(m, r.ref)
	case s.page == teamBoard && strings.HasPrefix(r.key, "member/"):
		s.look(teamFeed)
		return s.watch(event.AgentID(r.ref))
	case r.read != nil:
		title, body := r.read()
		m.open(newPager(title, cmp.Or(strings.TrimSpace(body), "There is nothing more to it.")))
	}
	return nil
}

// foot is how the team stands, what of the person's own waits to be told, and a
// place to write.
func (s *teamScreen) foot(m *Model, width, height int) []string {
	out := []string{m.rule(width)}
	style := m.theme.Text
	if len(s.team.Gates) > 0 {
		style = m.theme.Warn
	}
	lines := text.Wrap(text.Clean(view.OneLine(s.standing(m))), max(width-2, 1))
	most := 2
	if height < lowHeight {
		most = 1
	}
	for i, l := range lines[:min(len(lines), most)] {
		if i == most-1 && len(lines) > most {
			l += " …"
		}
		out = append(out, style.Render(text.Cut(" "+l, width)))
	}
	if x, ok := s.mine(); ok && height >= lowHeight {
		words := fmt.Sprintf(" ✉ %s: %s", x.Fate(), view.Shorten(m.texts.of(x.Text), max(width/2, 20)))
		out = append(out, apartLine(m.theme.User.Render(text.Cut(words, max(width-20, 8))), m.theme.Faint.Render("u takes it back"), width))
	}
	if s.note.on {
		title := m.theme.User.Render(text.Cut(" To "+view.OneLine(string(s.note.to))+" (Enter sends, Esc does not):", width))
		return append(append(out, title), s.note.field.lines(m, width, max(height/4, 1), true)...)
	}
	if height < lowHeight || s.team.Ended != nil {
		return out
	}
	return append(out, m.theme.Faint.Render(text.Cut(" ❯ m writes to "+view.OneLine(string(s.addressee())), width)))
}

// standing is how the team stands, and why.
func (s *teamScreen) standing(m *Model) string {
	t := s.team
	if d := t.Ended; d != nil && s.page == teamBoard { // which says what it has come to
		return fmt.Sprintf("It is over · %s · %s", plural(t.Turns, "turn"), plural(len(t.Members), "member"))
	} else if d != nil {
		return capital(string(d.Status)) + prefixed(": ", cmp.Or(d.Why, view.Shorten(m.texts.of(d.Summary), 300)))
	}
	if g := t.Trouble(); g != nil {
		return g.Title
	}
	if g, ok := s.permission(); ok {
		words := g.Title + " (p answers)"
		if n := len(t.Gates) - 1; n > 0 {
			words += fmt.Sprintf(", %d more", n)
		}
		return words
	}
	if t.Stopping != "" {
		return capital(t.Stopping)
	}
	n := map[string]int{}
	for _, x := range t.Members {
		n[x.Word()]++
	}
	var parts []string
	if p := t.Phase(); p != "" {
		parts = append(parts, "In "+p)
	}
	for _, x := range []struct{ state, words string }{
		{view.MemberWorking, "working"}, {view.MemberWaiting, "waiting"}, {view.MemberResting, "resting"}, {view.MemberIdle, "idle"}, {view.MemberLost, "lost"}, {"stopped", "stopped"},
	} {
		if n[x.state] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[x.state], x.words))
		}
	}
	return strings.Join(append(parts, plural(t.Turns, "turn")), " · ")
}

// Reasons against what is done with a team.
func teamReason(why func(s *teamScreen) string) func(*Model) string {
	return func(m *Model) string {
		if s, ok := m.top().(*teamScreen); ok {
			return why(s)
		}
		return "Open a team first (/team)."
	}
}

func teamGoesOn(s *teamScreen) string {
	if s.team.Ended != nil {
		return "It is over already."
	}
	return ""
}

func teamEnters(s *teamScreen) string {
	if r, ok := s.current(); ok && (r.read != nil || r.ref != "") {
		return ""
	}
	return "Mark something first: ↑ and ↓."
}

// teamActions are what can be done at a team.
func teamActions() []Action {
	any := func(*teamScreen) string { return "" }
	act := func(name, keys, title string, hint int, about string, why func(*teamScreen) string, do func(*teamScreen, *Model) tea.Cmd) Action {
		return Action{Name: name, Keys: strings.Fields(keys), Where: atTeam, Title: title, Hint: hint, About: about, Why: teamReason(why),
			Do: func(m *Model, _ string) tea.Cmd { return do(m.top().(*teamScreen), m) }}
	}
	out := []Action{
		act("team_go_on", "a", "go on", 1, "Have a team that cannot go on by itself go on", func(s *teamScreen) string {
			if s.team.Trouble() == nil {
				return "It does not need that: nothing has run out."
			}
			return ""
		}, (*teamScreen).goOn),
		act("team_permit", "p", "permission", 1, "Answer whether a tool may be used", func(s *teamScreen) string {
			if _, asks := s.permission(); !asks {
				return "Nobody asks for a permission."
			}
			return ""
		}, (*teamScreen).permit),
		act("team_message", "m i", "message", 2, "Write to the member that is looked at, or to the leader", func(s *teamScreen) string {
			if s.team.Ended != nil {
				return nobodyReads
			}
			return ""
		}, (*teamScreen).write),
		act("team_back", "u", "take back", 0, "Take the newest message back that was not told yet", func(s *teamScreen) string {
			if _, ok := s.mine(); !ok {
				return "No message of yours waits to be told."
			}
			return ""
		}, (*teamScreen).takeBack),
		act("team_enter", "enter", "read", 3, "Read what is marked, open the file, look at the member", teamEnters, (*teamScreen).enter),
		act("team_fold", "space", "unfold", 3, "Show all of what is marked, or less", func(s *teamScreen) string {
			if r, ok := s.current(); !ok || !r.folds {
				return "Mark something first that has more to it: ↑ and ↓."
			}
			return ""
		}, func(s *teamScreen, _ *Model) tea.Cmd { s.fold(); return nil }),
		act("team_files", "o", "files", 0, "Every file of the tree that is looked at", any, (*teamScreen).openFiles),
		act("team_wrap_up", "w", "wrap up", 5, "Ask the leader to come to an end", teamGoesOn, (*teamScreen).wrapUp),
		act("team_stop", "x", "stop", 2, "Stop the member that is looked at; with everybody looked at (0), the team", teamGoesOn, (*teamScreen).stop),
		act("team_next_page", "tab right", "next page", 4, "The next page", any, func(s *teamScreen, _ *Model) tea.Cmd { s.look(s.page + 1); return nil }),
		act("team_previous_page", "shift+tab left", "page before", 0, "The page before", any, func(s *teamScreen, _ *Model) tea.Cmd { s.look(s.page - 1); return nil }),
		act("team_next_member", "]", "next member", 0, "Look at the next member", any, func(s *teamScreen, _ *Model) tea.Cmd { return s.step(1) }),
		act("team_previous_member", "[", "member before", 0, "Look at the member before", any, func(s *teamScreen, _ *Model) tea.Cmd { return s.step(-1) }),
		act("team_help", "?", "help", 8, "Every key and command", any, func(_ *teamScreen, m *Model) tea.Cmd { m.open(newHelp(m)); return nil }),
		act("team_leave", "esc q ctrl+c", "leave", 9, "Leave; the team goes on", any, func(_ *teamScreen, m *Model) tea.Cmd { return m.closeTeam() }),
	}
	stopsMembers(out)
	for i := range 10 {
		about := fmt.Sprintf("Look at member %d of the team", i)
		if i == 0 {
			about = "Look at everybody"
		}
		out = append(out, act(fmt.Sprintf("team_member_%d", i), fmt.Sprint(i), fmt.Sprintf("member %d", i), 0, about, func(s *teamScreen) string {
			if i > len(s.team.Members) {
				return fmt.Sprintf("There are only %s.", plural(len(s.team.Members), "member"))
			}
			return ""
		}, func(s *teamScreen, _ *Model) tea.Cmd {
			if i == 0 {
				return s.watch("")
			}
			return s.watch(s.team.Members[i-1].Agent)
		}))
	}
	return append(out, teamNoteActions()...)
}

// step looks at the member so many further on; before the first is everybody.
func (s *teamScreen) step(n int) tea.Cmd {
	all := []event.AgentID{""}
	at := 0
	for i, x := range s.team.Members {
		if all = append(all, x.Agent); x.Agent == s.who {
			at = i + 1
		}
	}
	return s.watch(all[(at+n+len(all))%len(all)])
}

// teamNoteActions are for what is being written to a team.
func teamNoteActions() []Action {
	note := func(name, keys, title string, hint int, about string, do func(*teamScreen, *Model) tea.Cmd) Action {
		return Action{Name: name, Keys: strings.Fields(keys), Where: atTeamNote, Title: title, Hint: hint, About: about, Why: on(atTeamNote, "Write something to a team first."),
			Do: func(m *Model, _ string) tea.Cmd { return do(m.top().(*teamScreen), m) }}
	}
	return []Action{
		note("team_note_send", "enter ctrl+enter", "send", 1, "Send it", (*teamScreen).sendNote),
		note("team_note_close", "esc", "done writing", 2, "Stop writing", (*teamScreen).putAway),
		note("team_note_editor", "ctrl+g", "editor", 3, "Go on writing in your own editor ($VISUAL, $EDITOR)", (*teamScreen).noteEditor),
	}
}
